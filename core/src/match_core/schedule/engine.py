"""The core's scheduler: the entry point, and schedules that need no search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.cost import Cost
from match_core.schedule.infeasible import ScheduleInfeasible
from match_core.schedule.loops import LoopSchedule, ScheduleRequest
from match_core.schedule.space import whole_tile

if TYPE_CHECKING:
    from match_core.schedule.cache import ScheduleCache
    from match_core.schedule.workload import Workload

Answer = LoopSchedule | ScheduleInfeasible


def schedule(request: ScheduleRequest, cache: ScheduleCache | None = None) -> Answer:
    """Schedule one workload on one unit.

    A unit with a memory of its own gets the schedule with the least modelled cycles (or energy, or product of both)
    that fits the budgets; a unit that works in place gets a schedule without loops. ScheduleInfeasible is an answer,
    not an error: the candidate is then refused. Deterministic; takes milliseconds.
    """
    if cache is None:
        return _solve(request)
    key = cache.key(request)
    return cache.find(key) or cache.keep(key, _solve(request))


def _solve(request: ScheduleRequest) -> Answer:
    if request.unit.memory is None:
        return _in_place(request)
    # The search needs numpy; a program without accelerators does not.
    from match_core.schedule.optimum import best_schedule

    return best_schedule(request, request.unit.memory)


def view_schedule(workload: Workload) -> LoopSchedule:
    """The schedule of a pattern that is only another shape of its input's bytes: nothing runs."""
    return _without_loops(workload, Cost(model="view", bound="exact"))


def _without_loops(workload: Workload, cost: Cost) -> LoopSchedule:
    return LoopSchedule(
        loops=(),
        tile=whole_tile(workload),
        placements=(),
        scratch_offset_bytes=0,
        scratch_bytes=0,
        memory=None,
        working_bytes=(),
        cost=cost,
    )


def _in_place(request: ScheduleRequest) -> LoopSchedule:
    import numpy as np

    workload, model = request.workload, request.cost_model
    tile = {dim.name: np.array([dim.size], dtype=np.int64) for dim in workload.dims}
    cost = Cost(
        compute_cycles=int(model.kernel_cycles(workload, tile)[0]),
        launch_cycles=int(model.launch_cycles(workload, tile)[0]),
        sync_cycles=model.layer_cycles(workload),
        energy_pj=None if model.energy is None else float(model.energy.kernel_energy_pj(workload, tile)[0]),
        model=f"{model.name} {model.version}",
        bound=model.bound,
    )
    return _without_loops(workload, cost)
