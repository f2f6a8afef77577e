"""Schedules for all candidates of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.errors import UsageError
from match_core.mapping.result import Assignment, Candidate, Candidates, Refusal
from match_core.schedule.loops import LoopSchedule, Objective, ScheduleRequest
from match_core.schedule.search import answers_to

if TYPE_CHECKING:
    from match_core.hardware import Soc, Unit
    from match_core.plugin.host import Plugins
    from match_core.schedule.cache import ScheduleCache


@dataclass(frozen=True)
class Scheduler:
    """Asks for schedules of one compilation: for its Soc, units and objective, through its cache."""

    soc: Soc
    units: tuple[Unit, ...]
    objective: Objective
    plugins: Plugins
    cache: ScheduleCache

    def request(self, candidate: Candidate, streamed: tuple[str, ...] = (), staging_bytes: int = 0) -> ScheduleRequest:
        """The request for a candidate; ``streamed`` operands lie in the Soc's store."""
        unit = next(unit for unit in self.units if unit.name == candidate.unit)
        budget = self.soc.memory(unit.memory).size_bytes if unit.memory else 0
        cost = self.plugins.cost(self.soc, unit, candidate.pattern)
        name, workload = candidate.pattern.name, candidate.workload
        return ScheduleRequest(self.soc, unit, name, workload, cost, budget, self.objective, streamed, staging_bytes)

    def schedule_all(self, candidates: Candidates) -> tuple[tuple[Assignment, ...], tuple[Refusal, ...]]:
        """Every candidate that has a schedule, and a refusal for every one that does not fit. UsageError MATCH-U028
        where the objective needs energy figures that a unit does not publish."""
        requests = [self.request(candidate) for candidate in candidates.legal]
        if self.objective != "latency":
            self._check_energy(candidates, requests)
        assignments: list[Assignment] = []
        refused: list[Refusal] = []
        for candidate, answer in zip(
            candidates.legal, answers_to(requests, self.plugins.schedule, self.cache), strict=True
        ):
            if isinstance(answer, LoopSchedule):
                assignments.append(Assignment(candidate, answer))
            else:
                refused.append(answer.as_refusal(candidate.unit, candidate.pattern.name, candidate.node_names))
        return tuple(assignments), tuple(refused)

    def _check_energy(self, candidates: Candidates, requests: list[ScheduleRequest]) -> None:
        pairs = zip(candidates.legal, requests, strict=True)
        needed = {c.unit for c, request in pairs if request.cost_model.energy is None and not c.pattern.view}
        lacking = [unit.name for unit in self.units if unit.name in needed]
        spared = len(lacking) < len(self.units)
        if lacking:
            raise UsageError(
                code="MATCH-U028",
                what=f"the objective {self.objective} cannot be minimised",
                where=f"option --objective, target {self.soc.name}",
                why=f"no energy figures are published for {', '.join(lacking)}",
                help=(
                    "use --objective latency",
                    *(f"leave the unit out: --without-unit {n}" for n in lacking if spared),
                ),
            )
