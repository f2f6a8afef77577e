"""Whether running a schedule's loops is correct: kernels find their inputs, results are complete and stored once.

A piece is inside of the piece that it was split from, so a buffer always holds everything that its inner loops touch.
The remaining checks are that buffers are large enough, that the part of one kernel call is one block of its buffer, and
that the parts of a result neither overlap nor leave gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from match_core.validate.schedule_pieces import AxisParts, parts_of, stored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.contract.loops import LoopSchedule, Placement
    from match_core.contract.workload import Axis, Operand, Workload

    Array = NDArray[np.int64]
    Parts = tuple[AxisParts, ...]


def run_faults(workload: Workload, schedule: LoopSchedule) -> Iterator[str]:
    """Faults of every operand. Precondition: the schedule's loops nest and its chains of memories are correct."""
    for operand in workload.operands:
        if any(step < 1 for axis in operand.axes for _, step in axis.terms):
            yield f"{operand.name}: a step below 1 in one of its axes"
            continue
        # Buffers of an operand are often filled at the same depths.
        parts = cache(partial(parts_of, workload, operand, schedule.loops))
        calls = parts(len(schedule.loops), len(schedule.loops))
        if operand.role == "output":
            yield from _result_faults(workload, operand)
            yield from _gap_faults(operand, calls, "a kernel call")
        yield from _call_faults(operand, calls)
        yield from _buffer_faults(schedule, operand, parts)


def _result_faults(workload: Workload, operand: Operand) -> Iterator[str]:
    """All combinations of loop indices must compute every element of the result, each of them once (per index of the
    dimensions that are summed over)."""
    names = [name for axis in operand.axes for name, _ in axis.terms]
    if len(set(names)) != len(names):
        yield f"{operand.name}: a dimension moves along two axes"
    for axis in operand.axes:
        if not axis.terms:
            continue  # every kernel call computes all of it
        made = prod(workload.dim(name).size for name, _ in axis.terms)
        if made != axis.size:
            yield f"{operand.name}: {made} of {axis.size} elements are computed along axis {axis.name}"
        elif not np.array_equal(np.sort(_indices(workload, axis)), np.arange(axis.size)):
            yield f"{operand.name}: an element of axis {axis.name} is computed twice"


def _indices(workload: Workload, axis: Axis) -> Array:
    reached = np.array([-axis.offset], dtype=np.int64)
    for name, step in axis.terms:
        reached = np.add.outer(reached, step * np.arange(workload.dim(name).size)).reshape(-1)
    return reached


def _gap_faults(operand: Operand, parts: Parts, where: str) -> Iterator[str]:
    """A part that is written as a whole must be computed as a whole, or the gaps would be overwritten."""
    for axis, part in zip(operand.axes, parts, strict=True):
        if axis.terms and not (part.length == part.indices).all():
            yield f"{operand.name}: the part of axis {axis.name} in {where} has gaps"


def _call_faults(operand: Operand, calls: Parts) -> Iterator[str]:
    for axis, part in zip(operand.axes, calls, strict=True):
        if (part.end <= part.first).any():
            yield f"{operand.name}: a kernel call has no element of axis {axis.name}"
        groups = part.first % axis.round_up == 0
        if not (groups & ((part.end % axis.round_up == 0) | (part.end == axis.size))).all():
            yield f"{operand.name}: axis {axis.name} is split inside of a group of {axis.round_up}"


def _buffer_faults(schedule: LoopSchedule, operand: Operand, parts: Callable[[int, int], Parts]) -> Iterator[str]:
    inner = len(schedule.loops)
    outer = 0  # the home memory or the store holds the whole operand
    way = [placement for placement in schedule.placements if placement.operand == operand.name]
    for placement in way:
        copied = parts(placement.depth, placement.depth)
        yield from _size_faults(operand, placement, copied)
        if operand.role == "output":
            yield from _gap_faults(operand, copied, placement.memory)
        if not _in_bytes(operand, parts(outer, placement.depth), copied):
            yield f"{operand.name}: a copy to or from {placement.memory} begins or ends inside of a byte"
        outer = placement.depth
    held, calls = parts(outer, inner), parts(inner, inner)
    if not _is_block(operand, held, calls):
        yield f"{operand.name}: the part of a kernel call is not one block of the buffer in {way[-1].memory}"
    if not _in_bytes(operand, held, calls):
        yield f"{operand.name}: the part of a kernel call begins or ends inside of a byte"


def _size_faults(operand: Operand, placement: Placement, parts: Parts) -> Iterator[str]:
    elements = np.ones(1, dtype=np.int64)
    for axis, part in zip(operand.axes, parts, strict=True):
        elements = elements * stored(axis, part)
    need = int((-(-elements * operand.element_bits // 8)).max())
    if placement.size_bytes < need:
        yield f"{operand.name}: {need} bytes in a buffer of {placement.size_bytes} in {placement.memory}"


def _is_block(operand: Operand, held: Parts, parts: Parts) -> bool:
    """Whether each part is contiguous in the dense, row-major buffer that holds it."""
    dense, cut = np.ones(1, dtype=np.bool_), np.zeros(1, dtype=np.bool_)
    for axis, outer, inner in reversed(list(zip(operand.axes, held, parts, strict=True))):
        have, take = stored(axis, outer), stored(axis, inner)
        dense = dense & (~cut | (take == 1))
        cut = cut | (take != have)
    return bool(dense.all())


def _in_bytes(operand: Operand, held: Parts, parts: Parts) -> bool:
    """Whether each part begins and ends at a byte boundary wherever it is contiguous in its buffer. A part that ends
    with its buffer may leave the last byte incomplete."""
    bits = operand.element_bits
    if bits % 8 == 0:
        return True
    right, cut = np.ones(1, dtype=np.bool_), np.zeros(1, dtype=np.bool_)
    stride, run = np.ones(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    several = np.zeros(1, dtype=np.bool_)
    offset = np.zeros(1, dtype=np.int64)
    for axis, outer, inner in reversed(list(zip(operand.axes, held, parts, strict=True))):
        have, take = stored(axis, outer), stored(axis, inner)
        offset = offset + (inner.first - outer.first) * stride
        right = right & ~(cut & (take > 1) & (stride * bits % 8 != 0))
        several = several | (cut & (take > 1))
        run = np.where(cut, run, take * stride)
        cut = cut | (take != have)
        stride = stride * have
    whole = (run * bits % 8 == 0) | (~several & (offset + run == stride))
    return bool((right & whole & (offset * bits % 8 == 0)).all())
