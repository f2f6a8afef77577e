"""ZigZag's mappings as schedules of ours.

Loops that ZigZag keeps in the home memory for at least one operand are ours; those that are in the unit's memory for
all of them are the kernel's tile. An operand's depth is the number of loops above its own. Where a part would not be
one block of its buffer, the next deeper depth that is legal is taken; where the tile needs too much scratch, its
outer loops become ours too. Operands that ZigZag does not know, and single or double buffers, are what is cheapest
for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from match_core.contract.cost import Cost
from match_core.contract.loops import LoopSchedule, Placement, ScheduleRequest, TileLoop
from match_schedule.layout import working_bytes_of

from benchmarks.pricing import Pricer
from benchmarks.schedule_space import Choice, Point, Space, dims_of
from benchmarks.zigzag_problem import lanes_of, operands_of

#: Per operand and memory level, innermost first: loops as (dimension, size).
Levels = Mapping[str, Sequence[Sequence[tuple[str, int]]]]


def best_point(request: ScheduleRequest, levels: Levels) -> Point | None:
    """The cheapest conversion by our evaluator; None where none fits."""
    order = [loop for level in levels["I"] for loop in level]
    inside = {ours: len(levels[theirs][0]) for theirs, ours in operands_of(request.workload).items()}
    pricer = Pricer(request, Space(request, extra=False, splits=False))
    found = [_converted(pricer, order, inside, cut) for cut in range(min(inside.values()), -1, -1)]
    return min((point for point in found if point is not None), key=lambda point: point.cycles, default=None)


def _converted(pricer: Pricer, order: Sequence[tuple[str, int]], inside: Mapping[str, int], cut: int) -> Point | None:
    """``order``: loops, innermost first; ``inside``: how many of them each operand has in the unit's memory; the
    first ``cut`` of them are the kernel's tile."""
    workload = pricer.workload
    sizes = {dim.name: dim.size for dim in workload.dims}
    tile = {**sizes, **lanes_of(workload)}
    reached: list[dict[str, int]] = [dict(tile)]
    for name, count in order:
        tile[name] = min(sizes[name], tile[name] * count)
        reached.append(dict(tile))
    places = [n for n in range(cut, len(order)) if reached[n][order[n][0]] < reached[n + 1][order[n][0]]]
    loops = tuple(TileLoop(order[n][0], reached[n + 1][order[n][0]], reached[n][order[n][0]]) for n in reversed(places))
    if any(reached[-1][name] < size for name, size in sizes.items()):
        raise ValueError(f"the loops {order} do not cover {sizes}")
    priced = pricer.price(loops)
    if priced is None:
        return None
    choices, cycles = priced
    for axis, (operand, options) in enumerate(zip(workload.operands, choices, strict=True)):
        if operand.name not in inside:
            continue
        depth = sum(n >= inside[operand.name] for n in places)
        moves = [n + 1 for n, loop in enumerate(loops[:depth]) if loop.dim in dims_of(operand)]
        wanted = moves[-1] if moves else 0
        legal = [d for d, _ in options if d >= wanted]
        if not legal:
            return None
        keep = [place for place, (d, _) in enumerate(options) if d == min(legal)]
        drop = np.ones(len(options), dtype=np.bool_)
        drop[keep] = False
        cycles = np.moveaxis(cycles, axis, 0).copy()
        cycles[drop] = -1
        cycles = np.moveaxis(cycles, 0, axis)
    return _cheapest(loops, choices, cycles)


def _cheapest(
    loops: tuple[TileLoop, ...],
    choices: Sequence[Sequence[Choice]],
    cycles: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
) -> Point | None:
    flat = np.ascontiguousarray(cycles).reshape(-1)
    fitting = np.flatnonzero(flat >= 0)
    if fitting.size == 0:
        return None
    best = int(fitting[flat[fitting].argmin()])
    places = np.unravel_index(best, cycles.shape)
    chosen = tuple(options[int(place)] for options, place in zip(choices, places, strict=True))
    return Point(loops, chosen, int(flat[best]))


def schedule_of(request: ScheduleRequest, point: Point) -> LoopSchedule:
    """A point as a schedule with places for its buffers, for the validator."""
    workload, memory = request.workload, request.unit.memory or ""
    pricer = Pricer(request, Space(request, extra=False, splits=False))
    tile = {dim.name: dim.size for dim in workload.dims}
    tile.update({loop.dim: loop.tile for loop in point.loops})
    placements = tuple(
        Placement(operand.name, memory, depth, 0, pricer.piece_bytes(operand, point.loops, depth), buffers)
        for operand, (depth, buffers) in zip(workload.operands, point.choices, strict=True)
    )
    layout = working_bytes_of(request.soc, memory, workload, tile, placements)
    return LoopSchedule(
        point.loops,
        tuple(tile.items()),
        layout.placements,
        layout.scratch_offset_bytes,
        layout.scratch_bytes,
        memory,
        layout.working_bytes,
        Cost(compute_cycles=point.cycles, model="converted"),
        engine="zigzag",
    )
