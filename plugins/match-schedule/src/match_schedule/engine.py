"""The entry point of the schedule search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.schedule.evaluate import in_place

if TYPE_CHECKING:
    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.scheduling import Answer
    from match_core.schedule.cache import ScheduleCache


def schedule(request: ScheduleRequest, cache: ScheduleCache | None = None) -> Answer:
    """Schedule one workload on one unit.

    A unit with its own memory gets the schedule with the least modelled cycles (or energy, or product of both) that
    fits the budgets; a unit that works in place gets a schedule without loops. ScheduleInfeasible is an answer, not an
    error: the candidate is then refused. Deterministic; takes milliseconds.
    """
    if cache is None:
        return _solve(request)
    key = cache.key(request)
    return cache.find(key) or cache.keep(key, _solve(request))


def _solve(request: ScheduleRequest) -> Answer:
    if request.unit.memory is None:
        return in_place(request)
    # The search imports numpy, which programs without accelerators can save.
    from match_schedule.optimum import best_schedule

    return best_schedule(request, request.unit.memory)
