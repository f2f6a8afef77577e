"""The steps of a schedule with the boxes that each reads and writes, and what a kernel computes on them, literally."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from match_core.contract.loops import LoopSchedule
from match_core.contract.workload import Axis, Operand, Workload
from numpy.typing import NDArray

Values = NDArray[np.unsignedinteger]
#: Dimension -> (first index, size).
Piece = Mapping[str, tuple[int, int]]
TYPES = {8: np.uint8, 16: np.uint16, 32: np.uint32}


class RunError(AssertionError):
    """What a schedule asks for cannot be done."""


@dataclass(frozen=True)
class Step:
    """One kernel call: the piece of the workload after each number of loops, and the outermost loop that went on since
    the call before (-1 for the first one)."""

    pieces: tuple[Piece, ...]
    moved: int
    first: bool


@dataclass(frozen=True)
class Box:
    """Part of an operand: first index and stored elements of each axis, and padding before it."""

    first: tuple[int, ...]
    extent: tuple[int, ...]
    before: tuple[int, ...]


def box_of(operand: Operand, piece: Piece) -> Box:
    """The indices that a piece touches on each axis."""
    first, extent, before = [], [], []
    for axis in operand.axes:
        if axis.terms:
            low = sum(c * piece[name][0] for name, c in axis.terms) - axis.offset
            high = sum(c * (piece[name][0] + piece[name][1] - 1) for name, c in axis.terms) - axis.offset
        else:
            low, high = 0, axis.size - 1
        begin, end = max(low, 0), min(high, axis.size - 1) + 1
        if end <= begin:
            raise RunError(f"{operand.name}: nothing of axis {axis.name}")
        first.append(begin)
        extent.append(-(-(end - begin) // axis.round_up) * axis.round_up)
        before.append(begin - low)
    return Box(tuple(first), tuple(extent), tuple(before))


def steps_of(workload: Workload, schedule: LoopSchedule) -> Iterator[Step]:
    """The kernel calls in loop order."""
    sums = {d.name for d in workload.dims} - {
        name for o in workload.operands if o.role == "output" for axis in o.axes for name, _ in axis.terms
    }

    def inside(
        depth: int, pieces: tuple[Piece, ...], counters: tuple[int, ...]
    ) -> Iterator[tuple[Step, tuple[int, ...]]]:
        if depth == len(schedule.loops):
            at_start = all(pieces[-1][name][0] == 0 for name in sums)
            yield Step(pieces, -1, at_start), counters
            return
        loop = schedule.loops[depth]
        start, size = pieces[-1][loop.dim]
        for counter, offset in enumerate(range(0, size, loop.tile)):
            cut = {**pieces[-1], loop.dim: (start + offset, min(loop.tile, size - offset))}
            yield from inside(depth + 1, (*pieces, cut), (*counters, counter))

    previous: tuple[int, ...] | None = None
    for step, counters in inside(0, ({d.name: (0, d.size) for d in workload.dims},), ()):
        moved = -1
        if previous is not None:
            moved = next(place for place, (a, b) in enumerate(zip(previous, counters, strict=True)) if a != b)
        previous = counters
        yield Step(step.pieces, moved, step.first)


def far_shape(operand: Operand) -> tuple[int, ...]:
    """The whole operand as it lies in memory."""
    return tuple(-(-axis.size // axis.round_up) * axis.round_up for axis in operand.axes)


def random_data(workload: Workload, seed: int) -> dict[str, Values]:
    """Values of all inputs."""
    random = np.random.default_rng(seed)
    return {
        o.name: random.integers(0, 1 << 8, far_shape(o)).astype(TYPES[o.element_bits])
        for o in workload.operands
        if o.role != "output"
    }


def compute(
    workload: Workload, inputs: Mapping[str, Values], out: Values, boxes: Mapping[str, Box], sizes: Mapping[str, int]
) -> None:
    """A kernel: adds the products of one tile to ``out``. It knows sizes and padding, not where the tile lies."""
    names = [dim.name for dim in workload.dims]
    grid = dict(zip(names, np.ix_(*(np.arange(sizes[name]) for name in names)), strict=True))
    shape = tuple(sizes[name] for name in names)

    def local(axis: Axis, number: int, box: Box) -> NDArray[np.int64]:
        index = sum((c * grid[name] for name, c in axis.terms), np.int64(0)) - box.before[number]
        return np.broadcast_to(index, shape)

    product = np.ones(shape, dtype=np.uint64)
    for operand in workload.operands:
        box = boxes[operand.name]
        axes = [local(axis, number, box) for number, axis in enumerate(operand.axes)]
        if operand.role == "output":
            np.add.at(out, tuple(axes), product.astype(out.dtype))
            continue
        inside = np.ones(shape, dtype=np.bool_)
        for index, extent in zip(axes, box.extent, strict=True):
            inside &= (index >= 0) & (index < extent)
        values = inputs[operand.name][tuple(np.where(inside, index, 0) for index in axes)]
        product = product * np.where(inside, values, 0).astype(np.uint64)


def direct(workload: Workload, data: Mapping[str, Values]) -> Values:
    """The result without tiles."""
    (output,) = (o for o in workload.operands if o.role == "output")
    whole = {dim.name: (0, dim.size) for dim in workload.dims}
    out = np.zeros(far_shape(output), dtype=TYPES[output.element_bits])
    boxes = {o.name: box_of(o, whole) for o in workload.operands}
    compute(workload, data, out, boxes, {dim.name: dim.size for dim in workload.dims})
    return out
