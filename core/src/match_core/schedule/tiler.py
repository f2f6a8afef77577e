"""The search for tile sizes and a loop order: every tiling of the space, every order of the loops that are
cut.

Single buffered: tiles are loaded, the kernel runs, results are stored, one after the other, so the cycles of
a layer are the plain sum. An operand's tile is loaded inside the innermost loop that its axes use and stays
where it is while loops further in run, so the loop order decides how often each operand moves:

    transfers of an operand = its own tiles * steps of the other loops that are outside of its innermost own
    loop
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from match_core.cost import Cost
from match_core.schedule.evaluate import Evaluation, evaluate
from match_core.schedule.geometry import round_up, scratch_bytes
from match_core.schedule.infeasible import ScheduleInfeasible
from match_core.schedule.loops import LoopSchedule, Placement, ScheduleRequest, TileLoop
from match_core.schedule.space import Cut, cuts_of, operand_cuts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.int64]

#: (total cycles, kernel calls, bytes, order, tiling): what is best first, then what makes the choice unique.
_Rank = tuple[int, int, int, tuple[int, ...], tuple[int, ...]]


def tile(request: ScheduleRequest, memory: str) -> LoopSchedule | ScheduleInfeasible:
    """The cheapest schedule of the request's workload in ``memory``, whose budget is
    ``request.memory_bytes``.

    The result is optimal among the tile sizes of ``space.cuts_of`` under the request's cost model; ties go to
    fewer kernel calls, then to fewer bytes, then to the first loop order. ScheduleInfeasible where nothing
    fits.
    """
    workload = request.workload
    cuts = cuts_of(workload)
    alignment = request.soc.memory(memory).alignment_bytes
    evaluation = evaluate(workload, cuts, request.cost_model, alignment)
    own = tuple(operand_cuts(operand, cuts) for operand in workload.operands)
    best = _best(evaluation, own, request.memory_bytes)
    if best is None:
        smallest = np.unravel_index(int(evaluation.bytes.argmin()), evaluation.bytes.shape)
        tiling = tuple(int(index) for index in smallest)
        need = int(evaluation.bytes[tiling])
        return ScheduleInfeasible(memory, need, request.memory_bytes, _sizes(request, cuts, tiling))
    _, _, _, order, tiling = best
    return _schedule(request, memory, cuts, order, tiling, evaluation, own)


def _depth(own: Sequence[int], order: Sequence[int]) -> int:
    """How many outer loops an operand's transfer is inside of."""
    return max((place + 1 for place, cut in enumerate(order) if cut in own), default=0)


def _moves(own: Sequence[int], order: Sequence[int], steps: Sequence[Array]) -> Array:
    """How often each tile of an operand moves."""
    times: Array = np.ones((1,) * len(steps), dtype=np.int64)
    for cut in order[: _depth(own, order)]:
        if cut not in own:
            times = times * steps[cut]
    return times


def _best(evaluation: Evaluation, own: Sequence[Sequence[int]], budget_bytes: int) -> _Rank | None:
    """The best tiling and loop order (positions of cuts, outermost first)."""
    best: _Rank | None = None
    for count in range(len(evaluation.steps) + 1):
        for chosen in combinations(range(len(evaluation.steps)), count):
            part, origin = _restrict(evaluation, chosen)
            fits = part.bytes <= budget_bytes
            if not fits.any():
                continue
            for order in permutations(chosen):
                found = _best_tiling(part, own, order, fits)
                rank = (*found[:3], order, tuple(o + i for o, i in zip(origin, found[3], strict=True)))
                best = rank if best is None else min(best, rank)
    return best


def _restrict(evaluation: Evaluation, chosen: Sequence[int]) -> tuple[Evaluation, tuple[int, ...]]:
    """The tilings that cut exactly these dimensions, and where they begin along each axis (the first size
    tried is the whole dimension)."""
    origin = tuple(1 if position in chosen else 0 for position in range(len(evaluation.steps)))
    window = tuple(slice(1, None) if start else slice(0, 1) for start in origin)

    def cut(values: Array) -> Array:
        pairs = zip(window, values.shape, strict=True)
        return values[tuple(w if size > 1 else slice(None) for w, size in pairs)]

    return (
        Evaluation(
            cut(evaluation.bytes),
            cut(evaluation.compute),
            cut(evaluation.launch),
            tuple(cut(values) for values in evaluation.sizes),
            tuple(cut(values) for values in evaluation.transfer),
            tuple(cut(values) for values in evaluation.steps),
        ),
        origin,
    )


def _best_tiling(
    part: Evaluation, own: Sequence[Sequence[int]], order: Sequence[int], fits: NDArray[np.bool_]
) -> tuple[int, int, int, tuple[int, ...]]:
    total = part.compute + part.launch
    for cycles, used in zip(part.transfer, own, strict=True):
        total = total + cycles * _moves(used, order, part.steps)
    total = np.broadcast_to(total, part.bytes.shape)
    least = int(total[fits].min())
    calls = np.ones_like(part.bytes)
    for steps in part.steps:
        calls = calls * steps
    places = np.argwhere(fits & (total == least))
    ranked = min((int(calls[tuple(p)]), int(part.bytes[tuple(p)]), tuple(int(i) for i in p)) for p in places)
    return least, *ranked


def _sizes(request: ScheduleRequest, cuts: Sequence[Cut], tiling: Sequence[int]) -> tuple[tuple[str, int], ...]:
    chosen = {cut.dim.name: cut.tiles[index] for cut, index in zip(cuts, tiling, strict=True)}
    return tuple((dim.name, chosen.get(dim.name, dim.size)) for dim in request.workload.dims)


def _schedule(
    request: ScheduleRequest,
    memory: str,
    cuts: Sequence[Cut],
    order: Sequence[int],
    tiling: tuple[int, ...],
    evaluation: Evaluation,
    own: Sequence[Sequence[int]],
) -> LoopSchedule:
    workload, sizes = request.workload, _sizes(request, cuts, tiling)
    alignment = request.soc.memory(memory).alignment_bytes
    loops = tuple(TileLoop(cuts[i].dim.name, cuts[i].dim.size, cuts[i].tiles[tiling[i]]) for i in order)
    placements, offset = [], 0
    for operand, used, all_sizes in zip(workload.operands, own, evaluation.sizes, strict=True):
        size = int(np.broadcast_to(all_sizes, evaluation.bytes.shape)[tiling])
        placements.append(Placement(operand.name, memory, _depth(used, order), offset, size))
        offset = round_up(offset + size, alignment)
    scratch = scratch_bytes(workload, dict(sizes))
    return LoopSchedule(
        loops=loops,
        tile=sizes,
        placements=tuple(placements),
        scratch_offset_bytes=offset,
        scratch_bytes=scratch,
        memory=memory,
        working_bytes=((memory, round_up(offset + scratch, alignment)),),
        cost=_cost(request, order, tiling, evaluation, own),
    )


def _cost(
    request: ScheduleRequest,
    order: Sequence[int],
    tiling: tuple[int, ...],
    evaluation: Evaluation,
    own: Sequence[Sequence[int]],
) -> Cost:
    shape = evaluation.bytes.shape

    def at(values: Array) -> int:
        return int(np.broadcast_to(values, shape)[tiling])

    moved = (
        at(cycles) * at(_moves(used, order, evaluation.steps))
        for cycles, used in zip(evaluation.transfer, own, strict=True)
    )
    return Cost(
        compute_cycles=at(evaluation.compute),
        transfer_cycles=sum(moved),
        launch_cycles=at(evaluation.launch),
        sync_cycles=request.cost_model.layer_cycles(request.workload),
        model=f"{request.cost_model.name} {request.cost_model.version}",
        bound=request.cost_model.bound,
    )
