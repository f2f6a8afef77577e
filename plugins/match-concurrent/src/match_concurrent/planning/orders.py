"""Valid sequential orders of the jobs, each with a different priority rule."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_concurrent.planning.lags import lags_of

if TYPE_CHECKING:
    from match_concurrent.planning.problem import Problem

Order = tuple[int, ...]


def orders(problem: Problem) -> dict[str, Order]:
    """Orders by name, without duplicates: the mapper's start times, greedy list scheduling, operator after operator
    with few live bytes, and the order of the jobs in the problem."""
    found = {
        "mapper's order": by_priority(problem, problem.hints),
        "list scheduling": list_schedule(problem),
        "low memory": low_memory(problem),
        "graph order": tuple(range(len(problem.jobs))),
    }
    kept: dict[str, Order] = {}
    for name, order in found.items():
        if order not in kept.values():
            kept[name] = order
    return kept


def followers(problem: Problem) -> list[list[int]]:
    """For each job, the jobs that read its outputs."""
    found: list[list[int]] = [[] for _ in problem.jobs]
    for number, job in enumerate(problem.jobs):
        for maker in job.after:
            found[maker].append(number)
    return found


def by_priority(problem: Problem, priority: Sequence[int]) -> Order:
    """Always pick the ready job with the least ``priority`` value; ties go to the first."""
    read_by = followers(problem)
    waiting = [len(job.after) for job in problem.jobs]
    ready = [(priority[n], n) for n, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, number = heapq.heappop(ready)
        order.append(number)
        for reader in read_by[number]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, (priority[reader], reader))
    return tuple(order)


def tails(problem: Problem) -> tuple[int, ...]:
    """For each job, the least cycles from its start until the host knows that all dependent jobs are done."""
    lags = lags_of(problem.lanes, problem.signalling)
    read_by = followers(problem)
    found = [0] * len(problem.jobs)
    for number in reversed(range(len(problem.jobs))):
        job = problem.jobs[number]
        longest = lags.known[job.queue]
        for reader in read_by[number]:
            other = problem.jobs[reader].queue
            lag = lags.across(job.queue, other) if other != job.queue else lags.between[other]
            longest = max(longest, lag + found[reader])
        found[number] = job.cycles + longest
    return tuple(found)


def heads(problem: Problem) -> tuple[int, ...]:
    """For each job, the earliest start that its inputs allow."""
    lags = lags_of(problem.lanes, problem.signalling)
    found = [0] * len(problem.jobs)
    for number, job in enumerate(problem.jobs):
        earliest = lags.begun[job.queue]
        for maker in job.after:
            other = problem.jobs[maker]
            lag = lags.across(other.queue, job.queue) if other.queue != job.queue else lags.between[job.queue]
            earliest = max(earliest, found[maker] + other.cycles + lag)
        found[number] = earliest
    return tuple(found)


def list_schedule(problem: Problem) -> Order:
    """Pick the ready job with the earliest start; break ties by the longest remaining path. Returns jobs in the order
    of their starts."""
    lags, tail, read_by = lags_of(problem.lanes, problem.signalling), tails(problem), followers(problem)
    waiting = [len(job.after) for job in problem.jobs]
    earliest = [lags.begun[job.queue] for job in problem.jobs]
    free = [0] * len(problem.lanes)
    idle: dict[int, tuple[int, int]] = {}  # by unit: the queue that kept it busy last, and until when
    ready = {n for n, count in enumerate(waiting) if count == 0}
    starts = [0] * len(problem.jobs)

    def start(number: int) -> int:
        queue, units = problem.jobs[number].queue, problem.jobs[number].units
        known = [idle[unit] for unit in units if unit in idle]
        return max([earliest[number], free[queue], *(t + lags.across(q, queue) for q, t in known if q != queue)])

    while ready:
        number = min(ready, key=lambda n: (start(n), -tail[n], n))
        ready.remove(number)
        job = problem.jobs[number]
        starts[number] = start(number)
        end = starts[number] + job.cycles
        idle.update(dict.fromkeys(job.units, (job.queue, end)))
        free[job.queue] = end + lags.between[job.queue]
        for reader in read_by[number]:
            other = problem.jobs[reader].queue
            lag = lags.across(job.queue, other) if other != job.queue else 0
            earliest[reader] = max(earliest[reader], end + lag)
            waiting[reader] -= 1
            if waiting[reader] == 0:
                ready.add(reader)
    return by_priority(problem, starts)


def low_memory(problem: Problem) -> Order:
    """Operator after operator (all jobs that write the same items), always the one that leaves the fewest bytes alive.
    In this order only outputs of the current operator are partly written."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, job in enumerate(problem.jobs):
        made = {access.item for access in job.accesses if access.writes}
        key = tuple(sorted(item for item in made if problem.items[item].kind != "scratch")) or (-1 - number,)
        groups.setdefault(key, []).append(number)
    group_of = {number: group for group, members in enumerate(groups.values()) for number in members}
    members = list(groups.values())
    touched = [{i for n in jobs for i in problem.jobs[n].items if problem.items[i].owned} for jobs in members]
    left: dict[int, int] = {}
    for items in touched:
        for item in items:
            left[item] = left.get(item, 0) + 1
    before = [{group_of[m] for n in jobs for m in problem.jobs[n].after} - {g} for g, jobs in enumerate(members)]
    alive: set[int] = set()
    done: set[int] = set()
    order: list[int] = []
    while len(done) < len(members):
        ranked = []
        for group, needed in enumerate(before):
            if group not in done and needed <= done:
                more = sum(problem.size_of(item) for item in touched[group] - alive)
                freed = sum(problem.size_of(item) for item in touched[group] if left[item] == 1)
                ranked.append((more - freed, more, group))
        group = min(ranked)[2]
        done.add(group)
        order += members[group]
        alive |= touched[group]
        for item in touched[group]:
            left[item] -= 1
            if left[item] == 0:
                alive.discard(item)
    return tuple(order)
