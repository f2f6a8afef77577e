"""The core's scheduler: the entry point, schedules that need no search, and memoisation by content."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from match_core.cost import Cost
from match_core.schedule.infeasible import ScheduleInfeasible
from match_core.schedule.loops import LoopSchedule, ScheduleRequest
from match_core.schedule.space import whole_tile

if TYPE_CHECKING:
    from match_core.schedule.workload import Workload

Answer = LoopSchedule | ScheduleInfeasible


@dataclass
class ScheduleCache:
    """Answers by the content of their requests, for one run of the compiler: its owner passes it along."""

    answers: dict[Hashable, Answer] = field(default_factory=dict)
    hits: int = 0

    def answer(self, request: ScheduleRequest, solve: Callable[[ScheduleRequest], Answer]) -> Answer:
        """The known answer, else what ``solve`` says. A cost model is taken to be determined by the Soc, the
        unit, the pattern and its own name and version."""
        model = request.cost_model
        names = (request.soc.name, request.unit, request.pattern, model.name, model.version)
        key = (*names, request.memory_bytes, request.workload)
        if key in self.answers:
            self.hits += 1
        else:
            self.answers[key] = solve(request)
        return self.answers[key]


def schedule(request: ScheduleRequest, cache: ScheduleCache | None = None) -> Answer:
    """Schedule one workload on one unit.

    A unit with a memory of its own gets the tiling and loop order with the least predicted cycles whose
    working set fits ``request.memory_bytes``; a unit that works in place gets a schedule without loops.
    ScheduleInfeasible is an answer, not an error: the candidate is then refused. Deterministic; takes
    milliseconds.
    """
    return _solve(request) if cache is None else cache.answer(request, _solve)


def _solve(request: ScheduleRequest) -> Answer:
    if request.unit.memory is None:
        return _in_place(request)
    # The tiler needs numpy; a program without accelerators does not.
    from match_core.schedule.tiler import tile

    return tile(request, request.unit.memory)


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
        model=f"{model.name} {model.version}",
        bound=model.bound,
    )
    return _without_loops(workload, cost)
