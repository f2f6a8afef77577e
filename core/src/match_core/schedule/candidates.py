"""Schedules for all candidates of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from match_core.contract.candidate import Candidate, Candidates, Refusal
from match_core.contract.errors import UsageError
from match_core.contract.geometry import far_bytes
from match_core.contract.loops import LoopSchedule, Objective, ScheduleRequest
from match_core.contract.mapping import Assignment
from match_core.schedule.evaluate import false_claim
from match_core.schedule.search import Parallel, answers_to
from match_core.validate.schedule import validate_schedule

if TYPE_CHECKING:
    from match_core.contract.cost import CostModel
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.observe import Facts, Watch
    from match_core.contract.pattern import Pattern
    from match_core.contract.scheduling import Answer
    from match_core.contract.workload import Workload
    from match_core.plugin.facade import Plugins
    from match_core.schedule.cache import ScheduleCache


#: Constants are streamed if they have at least this many bytes and at least this part of their layer's constants: the
#: parameters of a channel besides its weights are not worth copies of their own.
STREAMED_MIN_BYTES = 1024
STREAMED_MIN_PART = 8
#: The part of the home memory for streaming constants that exceed the whole memory.
FORCED_STAGING_PART = 4


@dataclass(frozen=True)
class Scheduler:
    """Requests schedules for one compilation: for its Soc, units and objective, through its cache, in up to ``jobs``
    processes (None: as many as reduce the time). ``watch`` receives the progress."""

    soc: Soc
    units: tuple[Unit, ...]
    objective: Objective
    plugins: Plugins
    cache: ScheduleCache
    jobs: int | None = 1
    watch: Watch | None = None
    _costs: dict[tuple[str, int], tuple[Pattern, CostModel]] = field(default_factory=dict, compare=False, repr=False)
    _valid: set[tuple[str, Workload, LoopSchedule]] = field(default_factory=set, compare=False, repr=False)

    @property
    def blocking_units(self) -> frozenset[str]:
        """The units other than the host that have no dispatch loop: in a concurrent program the host runs their tasks
        and waits for each."""
        others = (unit for unit in self.units if unit.name != self.soc.host)
        return frozenset(unit.name for unit in others if self.plugins.emit_api(self.soc, unit).queue is None)

    def progress(self, facts: Facts) -> None:
        """Report the progress, if there is a watch."""
        if self.watch is not None:
            self.watch.progress(facts)

    def request(self, candidate: Candidate, streamed: tuple[str, ...] = (), staging_bytes: int = 0) -> ScheduleRequest:
        """The request for a candidate; ``streamed`` operands are in the Soc's store."""
        unit = next(unit for unit in self.units if unit.name == candidate.unit)
        _, budget = part_of(self.soc, unit, candidate)
        pattern, place = candidate.pattern, (unit.name, id(candidate.pattern))
        if place not in self._costs:
            self._costs[place] = (pattern, self.plugins.cost(self.soc, unit, pattern))
        asked = (pattern.name, plain(candidate.workload), self._costs[place][1], budget, self.objective)
        return ScheduleRequest(self.soc, unit, *asked, streamed, staging_bytes)

    def key(self, candidate: Candidate) -> str:
        """Digest of everything that the candidate's schedule depends on."""
        return self.cache.key(self.request(candidate))

    def schedule_all(self, candidates: Candidates) -> tuple[tuple[Assignment, ...], tuple[Refusal, ...]]:
        """Every candidate that has a schedule, and a refusal for every one that does not fit. Where the objective
        requires energy figures, candidates of units that publish none are left out; UsageError MATCH-U028 if nothing
        else runs a node."""
        beyond = [refusal for candidate in candidates.legal for refusal in self._beyond(candidate)]
        legal = [candidate for candidate in candidates.legal if not beyond or not any(self._beyond(candidate))]
        asked = [(candidate, self._first_request(candidate)) for candidate in legal]
        if self.objective != "latency":
            asked = [(c, r) for c, r in asked if c.pattern.view or r.cost_model.energy is not None]
            covered = {name for candidate, _ in asked for name in candidate.node_names}
            self._check_energy((c, None) for c in candidates.legal if not covered.issuperset(c.node_names))
        assignments: list[Assignment] = []
        refused = beyond
        for (candidate, _), answer in zip(asked, self.answers([request for _, request in asked]), strict=True):
            if isinstance(answer, LoopSchedule):
                assignments.append(Assignment(candidate, answer))
            else:
                refused.append(answer.as_refusal(candidate.unit, candidate.pattern.name, candidate.node_names))
        self._check_energy((a.candidate, a.schedule.cost.energy_pj) for a in assignments)
        return tuple(assignments), tuple(refused)

    def _beyond(self, candidate: Candidate) -> Iterator[Refusal]:
        """Refusals of a candidate that alone holds more than a memory has; a board may lack the memory."""
        for name, size in candidate.workload.holds:
            if size > (have := self.soc.held_bytes.get(name, 0)):
                value = f"it holds {size} bytes of {have}"
                yield Refusal(candidate.unit, candidate.pattern.name, candidate.node_names, f"fits {name}", value)

    def streamed_request(self, candidate: Candidate, staging_bytes: int) -> ScheduleRequest:
        """The request with large constants streamed from the Soc's store through ``staging_bytes`` of the home
        memory."""
        return self.request(candidate, _streamable(candidate), staging_bytes)

    def answers(self, requests: Sequence[ScheduleRequest]) -> tuple[Answer, ...]:
        """One answer per request, in their order."""
        parallel = Parallel(self.plugins.portable, self.jobs) if self.plugins.reloadable else None
        return answers_to(requests, self._answer, self.cache, parallel, self.watch)

    def _answer(self, request: ScheduleRequest) -> Answer:
        return self.plugins.schedule(request, partial(false_claim, request))

    def can_stream(self, candidate: Candidate) -> bool:
        """Whether the candidate's unit copies from the Soc's store and has constants that are worth streaming."""
        return candidate.unit in self._storing and bool(_streamable(candidate))

    @cached_property
    def _storing(self) -> frozenset[str]:
        """The units that copy from the Soc's store."""
        if self.soc.store is None:
            return frozenset()
        tiling = [unit for unit in self.units if unit.memory is not None]
        return frozenset(unit.name for unit in tiling if self.plugins.emit_api(self.soc, unit).store is not None)

    def validate(self, assignments: Iterable[Assignment]) -> None:
        """InvalidScheduleError if a schedule breaks its contract, whether new or cached; each is checked once."""
        by_name = {unit.name: unit for unit in self.units}
        given = (
            (a.candidate.unit, replace(a.candidate.workload, arithmetic=(), holds=()), a.schedule) for a in assignments
        )
        for item in dict.fromkeys(given):
            if item not in self._valid:
                unit, workload, schedule = item
                streamed = schedule.streamed(self.soc.home)
                validate_schedule(workload, schedule, by_name[unit], self.soc, streamed=streamed)
                self._valid.add(item)

    def _first_request(self, candidate: Candidate) -> ScheduleRequest:
        """Resident constants; streamed from the start if they alone exceed the home memory."""
        home = self.soc.memory(self.soc.home)
        constants = sum(far_bytes(o) for o in candidate.workload.operands if o.role == "constant")
        if constants > home.size_bytes and self.can_stream(candidate):
            return self.streamed_request(candidate, home.size_bytes // FORCED_STAGING_PART)
        return self.request(candidate)

    def _check_energy(self, candidates: Iterable[tuple[Candidate, object]]) -> None:
        """UsageError MATCH-U028 if the energy of a candidate that is not a view is None."""
        needed = {candidate.unit for candidate, energy in candidates if energy is None and not candidate.pattern.view}
        lacking = [unit.name for unit in self.units if unit.name in needed]
        if self.objective == "latency" or not lacking:
            return
        raise UsageError(
            code="MATCH-U028",
            what=f"the objective {self.objective} cannot be minimised",
            where=f"option --objective, target {self.soc.name}",
            why=f"no energy figures are published for {', '.join(lacking)}",
            help=("use --objective latency",),
        )


def part_of(soc: Soc, unit: Unit, candidate: Candidate) -> tuple[int, int]:
    """(offset, bytes) of the unit's memory that the candidate may use: from the first to the last part of its units."""
    parts = [soc.part_of(replace(unit, name=name)) for name in candidate.units]
    first = min(offset for offset, _ in parts)
    return first, max(offset + size for offset, size in parts) - first


def plain(workload: Workload) -> Workload:
    """The workload without the positions of its views and without its arithmetic, which do not affect schedules: shares
    that differ in position only, and layers that differ in arithmetic only, are searched once."""
    operands = tuple(replace(operand, base=0) for operand in workload.operands)
    return replace(workload, operands=operands, arithmetic=(), holds=())


def _streamable(candidate: Candidate) -> tuple[str, ...]:
    """The constant operands that are large enough to be streamed."""
    sizes = {o.name: far_bytes(o) for o in candidate.workload.operands if o.role == "constant"}
    least = max(STREAMED_MIN_BYTES, sum(sizes.values()) // STREAMED_MIN_PART)
    return tuple(name for name, size in sizes.items() if size >= least)
