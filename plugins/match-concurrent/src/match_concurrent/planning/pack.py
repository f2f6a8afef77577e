"""Layouts without swaps: every item has one address for the whole run, reused over time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.plan.allocate import allocate
from match_core.plan.packing import Block

from match_concurrent.planning.draft import Layout, PlanStep
from match_concurrent.planning.hazards import reduced
from match_concurrent.planning.lags import lags_of
from match_concurrent.planning.replay import replay

if TYPE_CHECKING:
    from match_concurrent.planning.problem import Problem

#: The most blocks for which the allocator runs its thorough search.
THOROUGH_BLOCKS = 120

Times = tuple[tuple[int, int], ...]


def steps_of(problem: Problem, order: Sequence[int]) -> tuple[PlanStep, ...]:
    """The jobs in this order, as steps without swaps."""
    return tuple(
        PlanStep("job", job.queue, job.cycles, number, places=_places(problem, number))
        for number, job in ((n, problem.jobs[n]) for n in order)
    )


def _places(problem: Problem, number: int) -> tuple[tuple[int, int], ...]:
    return tuple((item, 0) for item in problem.jobs[number].items if problem.items[item].owned)


def free_times(problem: Problem, order: Sequence[int]) -> Times:
    """(start, end) of each job in this order with unlimited memory."""
    position: dict[int, int] = {}
    done = [0] * len(problem.lanes)
    counts = []
    last: dict[int, int] = {}  # by unit: the job that kept it busy last
    for number in order:
        job = problem.jobs[number]
        wanted = [0] * len(problem.lanes)
        for maker in (*job.after, *(last[unit] for unit in job.units if unit in last)):
            queue = problem.jobs[maker].queue
            if queue != job.queue:
                wanted[queue] = max(wanted[queue], position[maker])
        last.update(dict.fromkeys(job.units, number))
        done[job.queue] += 1
        position[number] = done[job.queue]
        counts.append(tuple(wanted))
    steps = steps_of(problem, order)
    needs = reduced(len(problem.lanes), steps, tuple(counts))
    starts, _ = replay(steps, needs, lags_of(problem.lanes, problem.signalling), host=0)
    times = [(0, 0)] * len(order)
    for number, start, step in zip(order, starts, steps, strict=True):
        times[number] = (start, start + step.cycles)
    return tuple(times)


def packed(problem: Problem, order: Sequence[int], times: Times, margin_cycles: int) -> Layout | None:
    """A layout in which items that live at the same time share no bytes; None if it exceeds the capacity. Items live
    ``margin_cycles`` longer than they are used, so that the next user of their bytes does not wait for a signal."""
    owned = [n for n, item in enumerate(problem.items) if item.owned]
    users = problem.users()
    # A job of 0 cycles counts as 1, so that its bytes are not reused at the moment when it runs.
    spans = [(start, max(end, start + 1)) for start, end in times]
    lives = [(min(spans[n][0] for n in users[i]), max(spans[n][1] for n in users[i])) for i in owned]
    moments = sorted({begin for begin, _ in lives})
    rank = {moment: place for place, moment in enumerate(moments)}
    blocks = []
    for item, (begin, end) in zip(owned, lives, strict=True):
        last = bisect_left(moments, end + margin_cycles) - 1
        blocks.append(Block(problem.items[item].size_bytes, rank[begin], max(rank[begin], last)))
    place = {number: position for position, number in enumerate(order)}
    by_start = sorted(order, key=lambda n: (times[n][0], place[n]))
    return _allocated(problem, by_start, owned, blocks)


def packed_loosely(problem: Problem, order: Sequence[int]) -> Layout | None:
    """A layout in which items share no bytes if they live at the same time in a sequential run: it takes less memory,
    but later jobs wait for earlier ones."""
    owned = [n for n, item in enumerate(problem.items) if item.owned]
    place = {number: position for position, number in enumerate(order)}
    users = problem.users()
    blocks = []
    for item in owned:
        steps = [place[n] for n in users[item]]
        blocks.append(Block(problem.items[item].size_bytes, min(steps), max(steps)))
    return _allocated(problem, order, owned, blocks)


def _allocated(problem: Problem, order: Sequence[int], owned: Sequence[int], blocks: Sequence[Block]) -> Layout | None:
    thorough = len(blocks) <= THOROUGH_BLOCKS
    answer = allocate(blocks, problem.alignment_bytes, problem.capacity_bytes, thorough=thorough)
    if answer.arena_bytes > problem.capacity_bytes:
        return None
    homes = {(item, 0): offset for item, offset in zip(owned, answer.offsets, strict=True)}
    return Layout(steps_of(problem, order), homes, {})
