"""Layouts without swaps: every item has one address for the whole run, reused over time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from match_core.plan.allocate import allocate
from match_core.plan.packing import Block, Packing, least_span

from match_concurrent.planning.draft import Layout, PlanStep
from match_concurrent.planning.hazards import reduced
from match_concurrent.planning.lags import lags_of
from match_concurrent.planning.replay import replay

if TYPE_CHECKING:
    from match_concurrent.planning.problem import Problem

#: The most blocks for which the allocator runs its thorough search, and single blocks get longer lives.
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
    owned = _owned(problem)
    blocks = _blocks(problem, times, dict.fromkeys(owned, margin_cycles))
    offsets = _allocated(problem, blocks)
    return None if offsets is None else _layout(problem, _by_start(order, times), owned, offsets)


def packed_with_waits(problem: Problem, order: Sequence[int], times: Times, margin_cycles: int) -> Layout | None:
    """The same, but jobs may wait for bytes: all items' lives end earlier, by twice as much each time, until they fit;
    then as many of them as still fit get the whole margin again. None if that is none."""
    owned, longest = _owned(problem), max((end - start for start, end in times), default=0)
    waits = [0, *(margin_cycles << n for n in range(longest.bit_length()) if 0 < margin_cycles << n < longest)]
    for wait in waits:
        margins = dict.fromkeys(owned, -wait)
        offsets = _allocated(problem, _blocks(problem, times, margins))
        if offsets is not None:
            break
    else:
        return None
    groups = [owned] if len(owned) <= THOROUGH_BLOCKS else []
    while groups:
        group = groups.pop()
        longer = {**margins, **dict.fromkeys(group, margin_cycles)}
        packing = Packing(_blocks(problem, times, longer), problem.alignment_bytes)
        found = packing.place(sorted(range(len(owned)), key=offsets.__getitem__))
        if packing.span(found) <= problem.capacity_bytes:
            margins, offsets = longer, found
        elif len(group) > 1:
            groups += [group[len(group) // 2 :], group[: len(group) // 2]]
    return _layout(problem, _by_start(order, times), owned, offsets)


def packed_loosely(problem: Problem, order: Sequence[int]) -> Layout | None:
    """A layout in which items share no bytes if they live at the same time in a sequential run: it takes less memory,
    but later jobs wait for earlier ones."""
    owned, users = _owned(problem), problem.users()
    place = {number: position for position, number in enumerate(order)}
    blocks = []
    for item in owned:
        steps = [place[n] for n in users[item]]
        blocks.append(Block(problem.items[item].size_bytes, min(steps), max(steps)))
    offsets = _allocated(problem, blocks)
    return None if offsets is None else _layout(problem, order, owned, offsets)


def _owned(problem: Problem) -> list[int]:
    return [n for n, item in enumerate(problem.items) if item.owned]


def _by_start(order: Sequence[int], times: Times) -> list[int]:
    place = {number: position for position, number in enumerate(order)}
    return sorted(order, key=lambda n: (times[n][0], place[n]))


def _blocks(problem: Problem, times: Times, margins: Mapping[int, int]) -> list[Block]:
    """Items live for their margin longer than their last job runs (shorter if it is negative), but until all of their
    jobs have started. A job of 0 cycles counts as 1, so that its bytes are not reused at the moment when it runs."""
    users = problem.users()
    begins = [min(times[n][0] for n in users[item]) for item in margins]
    moments = sorted(set(begins))
    rank = {moment: place for place, moment in enumerate(moments)}
    blocks = []
    for (item, margin), begin in zip(margins.items(), begins, strict=True):
        end = max(max(times[n][0] + 1, times[n][1] + margin, times[n][0] + 1 + margin) for n in users[item])
        last = bisect_left(moments, end) - 1
        blocks.append(Block(problem.items[item].size_bytes, rank[begin], max(rank[begin], last)))
    return blocks


def _allocated(problem: Problem, blocks: Sequence[Block]) -> tuple[int, ...] | None:
    """Offsets of the blocks; None if they need more than the capacity."""
    if least_span(blocks, problem.alignment_bytes) > problem.capacity_bytes:
        return None
    thorough = len(blocks) <= THOROUGH_BLOCKS
    answer = allocate(blocks, problem.alignment_bytes, problem.capacity_bytes, thorough=thorough)
    return answer.offsets if answer.arena_bytes <= problem.capacity_bytes else None


def _layout(problem: Problem, order: Sequence[int], owned: Sequence[int], offsets: Sequence[int]) -> Layout:
    homes = {(item, 0): offset for item, offset in zip(owned, offsets, strict=True)}
    return Layout(steps_of(problem, order), homes, {})
