"""How much of the home memory a program could use well: between what it needs at all and what makes nobody wait."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.planning.concurrent.heuristic import first_draft

if TYPE_CHECKING:
    from match_core.planning.concurrent.problem import Problem

#: Steps between the most and the least.
STEPS = 4


def arena_demands(problem: Problem) -> tuple[int, ...]:
    """Bytes of the arena, the most first: of the first plan where memory is no concern, then less, down to what the
    largest task touches (everything else swapped)."""
    total = sum(problem.size_of(number) for number, item in enumerate(problem.items) if item.owned)
    draft = first_draft(replace(problem, capacity_bytes=total))
    if draft is None:
        raise ValueError("a plan needs more than all items together")
    most = max((address + problem.size_of(item) for (item, _), address in draft.layout.homes.items()), default=0)
    touched = (sum(problem.size_of(i) for i in job.items if problem.items[i].owned) for job in problem.jobs)
    least = max(touched, default=0)
    return tuple(dict.fromkeys(most - (most - least) * step // STEPS for step in range(STEPS + 1)))
