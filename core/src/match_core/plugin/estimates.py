"""What cost models state about estimates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.loops import LoopSchedule, ScheduleRequest


def with_estimate(request: ScheduleRequest, schedule: LoopSchedule) -> LoopSchedule:
    """The schedule with what the request's cost model states about its estimates; the same if it states nothing.
    Answers get it, not all costs that a search compares, because models may take long to find it."""
    estimate = getattr(request.cost_model, "estimate", None)
    if not callable(estimate):
        return schedule
    return replace(schedule, cost=replace(schedule.cost, estimate=str(estimate(request.workload))))
