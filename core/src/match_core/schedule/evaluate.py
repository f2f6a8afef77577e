"""The core's evaluator: the cost of any schedule, and the schedule of a unit that works in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.cost import Cost
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.validate.schedule import schedule_faults

if TYPE_CHECKING:
    from match_core.contract.scheduling import Answer


def price(request: ScheduleRequest, schedule: LoopSchedule) -> Cost:
    """The modelled cost of a schedule. ValueError for a schedule that cannot run."""
    if schedule.memory is None:
        return _cost_in_place(request)
    # The replay imports numpy, which a program without accelerators does not need.
    from match_core.schedule.timeline import cost_of

    return cost_of(request, schedule.loops, dict(schedule.tile), schedule.placements)


def false_claim(request: ScheduleRequest, answer: Answer) -> str:
    """Why an answer is not a legal schedule, or which cost it claims wrongly; empty if it is correct."""
    if not isinstance(answer, LoopSchedule):
        return ""
    faults = schedule_faults(request.workload, answer, request.unit, request.soc, streamed=request.streamed)
    if faults:
        return f"it cannot run: {'; '.join(faults)}"
    try:
        found = price(request, answer)
    except ValueError as error:
        return f"it cannot run: {error}"
    if found == answer.cost:
        return ""
    claimed = answer.cost
    if (claimed.total_cycles, claimed.energy_pj) != (found.total_cycles, found.energy_pj):
        return f"it claims {_figures(claimed)}, the evaluator finds {_figures(found)}"
    return f"it claims {claimed}, the evaluator finds {found}"


def _figures(cost: Cost) -> str:
    return f"{cost.total_cycles} cycles" + ("" if cost.energy_pj is None else f" and {cost.energy_pj:.0f} pJ")


def in_place(request: ScheduleRequest) -> LoopSchedule:
    """The schedule of a unit that works in place: one kernel call on the whole workload."""
    return LoopSchedule(
        loops=(),
        tile=tuple((dim.name, dim.size) for dim in request.workload.dims),
        placements=(),
        scratch_offset_bytes=0,
        scratch_bytes=0,
        memory=None,
        working_bytes=(),
        cost=_cost_in_place(request),
    )


def _cost_in_place(request: ScheduleRequest) -> Cost:
    import numpy as np

    workload, model = request.workload, request.cost_model
    tile = {dim.name: np.array([dim.size], dtype=np.int64) for dim in workload.dims}
    return Cost(
        compute_cycles=int(model.kernel_cycles(workload, tile)[0]),
        launch_cycles=int(model.launch_cycles(workload, tile)[0]),
        sync_cycles=model.layer_cycles(workload),
        energy_pj=None if model.energy is None else float(model.energy.kernel_energy_pj(workload, tile)[0]),
        model=f"{model.name} {model.version}",
        bound=model.bound,
    )
