"""The first plan, which is always valid: the fastest of several layouts of several orders of jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from match_concurrent.planning.finish import finished
from match_concurrent.planning.orders import orders
from match_concurrent.planning.pack import free_times, packed, packed_loosely, packed_with_waits
from match_concurrent.planning.swapping import swapped

if TYPE_CHECKING:
    from match_concurrent.planning.draft import Draft
    from match_concurrent.planning.problem import Problem


def first_draft(problem: Problem) -> Draft | None:
    """The fastest draft of all orders (the first of equals); None if no order fits."""
    drafts = [draft for name, order in orders(problem).items() for draft in drafts_of(problem, order, name)]
    return min(drafts, key=lambda draft: draft.cycles) if drafts else None


def drafts_of(problem: Problem, order: Sequence[int], name: str) -> Iterator[Draft]:
    """The drafts of one order: without swaps if that delays no job; else with waits, or with swaps."""
    times, s = free_times(problem, order), problem.signalling
    signal = s.notify_cycles + s.post_cycles + s.wake_cycles
    layout = packed(problem, order, times, signal)
    if layout is not None:
        yield finished(problem, layout, name)
        return
    for loose in (packed_with_waits(problem, order, times, signal), packed_loosely(problem, order)):
        if loose is not None:
            yield finished(problem, loose, f"{name}, memory taken over")
    walked = swapped(problem, order)
    if walked is not None:
        yield finished(problem, walked, f"{name}, memory by need")
