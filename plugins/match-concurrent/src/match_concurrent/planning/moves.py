"""Local search on the order of jobs, for small memories: one job moves to another position, and the order is laid out
again. The result is a whole plan with swaps, so this also finds other items to swap, which are fixed in the constraint
model."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_concurrent.planning.finish import finished
from match_concurrent.planning.orders import followers
from match_concurrent.planning.swapping import swapped

if TYPE_CHECKING:
    from match_concurrent.planning.draft import Draft
    from match_concurrent.planning.problem import Problem

SEED = 1
#: The initial tolerance for worse moves, relative to the makespan.
SLACK = 0.02


def moved_jobs(problem: Problem, draft: Draft, turns: int) -> Draft:
    """The best draft after ``turns`` moves. The search accepts slightly worse drafts with decreasing tolerance, so that
    it does not end in the first local minimum."""
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
    """The order with one job at another position, between its last producer and its first consumer."""
    place = {number: position for position, number in enumerate(order)}
    number = order[int(chance.random() * len(order))]
    low = max((place[maker] + 1 for maker in problem.jobs[number].after), default=0)
    high = min((place[reader] - 1 for reader in read_by[number]), default=len(order) - 1)
    rest = [other for other in order if other != number]
    rest.insert(low + int(chance.random() * (high - low + 1)), number)
    return rest
