"""Lower bounds of the makespan of a problem, for any memory size."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from match_concurrent.planning.lags import lags_of
from match_concurrent.planning.orders import heads, tails

if TYPE_CHECKING:
    from match_concurrent.planning.problem import Problem


def lower_bound(problem: Problem) -> int:
    """The larger of the longest path through the jobs and, for each queue, the best preemptive schedule: always run the
    available job with the longest remaining path (J. R. Jackson's rule for one machine with heads and tails)."""
    head, tail = heads(problem), tails(problem)
    longest = max((h + t for h, t in zip(head, tail, strict=True)), default=0)
    return max([longest, *(_one_machine(problem, lane, head, tail) for lane in range(len(problem.lanes)))])


def _one_machine(problem: Problem, lane: int, head: tuple[int, ...], tail: tuple[int, ...]) -> int:
    """``between`` cycles follow every job but the last: they count as its work, and are subtracted from its tail."""
    between = lags_of(problem.lanes, problem.signalling).between[lane]
    jobs = sorted((head[n], n) for n, job in enumerate(problem.jobs) if job.queue == lane)
    waiting: list[tuple[int, int, int]] = []  # (minus what follows, job, cycles left)
    now, best, place = 0, 0, 0
    while place < len(jobs) or waiting:
        if not waiting:
            now = max(now, jobs[place][0])
        while place < len(jobs) and jobs[place][0] <= now:
            number = jobs[place][1]
            cycles = problem.jobs[number].cycles
            heapq.heappush(waiting, (cycles + between - tail[number], number, cycles + between))
            place += 1
        after, number, left = heapq.heappop(waiting)
        stop = jobs[place][0] if place < len(jobs) else now + left
        if now + left <= stop:
            now += left
            best = max(best, now - after)
        else:
            heapq.heappush(waiting, (after, number, left - (stop - now)))
            now = stop
    return best
