"""Local search on the order of jobs, for small memories: one job moves to another place, and the order is laid out
again. What comes out is a whole plan with swaps, so this also finds other items to swap, which the constraint model
takes as given."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.planning.concurrent.finish import finished
from match_core.planning.concurrent.orders import followers
from match_core.planning.concurrent.swapping import swapped

if TYPE_CHECKING:
    from match_core.planning.concurrent.draft import Draft
    from match_core.planning.concurrent.problem import Problem

SEED = 1
#: What a move may cost at first, as a part of the makespan.
SLACK = 0.02


def moved_jobs(problem: Problem, draft: Draft, turns: int) -> Draft:
    """The best draft after so many turns. Moves that make things a little worse are kept, less and less so, so that the
    search does not end in the first hollow."""
    chance, read_by = random.Random(SEED), followers(problem)
    order = [step.job for step in draft.layout.steps if step.kind == "job"]
    best, now = draft, -1
    for turn in range(turns):
        attempt = _moved(problem, read_by, order, chance) if turn else order
        layout = swapped(problem, attempt)
        if layout is None:
            continue
        found = finished(problem, layout, "jobs moved, memory by need")
        if now < 0 or found.cycles <= now + int(now * SLACK * (turns - turn) / turns):
            order, now = attempt, found.cycles
        if found.cycles < best.cycles:
            best = found
    return best


def _moved(
    problem: Problem, read_by: Sequence[Sequence[int]], order: Sequence[int], chance: random.Random
) -> list[int]:
    """The order with one job elsewhere, between the last that it reads from and the first that reads from it."""
    place = {number: position for position, number in enumerate(order)}
    number = order[int(chance.random() * len(order))]
    low = max((place[maker] + 1 for maker in problem.jobs[number].after), default=0)
    high = min((place[reader] - 1 for reader in read_by[number]), default=len(order) - 1)
    rest = [other for other in order if other != number]
    rest.insert(low + int(chance.random() * (high - low + 1)), number)
    return rest
