# mypy: disable-error-code="empty-body"
"""How a workload is tiled and ordered on a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.schedule.infeasible import ScheduleInfeasible
    from match_core.schedule.loops import LoopSchedule, ScheduleRequest


@hookspec(firstresult=True)
def match_schedule(request: ScheduleRequest) -> LoopSchedule | ScheduleInfeasible | None:
    """Schedule a workload yourself instead of leaving it to the core's search.

    Called: once per distinct request of a unit with a memory of its own; equal requests (by content) are answered
        from memory, or from the cache on disk until the sources of a package that gives schedules change. So the
        answer must depend on the request only. Units that work in place are asked for without a cache.

    Arguments:
        request: Soc, unit, pattern name, workload, cost model, the bytes available in the unit's memory, what to
            minimise, and which constants are streamed through how many bytes of the home memory.

    Returns: a LoopSchedule; None to leave the workload to others; or the ScheduleInfeasible of a search that
        was made and failed, which is kept for the report while the others are still asked.

    Several answers: the first LoopSchedule wins; the core's engine is asked last. Every schedule is checked
        by the core's validator, whoever made it.

    Nobody answers: the candidate is refused with the reason of the last ScheduleInfeasible; without one (the
        core's engine always gives one) it is an error that names the unit.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_schedule(request: ScheduleRequest) -> LoopSchedule | None:
            return fixed_tiles(request) if request.unit.name == "mynpu" else None
    """
