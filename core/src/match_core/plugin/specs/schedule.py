# mypy: disable-error-code="empty-body"
"""How a workload is tiled and ordered on a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from match_core.contract.loops import LoopSchedule, ScheduleRequest
    from match_core.contract.scheduling import ScheduleInfeasible


@hookspec(firstresult=True)
def match_schedule(request: ScheduleRequest) -> LoopSchedule | ScheduleInfeasible | None:
    """Schedule a workload yourself instead of leaving it to the search of another package.

    Called: once per distinct request of a unit with a memory of its own; equal requests (by content) are answered
        from memory, or from the cache on disk until the sources of a package that gives schedules change. So the
        answer must depend on the request only. Requests for units that work in place are not cached.

    Arguments:
        request: Soc, unit, pattern name, workload, cost model, the bytes available in the unit's memory, what to
            minimise, and which constants are streamed through how many bytes of the home memory.

    Returns: a LoopSchedule; None to leave the workload to others; or the ScheduleInfeasible of a search that
        was made and failed, which is stored for the report while the others are still called.

    Several answers: the first LoopSchedule wins; a search for any unit should be called last (``trylast``). The core's
        validator checks every schedule, and its evaluator computes its cost again: a schedule that claims another
        cost is an error of its package.

    Nobody answers: the candidate is refused with the reason of the last ScheduleInfeasible; without one it is an error
        that names the unit.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_schedule(request: ScheduleRequest) -> LoopSchedule | None:
            return fixed_tiles(request) if request.unit.name == "mynpu" else None
    """
