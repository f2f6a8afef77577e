"""The core's scheduling engine, registered like anybody else's and asked last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from match_core.schedule.infeasible import ScheduleInfeasible
    from match_core.schedule.loops import LoopSchedule, ScheduleRequest

match_contract = 1


@hookimpl(trylast=True)
def match_schedule(request: ScheduleRequest) -> LoopSchedule | ScheduleInfeasible:
    """Search tiles and loop order with the core's engine."""
    from match_core.schedule.engine import schedule

    return schedule(request)
