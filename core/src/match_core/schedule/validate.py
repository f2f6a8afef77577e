"""Run a schedule's loops and check every promise, sharing nothing with the code that made the schedule.

Plain loops over tiles: buffers are loaded, kept and stored as the loop nest says; the kernel of each tile must find
what it reads; at the end each result element must have been stored exactly once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from match_core.schedule.loops import LoopSchedule, Placement
from match_core.schedule.workload import Axis, Operand, Workload

#: A box of indices: for each axis the half-open range.
Box = tuple[tuple[int, int], ...]


class InvalidScheduleError(RuntimeError):
    """A schedule breaks its contract; a fault of the scheduler, not of the user."""


def validate_schedule(workload: Workload, schedule: LoopSchedule, memory_bytes: int, alignment_bytes: int) -> None:
    """InvalidScheduleError with all faults, if there are any."""
    faults = schedule_faults(workload, schedule, memory_bytes, alignment_bytes)
    if faults:
        raise InvalidScheduleError(f"schedule of a {workload.kind}: " + "; ".join(faults))


def schedule_faults(
    workload: Workload, schedule: LoopSchedule, memory_bytes: int, alignment_bytes: int
) -> tuple[str, ...]:
    """Everything that is wrong with a schedule; empty if it is right. ``memory_bytes`` and ``alignment_bytes`` are
    of the unit's memory and have no meaning for a schedule that works in place."""
    if schedule.memory is None:
        return tuple(_in_place_faults(workload, schedule))
    faults = [*_form_faults(workload, schedule)]
    if not faults:
        faults += _memory_faults(workload, schedule, memory_bytes, alignment_bytes)
        faults += _run_faults(workload, schedule)
    return tuple(faults)


def _in_place_faults(workload: Workload, schedule: LoopSchedule) -> Iterator[str]:
    if schedule.loops or schedule.placements or schedule.working_bytes:
        yield "a schedule in place has loops, placements or memory"
    if dict(schedule.tile) != {dim.name: dim.size for dim in workload.dims}:
        yield "the tile of a schedule in place is not the whole workload"


def _form_faults(workload: Workload, schedule: LoopSchedule) -> Iterator[str]:
    tile = dict(schedule.tile)
    if [name for name, _ in schedule.tile] != [dim.name for dim in workload.dims]:
        yield f"tile names {sorted(tile)}, the workload has {sorted(dim.name for dim in workload.dims)}"
        return
    looped = {loop.dim: loop for loop in schedule.loops}
    if len(looped) != len(schedule.loops):
        yield "two loops over one dimension"
    for dim in workload.dims:
        size = tile[dim.name]
        loop = looped.pop(dim.name, None)
        if loop is None:
            if size != dim.size:
                yield f"{dim.name}: tile {size} of {dim.size} without a loop"
            continue
        if (loop.size, loop.tile) != (dim.size, size):
            yield f"{dim.name}: loop {loop.tile} of {loop.size}, tile {size} of {dim.size}"
        if not dim.tileable or not 0 < size < dim.size or size % dim.granularity:
            yield f"{dim.name}: may not be cut into {size} of {dim.size}"
    yield from (f"loop over unknown dimension {name}" for name in looped)
    if sorted(p.operand for p in schedule.placements) != sorted(o.name for o in workload.operands):
        yield "placements and operands do not correspond"
    for placement in schedule.placements:
        if not 0 <= placement.depth <= len(schedule.loops) or placement.memory != schedule.memory:
            yield f"{placement.operand}: depth {placement.depth} in {placement.memory}"


def _memory_faults(
    workload: Workload, schedule: LoopSchedule, memory_bytes: int, alignment_bytes: int
) -> Iterator[str]:
    tile = dict(schedule.tile)
    need = 0
    for names, coefficient in workload.scratch:
        for name in names:
            coefficient *= tile[name]
        need += coefficient
    if schedule.scratch_bytes < need:
        yield f"scratch of {schedule.scratch_bytes} bytes, {need} needed"
    areas = [("scratch", schedule.scratch_offset_bytes, schedule.scratch_bytes)]
    areas += [(p.operand, p.offset_bytes, p.size_bytes * p.buffers) for p in schedule.placements]
    for position, (name, offset, size) in enumerate(areas):
        if offset < 0 or offset % alignment_bytes:
            yield f"{name}: offset {offset} is not a multiple of {alignment_bytes}"
        if offset + size > schedule.memory_bytes:
            yield f"{name}: ends at {offset + size}, the working set at {schedule.memory_bytes}"
        for other, other_offset, other_size in areas[:position]:
            if size and other_size and offset < other_offset + other_size and other_offset < offset + size:
                yield f"{name} and {other} overlap"
    if schedule.memory_bytes > memory_bytes:
        yield f"working set of {schedule.memory_bytes} bytes in a memory of {memory_bytes}"


def _range(axis: Axis, starts: Mapping[str, int], sizes: Mapping[str, int]) -> tuple[int, int]:
    """The indices that lie on the axis, as a half-open range; whole where the axis has no terms."""
    if not axis.terms:
        return 0, axis.size
    reached = [-axis.offset]
    for name, step in axis.terms:
        ends = {starts[name], starts[name] + sizes[name] - 1}
        reached = [index + step * value for index in reached for value in ends]
    return max(0, min(reached)), min(axis.size, max(reached) + 1)


def _read(axis: Axis, starts: Mapping[str, int], sizes: Mapping[str, int]) -> set[int]:
    """Exactly the indices of the axis that the loop indices of the tile reach, padding left out."""
    if not axis.terms:
        return set(range(axis.size))
    values = [range(starts[name], starts[name] + sizes[name]) for name, _ in axis.terms]
    steps = [step for _, step in axis.terms]
    reached = (sum(s * v for s, v in zip(steps, point, strict=True)) - axis.offset for point in product(*values))
    return {index for index in reached if 0 <= index < axis.size}


def _tiles(schedule: LoopSchedule) -> Iterator[tuple[dict[str, int], dict[str, int]]]:
    """(first index, size) of every dimension, tile by tile in the order of the loops."""
    whole = dict(schedule.tile)
    for point in product(*(range(0, loop.size, loop.tile) for loop in schedule.loops)):
        starts, sizes = dict.fromkeys(whole, 0), dict(whole)
        for loop, first in zip(schedule.loops, point, strict=True):
            starts[loop.dim], sizes[loop.dim] = first, min(loop.tile, loop.size - first)
        yield starts, sizes


def _box_bytes(operand: Operand, box: Box) -> int:
    elements = 1
    for axis, (first, end) in zip(operand.axes, box, strict=True):
        elements *= -(-(end - first) // axis.round_up) * axis.round_up
    return -(-elements * operand.element_bits // 8)


def _run_faults(workload: Workload, schedule: LoopSchedule) -> Iterator[str]:
    for placement in schedule.placements:
        operand = workload.operand(placement.operand)
        if operand.role == "output":
            yield from _output_faults(schedule, placement, operand)
        else:
            yield from _input_faults(schedule, placement, operand)


def _held(schedule: LoopSchedule, placement: Placement, starts: Mapping[str, int]) -> tuple[int, ...]:
    """The loop indices that decide what the buffer holds: it changes when one of the outer loops goes on."""
    return tuple(starts[loop.dim] for loop in schedule.loops[: placement.depth])


def _input_faults(schedule: LoopSchedule, placement: Placement, operand: Operand) -> Iterator[str]:
    name = placement.operand
    loaded_at: tuple[int, ...] | None = None
    box: Box = ()
    known: dict[tuple[object, ...], set[int]] = {}
    for starts, sizes in _tiles(schedule):
        if _held(schedule, placement, starts) != loaded_at:
            loaded_at = _held(schedule, placement, starts)
            box = tuple(_range(axis, starts, sizes) for axis in operand.axes)
            if _box_bytes(operand, box) > placement.size_bytes:
                yield f"{name}: a tile of {_box_bytes(operand, box)} bytes in {placement.size_bytes}"
                return
        for number, (axis, (first, end)) in enumerate(zip(operand.axes, box, strict=True)):
            key = (number, *((starts[term], sizes[term]) for term, _ in axis.terms))
            if key not in known:
                known[key] = _read(axis, starts, sizes)
            outside = [index for index in known[key] if not first <= index < end]
            if outside or first >= end:
                yield f"{name}: axis {axis.name} holds {first}..{end}, the kernel reads {sorted(outside)[:4]}"
                return


def _output_faults(schedule: LoopSchedule, placement: Placement, operand: Operand) -> Iterator[str]:
    name = placement.operand
    stored: dict[tuple[int, ...], int] = {}
    held_at: tuple[int, ...] | None = None
    box: Box = ()
    written: set[tuple[int, ...]] = set()
    for starts, sizes in _tiles(schedule):
        if _held(schedule, placement, starts) != held_at:
            for element in written:
                stored[element] = stored.get(element, 0) + 1
            held_at, written = _held(schedule, placement, starts), set()
            box = tuple(_range(axis, starts, sizes) for axis in operand.axes)
            if _box_bytes(operand, box) > placement.size_bytes:
                yield f"{name}: a tile of {_box_bytes(operand, box)} bytes in {placement.size_bytes}"
                return
        made = [_read(axis, starts, sizes) for axis in operand.axes]
        for axis, indices, (first, end) in zip(operand.axes, made, box, strict=True):
            if any(not first <= index < end for index in indices):
                yield f"{name}: axis {axis.name} holds {first}..{end}, the kernel writes outside"
                return
        for element in product(*made):
            if element in written:
                yield f"{name}: element {element} is written by two tiles"
                return
            written.add(element)
    for element in written:
        stored[element] = stored.get(element, 0) + 1
    expected = 1
    for axis in operand.axes:
        expected *= axis.size
    twice = [element for element, times in stored.items() if times != 1]
    if twice:
        yield f"{name}: element {twice[0]} is stored {stored[twice[0]]} times"
    if len(stored) != expected:
        yield f"{name}: {len(stored)} of {expected} elements are stored"
