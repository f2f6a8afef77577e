"""Turns a layout into a draft: dependencies, start times, makespan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from match_concurrent.planning.draft import Draft, Layout
from match_concurrent.planning.hazards import conflicts, reduced
from match_concurrent.planning.lags import lags_of
from match_concurrent.planning.replay import replay

if TYPE_CHECKING:
    from match_concurrent.planning.problem import Problem


def finished(problem: Problem, layout: Layout, origin: str) -> Draft:
    """The draft of a layout, its steps sorted by their start times (queues keep their order)."""
    lags = lags_of(problem.lanes, problem.signalling)
    needs = reduced(len(problem.lanes), layout.steps, conflicts(problem, layout))
    starts, cycles = replay(layout.steps, needs, lags, host=0)
    # By start and position in the old order: a dependent step starts no earlier and came later in it.
    order = sorted(range(len(starts)), key=lambda n: (starts[n], n))
    steps = tuple(layout.steps[n] for n in order)
    return Draft(
        replace(layout, steps=steps),
        tuple(needs[n] for n in order),
        tuple(starts[n] for n in order),
        cycles,
        origin,
    )
