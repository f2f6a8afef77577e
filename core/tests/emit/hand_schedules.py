"""Schedules made by hand: loops and depths as told, buffers one behind the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from match_core.cost import Cost
from match_core.schedule.geometry import axis_tile, round_up, scratch_bytes
from match_core.schedule.loops import LoopSchedule, Placement, TileLoop
from match_core.schedule.workload import Operand, Workload

ALIGNMENT_BYTES = 16
#: (depth, buffers) of an operand in one memory.
Where = tuple[int, Literal[1, 2]]


def loops_of(workload: Workload, cuts: Sequence[tuple[str, int]]) -> tuple[TileLoop, ...]:
    """Loops from (dimension, tile) pairs, outermost first."""
    left = {dim.name: dim.size for dim in workload.dims}
    loops = []
    for dim, tile in cuts:
        loops.append(TileLoop(dim, left[dim], tile))
        left[dim] = tile
    return tuple(loops)


def box_bytes(workload: Workload, operand: Operand, loops: Sequence[TileLoop]) -> int:
    """The most bytes that an operand's box has inside of these loops."""
    sizes = {dim.name: dim.size for dim in workload.dims}
    for loop in loops:
        sizes[loop.dim] = loop.tile
    elements = 1
    for axis in operand.axes:
        part = axis_tile(axis, {}, sizes)
        window = min(axis.size, part.extent + part.pad_before + part.pad_after)
        elements *= round_up(window, axis.round_up)
    return round_up(-(-elements * operand.element_bits // 8), ALIGNMENT_BYTES)


def hand_schedule(
    workload: Workload,
    cuts: Sequence[tuple[str, int]],
    near: Mapping[str, Where],
    stage: Mapping[str, Where] | None = None,
    private: Mapping[str, str] | None = None,
) -> LoopSchedule:
    """A schedule in memory ``near``; ``near`` and ``stage``: operand -> (depth, buffers) there and in memory ``home``.
    Operands that are not told are loaded for each kernel call into one buffer. ``private``: operand -> memory."""
    loops = loops_of(workload, cuts)
    placements: list[Placement] = []
    used: dict[str, int] = {}

    def place(operand: Operand, memory: str, where: Where) -> None:
        depth, buffers = where
        size = box_bytes(workload, operand, loops[:depth])
        placements.append(Placement(operand.name, memory, depth, used.get(memory, 0), size, buffers))
        used[memory] = used.get(memory, 0) + size * buffers

    for operand in workload.operands:
        if stage and operand.name in stage:
            place(operand, "home", stage[operand.name])
        place(operand, (private or {}).get(operand.name, "near"), near.get(operand.name, (len(loops), 1)))
    tile = {dim.name: dim.size for dim in workload.dims} | {loop.dim: loop.tile for loop in loops}
    scratch, offset = scratch_bytes(workload, tile), used.get("near", 0)
    used["near"] = offset + round_up(scratch, ALIGNMENT_BYTES)
    return LoopSchedule(
        loops, tuple(tile.items()), tuple(placements), offset, scratch, "near", tuple(used.items()), Cost()
    )
