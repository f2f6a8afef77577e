"""What a part costs with the loops of another size, in a fraction of the time of a search for the part's own loops. Of
449 parts of three networks on Carfield and ITA, 288 prices were within 0.5 % of what a search found (looked at once;
core/tests/map/test_rescaled.py compares both on small layers)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.geometry import round_up
from match_core.contract.loops import TileLoop
from match_core.schedule.evaluate import price

if TYPE_CHECKING:
    from match_core.contract.cost import Cost
    from match_core.contract.loops import LoopSchedule, ScheduleRequest


def rescaled_cost(request: ScheduleRequest, schedule: LoopSchedule, dim: str) -> Cost | None:
    """The least cost of the request's workload, which has another size in ``dim``, with the loops of ``schedule``:
    with its tiles, and with as many turns. None if neither can run, or if the unit works in place, where a search
    takes no time."""
    found: list[Cost] = []
    if schedule.memory is None:
        return None
    for changed in dict.fromkeys(_changed(request, schedule, dim)):
        try:
            found.append(price(request, changed))
        except ValueError:  # its loops do not suit the part
            continue
    return min(found, key=lambda cost: cost.total_cycles, default=None)


def _changed(request: ScheduleRequest, schedule: LoopSchedule, dim: str) -> Iterator[LoopSchedule]:
    own = request.workload.dim(dim)
    loops = [loop for loop in schedule.loops if loop.dim == dim]
    if not loops:
        yield _with_tile(schedule, dim, own.size, own.size)
    if len(loops) != 1:  # of nested loops it is not clear which one changes
        return
    loop = loops[0]
    turns = -(-loop.size // loop.tile)
    yield _with_tile(schedule, dim, own.size, min(loop.tile, own.size))
    balanced = round_up(-(-own.size // turns), own.granularity)
    yield _with_tile(schedule, dim, own.size, min(balanced, loop.tile, own.size))


def _with_tile(schedule: LoopSchedule, dim: str, size: int, tile: int) -> LoopSchedule:
    """The schedule with another size and tile of a dimension; its loop is left out if it has one turn."""
    loops, placements = [], schedule.placements
    for place, loop in reversed(tuple(enumerate(schedule.loops))):
        if loop.dim != dim:
            loops.append(loop)
        elif tile < size:
            loops.append(TileLoop(dim, size, tile))
        else:
            inner = [p.depth - (p.depth > place) for p in placements]
            placements = tuple(
                replace(p, depth=depth, buffers=p.buffers if depth else 1)
                for p, depth in zip(placements, inner, strict=True)
            )
    tiles = tuple((name, tile if name == dim else old) for name, old in schedule.tile)
    return replace(schedule, loops=tuple(reversed(loops)), tile=tiles, placements=placements)
