"""What shares of an operator cost at least: for every unit and every number of tiles along an axis, the fewest cycles
of tasks that compute so many, with the scheduling engine's own costs of every part at every position."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_concurrent.mapping.costs import IMPOSSIBLE
from match_concurrent.mapping.evaluate import Evaluator
from match_concurrent.mapping.network import DivisibleAxis, SharedOperator
from match_concurrent.mapping.parts import Cuttable, Part
from match_concurrent.share import share_of
from match_core.schedule.candidates import plain
from numpy.typing import NDArray

#: With more tiles than this, an axis counts only if parts cost the same at every position, with more than the second
#: number not at all: its shares then cost nothing in the bound.
POSITIONS_MAX_TILES, TILES_MAX = 128, 2048

#: The queues that a task keeps busy; the first one runs it.
Queue = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AxisCosts:
    """``single[queues][n]``: the fewest cycles of one task of these queues that computes n of the axis' tiles, at any
    position; ``least``: of any number of tasks one after another that compute so many, with the gap after each;
    ``beside``: the fewest that they keep each further queue busy, where a task may take the place of a gap."""

    along: DivisibleAxis
    single: dict[Queue, NDArray[np.int64]]
    least: dict[Queue, NDArray[np.int64]]
    beside: dict[Queue, NDArray[np.int64]]

    def soonest(self, tiles: int) -> int:
        """The earliest time by which all queues together can have computed so many tiles."""
        ends = [np.minimum.accumulate(each[::-1])[::-1] for each in self.least.values()]
        moments = np.unique(np.concatenate(ends))
        done = sum(np.searchsorted(end, moments, side="right") - 1 for end in ends)
        return int(moments[np.asarray(done) >= tiles][0])


def axis_costs(operator: SharedOperator, evaluator: Evaluator) -> tuple[AxisCosts, ...]:
    """For each axis along which the mapper may divide the operator."""
    return tuple(_axis_costs(along, evaluator) for along in evaluator.network.along(operator))


def _axis_costs(along: DivisibleAxis, evaluator: Evaluator) -> AxisCosts:
    gap = evaluator.signalling.task_cycles
    single: dict[Queue, NDArray[np.int64]] = {}
    for unit in along.units:
        queues, costs = evaluator.queues_of(unit.offer), _of_parts(along, unit, evaluator)
        single[queues] = np.minimum(single[queues], costs) if queues in single else costs
    least, beside = (
        {queues: in_tasks(np.maximum(costs + extra, 0)) for queues, costs in single.items()} for extra in (gap, -gap)
    )
    return AxisCosts(along, single, least, beside)


def _of_parts(along: DivisibleAxis, unit: Cuttable, evaluator: Evaluator) -> NDArray[np.int64]:
    """The fewest cycles of one task by its number of tiles, at the best position."""
    costs = np.zeros(along.tiles + 1, np.int64)
    candidate = evaluator.network.offered[unit.offer].candidate
    axes = [axis for operand in candidate.workload.operands for axis in operand.axes]
    windowed = any(len(axis.terms) > 1 and unit.dim in dict(axis.terms) for axis in axes)
    if along.tiles > (POSITIONS_MAX_TILES if windowed else TILES_MAX):
        return costs
    by_size = [distinct(along, unit, tiles, evaluator) for tiles in range(1, along.tiles)]
    evaluator.costs.confirm(part for parts in by_size for part in parts)
    for tiles, parts in enumerate(by_size, start=1):
        costs[tiles] = min(evaluator.costs.cycles(part) for part in parts)
    costs[along.tiles] = evaluator.costs.cycles(Part(unit.offer))
    return costs


def distinct(along: DivisibleAxis, unit: Cuttable, tiles: int, evaluator: Evaluator) -> list[Part]:
    """One part of each kind that so many tiles can be: those of other positions have the same schedules."""
    candidate = evaluator.network.offered[unit.offer].candidate
    last = along.tiles - tiles
    firsts = range(last + 1) if along.tiles <= POSITIONS_MAX_TILES else dict.fromkeys((0, last // 2, last))
    found: dict[object, Part] = {}
    for first in firsts:
        begin = first * along.step
        part = Part(unit.offer, unit.dim, begin, min(tiles * along.step, along.size - begin))
        found.setdefault(plain(share_of(candidate, unit.dim, part.first, part.size).workload), part)
    return list(found.values())


def in_tasks(costs: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each number of tiles, the fewest cycles in any number of tasks."""
    least = np.minimum(costs, 2 * IMPOSSIBLE)
    least[0] = 0
    for tiles in range(2, len(costs)):
        least[tiles] = min(least[tiles], (least[1:tiles] + least[tiles - 1 : 0 : -1]).min())
    return least
