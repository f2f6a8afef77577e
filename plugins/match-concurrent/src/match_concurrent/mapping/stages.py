"""A lower bound of the makespan from stages: operators that all others before them precede, and all after them follow.

Stages follow each other, so their bounds add up: of several operators, all their work shared ideally; of a single one,
the best division into whole tiles, with what starting a task costs, and with the signal that at least one of two queues
waits for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.mapping import Bounds

from match_concurrent.mapping.bounds import (
    ACCURACY,
    ideal_shares,
    is_read_whole,
    may_overlap,
    path_cycles,
    rates_of,
    work_cycles,
)
from match_concurrent.mapping.parts import Part
from match_concurrent.mapping.timeline import HOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_concurrent.mapping.evaluate import Evaluator
    from match_concurrent.mapping.network import DivisibleAxis, SharedOperator

#: An axis of more tiles is taken as freely divisible.
TILES_MAX = 256


def stages(evaluator: Evaluator) -> tuple[range, ...]:
    """The operators in stages: none of a stage starts before all of the stages before it have ended."""
    operators = evaluator.network.operators
    ended: list[set[int]] = []  # by operator: those that have certainly ended when it has
    before: list[set[int]] = []  # by operator: those that have certainly ended when its first task starts
    for operator in operators:
        starts: set[int] = set()
        ends: set[int] = set()
        for source in operator.sources:
            number = source.operator
            starts |= before[number]
            if not may_overlap(operator, source, evaluator):
                starts |= ended[number] | {number}
            elif is_read_whole(operator, source, evaluator):
                ends |= ended[number] | {number}
        before.append(starts)
        ended.append(starts | ends)
    firsts = [0]
    for number in range(1, len(operators)):
        if all(len([n for n in known if n < number]) == number for known in before[number:]):
            firsts.append(number)
    return tuple(range(*pair) for pair in zip(firsts, [*firsts[1:], len(operators)], strict=True))


def staged_cycles(evaluator: Evaluator) -> int:
    """The sum of the stages' bounds."""
    operators, total = evaluator.network.operators, 0.0
    unit = HOST + 1
    gap = min(_starts_after(evaluator, *pair) for pair in ((unit, unit), (HOST, unit), (unit, HOST)))
    for place, stage in enumerate(stages(evaluator)):
        ideal, _ = ideal_shares([rates_of(operators[number], evaluator) for number in stage])
        if len(stage) == 1:
            ideal = max(ideal, _alone(operators[stage.start], evaluator, first=place == 0))
        else:
            ideal += gap if place else 0
        total += ideal
    return int(total * (1 - ACCURACY))


def _starts_after(evaluator: Evaluator, queue: int, ended: int) -> int:
    """The least cycles from the end of a task of a queue to the start of a task that waits for it."""
    signalling = evaluator.signalling
    if queue == ended:
        return 0 if queue == HOST else signalling.task_cycles
    wake = 0 if queue == HOST else signalling.post_cycles + signalling.wake_cycles
    return wake + (0 if ended == HOST else signalling.notify_cycles)


def _alone(operator: SharedOperator, evaluator: Evaluator, *, first: bool) -> float:
    """The least cycles of an operator from the end of the last task before it, which ran in some queue; 0 if they are
    not known."""
    offers = [(evaluator.queues_of(offer), offer) for offer in operator.offers]
    queues = {kept[0] for kept, _ in offers}
    if any(len(kept) > 1 for kept, _ in offers):
        return 0.0
    ended = [HOST] if first else sorted({HOST, *evaluator.queues.by_unit.values()})
    found = []
    for last in ended:
        waits = {queue: _starts_after(evaluator, queue, last) for queue in queues}
        whole = min(waits[kept[0]] + evaluator.costs.cycles(Part(offer)) for kept, offer in offers)
        shared = [_shared(along, waits, evaluator) for along in evaluator.network.along(operator)]
        found.append(min([float(whole), *shared]))
    return min(found)


def _shared(along: DivisibleAxis, waits: dict[int, int], evaluator: Evaluator) -> float:
    """The same where the operator is divided along an axis: the earliest time by which all queues together can have
    done all of its tiles."""
    if along.tiles > TILES_MAX:
        return 0.0
    by_queue: dict[int, NDArray[np.float64]] = {}
    numbers = range(1, along.tiles + 1)
    for unit in along.units:
        # So many tiles, without and with the last one, which may be smaller.
        sizes = [(min(n * along.step, along.size), along.size - (along.tiles - n) * along.step) for n in numbers]
        each = [min(evaluator.costs.least(unit.offer, unit.dim, size) for size in pair) for pair in sizes]
        own = np.array([0, *each], np.float64)
        queue = evaluator.queue_of(unit.offer)
        by_queue[queue] = np.minimum(by_queue[queue], own) if queue in by_queue else own
    ends = []
    for queue, costs in by_queue.items():
        tasks = _in_tasks(costs, evaluator.signalling.task_cycles)
        # The fewest cycles for so many tiles or more.
        least = np.minimum.accumulate(tasks[::-1])[::-1]
        ends.append(np.where(np.arange(len(least)) > 0, least + waits[queue], 0.0))
    moments = np.unique(np.concatenate(ends), return_index=True)[0]  # alone, it imports numpy.ma: 45 ms
    done = sum(np.searchsorted(end, moments, side="right") - 1 for end in ends)
    return float(moments[np.asarray(done) >= along.tiles][0])


def _in_tasks(costs: NDArray[np.float64], gap: int) -> NDArray[np.float64]:
    """For each number of tiles, the least cycles in any number of tasks one after another."""
    least = costs.copy()
    for tiles in range(2, len(costs)):
        split = least[1:tiles] + costs[tiles - 1 : 0 : -1] + gap
        least[tiles] = min(float(least[tiles]), float(split.min()))
    return np.asarray(least, np.float64)


def bounds_of(networks: Sequence[Evaluator]) -> Bounds:
    """The smallest bounds of several covers, so that they hold for any program made of one of them.

    They assume the cost tables: no part of an operator costs less, relative to its size, than the cheapest known size
    (costs between two known sizes are interpolated linearly), and signals and the host's posts are free except between
    stages.
    """
    work = min(work_cycles(evaluator) for evaluator in networks)
    return Bounds(work, min(max(path_cycles(evaluator), staged_cycles(evaluator)) for evaluator in networks))
