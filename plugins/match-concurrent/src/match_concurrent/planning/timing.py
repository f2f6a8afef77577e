"""The order of jobs as a constraint model: starts, precedence, one job of a queue at a time. Memory is ignored, or
counted in bytes without addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.cp_sat import load_cp_model

from match_concurrent.planning.answers import Answer, Answers
from match_concurrent.planning.lags import lags_of
from match_concurrent.planning.scope import Scope, lag_between, rebased

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from match_concurrent.planning.pack import Times
    from match_concurrent.planning.problem import Problem


#: Answers by model and effort: windows over repeated layers have equal models.
Known = dict[tuple[str, float], Answer]


@dataclass(frozen=True)
class Starts:
    """A model of starts: variables by job, the makespan, and the horizon within which everything happens."""

    model: cp_model.CpModel
    start: dict[int, cp_model.IntVar]
    span: cp_model.IntVar
    horizon: int


@dataclass(frozen=True, slots=True)
class Timed:
    """New starts of a scope's jobs, None if none were found; bound and effort of the solver."""

    starts: dict[int, int] | None
    answer: Answer


def starts_model(problem: Problem, scope: Scope, times: Times, horizon: int) -> Starts:
    """Starts of the scope's jobs with hints from ``times``; the makespan includes the jobs after them."""
    lags, model = lags_of(problem.lanes, problem.signalling), load_cp_model().CpModel()
    start: dict[int, cp_model.IntVar] = {}
    lanes: dict[int, list[cp_model.IntervalVar]] = {}
    units: dict[int, list[cp_model.IntervalVar]] = {}
    span = model.new_int_var(scope.floor, max(horizon, scope.floor), "span")
    for number, release, tail in zip(scope.jobs, scope.release, scope.tail, strict=True):
        job = problem.jobs[number]
        start[number] = model.new_int_var(release, max(release, horizon), "")
        size = job.cycles + lags.between[job.queue]
        lanes.setdefault(job.queue, []).append(model.new_fixed_size_interval_var(start[number], size, ""))
        for unit in job.units:
            interval = model.new_fixed_size_interval_var(start[number], job.cycles, "")
            units.setdefault(unit, []).append(interval)
        model.add(span >= start[number] + tail)
        model.add_hint(start[number], max(release, times[number][0]))
        for maker in job.after:
            if maker in start:
                lag = problem.jobs[maker].cycles + lag_between(problem, maker, number)
                model.add(start[number] >= start[maker] + lag)
    for intervals in (*lanes.values(), *units.values()):
        model.add_no_overlap(intervals)
    return Starts(model, start, span, horizon)


def shortest(
    problem: Problem,
    scope: Scope,
    times: Times,
    cycles: int,
    seconds: float,
    *,
    count: bool,
    answers: Answers | None = None,
    known: Known | None = None,
) -> Timed:
    """The least makespan; ties go to less waiting if the scope is not the whole problem. ``cycles``: the present
    makespan; ``count``: whether live items must fit the bytes of the arena; ``answers``: where they come from. A model
    that is ``known`` is not solved again, and takes no effort."""
    base, whole = 0, len(scope.jobs) == len(problem.jobs)
    if not whole:
        scope, times, cycles, base = rebased(scope, times, cycles)
    built = starts_model(problem, scope, times, cycles)
    if count:
        _count_bytes(problem, scope, times, built)
    if whole:
        built.model.minimize(built.span)
    else:
        # One cycle of the makespan outweighs all gains of the starts together.
        weight = len(scope.jobs) * (cycles + 1)
        built.model.minimize(weight * built.span + sum(built.start.values()))
    known = {} if known is None else known
    key = str(built.model.proto), seconds
    if key in known:
        answer = replace(known[key], seconds=0.0)
    else:  # without relaxations of its own, CP-SAT finds more orders in the same time
        answer = known[key] = (answers or Answers()).solve(built.model, seconds, linearization_level=0)
    if answer.values is None:
        return Timed(None, answer)
    found = {number: base + answer.values.value(variable) for number, variable in built.start.items()}
    return Timed(found, answer)


def _count_bytes(problem: Problem, scope: Scope, times: Times, built: Starts) -> None:
    """Lives of items with open users, in a cumulative resource of the arena's size. Items that live across the whole
    scope reduce the capacity."""
    model, users = built.model, problem.users()
    open_jobs = set(scope.jobs)
    begin, end = min(scope.release, default=0), built.horizon + 1
    place = {number: position for position, number in enumerate(_in_order(scope.jobs, times))}
    intervals, sizes, free = [], [], problem.capacity_bytes
    for item, jobs in enumerate(users):
        if not problem.items[item].owned or not jobs:
            continue
        mine = [n for n in jobs if n in open_jobs]
        before = any(n not in open_jobs and times[n][0] < begin for n in jobs)
        behind = any(n not in open_jobs and times[n][0] >= begin for n in jobs)
        if not mine:
            if before and behind:
                free -= problem.size_of(item)
            continue
        first = begin if before else model.new_int_var(begin, end, "")
        last = end if behind else model.new_int_var(begin, end, "")
        for number in sorted(mine, key=lambda n: place[n]):
            if not before:
                model.add(first <= built.start[number])
            if not behind:
                model.add(last >= built.start[number] + max(1, problem.jobs[number].cycles))
        size = model.new_int_var(0, end, "")
        intervals.append(model.new_interval_var(first, size, last, ""))
        sizes.append(problem.size_of(item))
    model.add_cumulative(intervals, sizes, max(0, free))


def _in_order(jobs: Sequence[int], times: Times) -> list[int]:
    return sorted(jobs, key=lambda n: (times[n][0], n))
