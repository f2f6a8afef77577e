"""Computes start times of steps from their dependencies, as host, units and link run them (docs/programs.md)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_concurrent.planning.draft import PlanStep
    from match_concurrent.planning.lags import Lags

Needs = Sequence[Sequence[tuple[int, int]]]


def replay(steps: Sequence[PlanStep], needs: Needs, lags: Lags, host: int) -> tuple[tuple[int, ...], int]:
    """(start of every step, makespan) in modelled cycles.

    Each queue runs its steps in order. The host posts a step when it knows that the dependencies are met and is not
    busy with a task of its own (``host`` is its lane). Events are processed in the order of time, so the host's
    activity is known up to the current time.
    """
    queues: list[list[int]] = [[] for _ in lags.known]
    for number, step in enumerate(steps):
        queues[step.lane].append(number)
    starts, ends = [0] * len(steps), [0] * len(steps)
    done = [0] * len(queues)
    busy_from: list[int] = []
    busy_until: list[int] = []
    for _ in steps:
        heads = []
        for lane, queue in enumerate(queues):
            if done[lane] < len(queue):
                number = queue[done[lane]]
                if all(done[other] >= count for other, count in needs[number]):
                    met = max((ends[queues[o][count - 1]] + lags.known[o] for o, count in needs[number]), default=0)
                    if lane == host:
                        met = max(met, busy_until[-1] if busy_until else 0)
                    heads.append((met, lane == host, lane, number))
        if not heads:
            raise ValueError("the dependencies of steps form a cycle")
        met, _, lane, number = min(heads)
        posted = met
        if lane != host:
            place = bisect_right(busy_from, met - 1) - 1  # the last task that the host started before
            posted = max(met, busy_until[place]) if place >= 0 else met
        before = queues[lane][done[lane] - 1] if done[lane] else None
        free = 0 if before is None else ends[before] + lags.between[lane]
        starts[number] = max(posted + lags.begun[lane], free)
        ends[number] = starts[number] + steps[number].cycles
        done[lane] += 1
        if lane == host:
            busy_from.append(starts[number])
            busy_until.append(ends[number])
    total = max((end + lags.known[step.lane] for end, step in zip(ends, steps, strict=True)), default=0)
    return tuple(starts), total
