"""Useful sizes of the arena: from the least that a program requires to the size at which no task waits for memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from match_concurrent.planning.heuristic import first_draft

if TYPE_CHECKING:
    from match_concurrent.planning.problem import Problem

#: The number of sizes between the largest and the smallest.
STEPS = 4


def arena_demands(problem: Problem) -> tuple[int, ...]:
    """Bytes of the arena, largest first: of the first plan with unlimited memory, then less, down to the bytes that the
    largest task touches (everything else is swapped)."""
    total = sum(problem.size_of(number) for number, item in enumerate(problem.items) if item.owned)
    draft = first_draft(replace(problem, capacity_bytes=total))
    if draft is None:
        raise ValueError("a plan uses more than all items together")
    most = max((address + problem.size_of(item) for (item, _), address in draft.layout.homes.items()), default=0)
    touched = (sum(problem.size_of(i) for i in job.items if problem.items[i].owned) for job in problem.jobs)
    least = max(touched, default=0)
    return tuple(dict.fromkeys(most - (most - least) * step // STEPS for step in range(STEPS + 1)))
