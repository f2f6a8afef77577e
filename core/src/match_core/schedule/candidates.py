"""Schedules for all candidates of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from match_core.errors import UsageError
from match_core.mapping.result import Assignment, Candidate, Candidates, Refusal
from match_core.schedule.geometry import far_bytes
from match_core.schedule.loops import LoopSchedule, Objective, ScheduleRequest
from match_core.schedule.search import Parallel, answers_to

if TYPE_CHECKING:
    from match_core.hardware import Soc, Unit
    from match_core.observe import Facts, Watch
    from match_core.plugin.host import Plugins
    from match_core.schedule.cache import ScheduleCache
    from match_core.schedule.engine import Answer
    from match_core.schedule.workload import Workload


#: Constants are streamed that have at least so many bytes, and at least this part of all that their layer has: what a
#: channel needs besides its weights is not worth copies of its own.
STREAMED_MIN_BYTES = 1024
STREAMED_MIN_PART = 8
#: The part of the home memory through which constants are streamed that exceed all of it.
FORCED_STAGING_PART = 4


@dataclass(frozen=True)
class Scheduler:
    """Asks for schedules of one compilation: for its Soc, units and objective, through its cache, in up to ``jobs``
    processes (None: as many as pay). ``watch`` is told how far it got."""

    soc: Soc
    units: tuple[Unit, ...]
    objective: Objective
    plugins: Plugins
    cache: ScheduleCache
    jobs: int | None = 1
    watch: Watch | None = None

    @property
    def blocking_units(self) -> frozenset[str]:
        """The units other than the host that have no dispatch loop: beside others it is the host that runs their tasks,
        and waits for each."""
        others = (unit for unit in self.units if unit.name != self.soc.host)
        return frozenset(unit.name for unit in others if self.plugins.emit_api(self.soc, unit).queue is None)

    def progress(self, facts: Facts) -> None:
        """Tell how far the work got, if anybody wants to know."""
        if self.watch is not None:
            self.watch.progress(facts)

    def request(self, candidate: Candidate, streamed: tuple[str, ...] = (), staging_bytes: int = 0) -> ScheduleRequest:
        """The request for a candidate; ``streamed`` operands lie in the Soc's store."""
        unit = next(unit for unit in self.units if unit.name == candidate.unit)
        _, budget = self.soc.part_of(unit)
        cost = self.plugins.cost(self.soc, unit, candidate.pattern)
        name, workload = candidate.pattern.name, plain(candidate.workload)
        return ScheduleRequest(self.soc, unit, name, workload, cost, budget, self.objective, streamed, staging_bytes)

    def schedule_all(self, candidates: Candidates) -> tuple[tuple[Assignment, ...], tuple[Refusal, ...]]:
        """Every candidate that has a schedule, and a refusal for every one that does not fit. UsageError MATCH-U028
        where the objective needs energy figures that a unit does not publish."""
        requests = [self._first_request(candidate) for candidate in candidates.legal]
        self._check_energy((c, r.cost_model.energy) for c, r in zip(candidates.legal, requests, strict=True))
        assignments: list[Assignment] = []
        refused: list[Refusal] = []
        for candidate, answer in zip(candidates.legal, self.answers(requests), strict=True):
            if isinstance(answer, LoopSchedule):
                assignments.append(Assignment(candidate, answer))
            else:
                refused.append(answer.as_refusal(candidate.unit, candidate.pattern.name, candidate.node_names))
        self._check_energy((a.candidate, a.schedule.cost.energy_pj) for a in assignments)
        return tuple(assignments), tuple(refused)

    def streamed_request(self, candidate: Candidate, staging_bytes: int) -> ScheduleRequest:
        """The request with the large constants in the Soc's store and so many bytes of the home memory to pass."""
        return self.request(candidate, _streamable(candidate), staging_bytes)

    def answers(self, requests: Sequence[ScheduleRequest]) -> tuple[Answer, ...]:
        """One answer per request, in their order."""
        parallel = Parallel(self.plugins.portable, self.jobs) if self.plugins.schedules_by_core else None
        return answers_to(requests, self.plugins.schedule, self.cache, parallel, self.watch)

    def can_stream(self, candidate: Candidate) -> bool:
        """Whether the candidate's unit copies from the Soc's store and there is something worth it."""
        return candidate.unit in self._storing and bool(_streamable(candidate))

    @cached_property
    def _storing(self) -> frozenset[str]:
        """The units that copy from the Soc's store."""
        if self.soc.store is None:
            return frozenset()
        tiling = [unit for unit in self.units if unit.memory is not None]
        return frozenset(unit.name for unit in tiling if self.plugins.emit_api(self.soc, unit).store is not None)

    def validate(self, assignments: Iterable[Assignment]) -> None:
        """InvalidScheduleError where a schedule breaks its contract, whoever made it or kept it."""
        from match_core.schedule.validate import validate_schedule

        by_name = {unit.name: unit for unit in self.units}
        for assignment in assignments:
            candidate, schedule = assignment.candidate, assignment.schedule
            streamed = schedule.streamed(self.soc.home)
            validate_schedule(candidate.workload, schedule, by_name[candidate.unit], self.soc, streamed=streamed)

    def _first_request(self, candidate: Candidate) -> ScheduleRequest:
        """Resident constants; streamed at once where they alone exceed the home memory."""
        home = self.soc.memory(self.soc.home)
        constants = sum(far_bytes(o) for o in candidate.workload.operands if o.role == "constant")
        if constants > home.size_bytes and self.can_stream(candidate):
            return self.streamed_request(candidate, home.size_bytes // FORCED_STAGING_PART)
        return self.request(candidate)

    def _check_energy(self, candidates: Iterable[tuple[Candidate, object]]) -> None:
        """UsageError MATCH-U028 where something but a view comes with None for its energy."""
        needed = {candidate.unit for candidate, energy in candidates if energy is None and not candidate.pattern.view}
        lacking = [unit.name for unit in self.units if unit.name in needed]
        if self.objective == "latency" or not lacking:
            return
        spared = len(lacking) < len(self.units)
        raise UsageError(
            code="MATCH-U028",
            what=f"the objective {self.objective} cannot be minimised",
            where=f"option --objective, target {self.soc.name}",
            why=f"no energy figures are published for {', '.join(lacking)}",
            help=("use --objective latency", *(f"leave the unit out: --without-unit {n}" for n in lacking if spared)),
        )


def plain(workload: Workload) -> Workload:
    """The workload without the places of its views and without its arithmetic, which change nothing in a schedule:
    shares that only lie elsewhere, and layers that only compute with other numbers, are searched once."""
    operands = tuple(replace(operand, base=0) for operand in workload.operands)
    return replace(workload, operands=operands, arithmetic=())


def _streamable(candidate: Candidate) -> tuple[str, ...]:
    """The constant operands that are large enough to be streamed."""
    sizes = {o.name: far_bytes(o) for o in candidate.workload.operands if o.role == "constant"}
    least = max(STREAMED_MIN_BYTES, sum(sizes.values()) // STREAMED_MIN_PART)
    return tuple(name for name, size in sizes.items() if size >= least)
