"""The hook of match-schedule: the search, called after the schedules of all other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from match_core.contract.loops import LoopSchedule, ScheduleRequest
    from match_core.contract.scheduling import ScheduleInfeasible

match_contract = 1


@hookimpl(trylast=True)
def match_schedule(request: ScheduleRequest) -> LoopSchedule | ScheduleInfeasible:
    """Search for tile sizes and loop order."""
    from match_schedule.engine import schedule

    return schedule(request)
