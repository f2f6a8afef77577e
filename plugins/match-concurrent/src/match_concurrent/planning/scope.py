"""A part of the jobs with open starts; jobs before it keep their times, and jobs after it keep their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_concurrent.planning.lags import lags_of

if TYPE_CHECKING:
    from match_concurrent.planning.pack import Times
    from match_concurrent.planning.problem import Problem


@dataclass(frozen=True, slots=True)
class Scope:
    """``jobs`` are open, in a valid order. ``release``: the earliest start that earlier jobs allow;
    ``tail``: the least cycles from a job's start to the end of the program; both parallel to ``jobs``. ``floor``: the
    makespan that the scope cannot change."""

    jobs: tuple[int, ...]
    release: tuple[int, ...]
    tail: tuple[int, ...]
    floor: int


def scope_of(problem: Problem, order: Sequence[int], times: Times, first: int, end: int) -> Scope:
    """The scope of ``order[first:end]``; ``times``: present times of all jobs."""
    lags = lags_of(problem.lanes, problem.signalling)
    jobs = tuple(order[first:end])
    tails = _tails_behind(problem, order, end)
    behind = _first_behind(problem, order[end:])
    read_by: dict[int, list[int]] = {}
    for number in order[end:]:
        for maker in problem.jobs[number].after:
            read_by.setdefault(maker, []).append(number)
    before = set(order[:first])
    free = [lags.begun[lane] for lane in range(len(problem.lanes))]
    idle: dict[int, int] = {}  # by unit: the last job before that keeps it busy
    for number in order[:first]:
        lane = problem.jobs[number].queue
        free[lane] = max(free[lane], times[number][1] + lags.between[lane])
        idle.update(dict.fromkeys(problem.jobs[number].units, number))
    release, tail = [], []
    for number in jobs:
        job = problem.jobs[number]
        makers = [maker for maker in job.after if maker in before]
        makers += [idle[unit] for unit in job.units if unit in idle]
        ready = [times[m][1] + lag_between(problem, m, number) for m in makers]
        release.append(max([free[job.queue], *ready]))
        follow = [lag_between(problem, number, reader) + tails[reader] for reader in read_by.get(number, ())]
        if job.queue in behind:
            follow.append(lags.between[job.queue] + tails[behind[job.queue]])
        tail.append(job.cycles + max([lags.known[job.queue], *follow]))
    floor = max((times[n][1] + lags.known[problem.jobs[n].queue] for n in before), default=0)
    return Scope(jobs, tuple(release), tuple(tail), floor)


def rebased(scope: Scope, times: Times, cycles: int) -> tuple[Scope, Times, int, int]:
    """The scope, the times and the makespan counted from the earliest release to the first tail, so that equal windows
    have equal numbers; and that release."""
    base, rest = min(scope.release), min(scope.tail)
    release, tail = tuple(r - base for r in scope.release), tuple(t - rest for t in scope.tail)
    moved = tuple((start - base, end - base) for start, end in times)
    return Scope(scope.jobs, release, tail, max(0, scope.floor - base - rest)), moved, cycles - base - rest, base


def lag_between(problem: Problem, one: int, two: int) -> int:
    """The least cycles from the end of a job to the start of a reader of its output."""
    lags = lags_of(problem.lanes, problem.signalling)
    source, target = problem.jobs[one].queue, problem.jobs[two].queue
    return lags.between[source] if source == target else lags.across(source, target)


def _first_behind(problem: Problem, order: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for number in order:
        found.setdefault(problem.jobs[number].queue, number)
    return found


def _tails_behind(problem: Problem, order: Sequence[int], end: int) -> dict[int, int]:
    """For the jobs from ``end`` on, the least cycles from their start to the end if queues keep their order."""
    lags = lags_of(problem.lanes, problem.signalling)
    found: dict[int, int] = {}
    next_in: dict[int, int] = {}
    longest: dict[int, int] = {}
    for number in reversed(order[end:]):
        job = problem.jobs[number]
        follow = max(lags.known[job.queue], longest.get(number, 0))
        if job.queue in next_in:
            follow = max(follow, lags.between[job.queue] + found[next_in[job.queue]])
        found[number] = job.cycles + follow
        next_in[job.queue] = number
        for maker in job.after:
            longest[maker] = max(longest.get(maker, 0), lag_between(problem, maker, number) + found[number])
    return found
