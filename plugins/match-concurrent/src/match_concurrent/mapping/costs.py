"""Costs of parts of operators: the scheduling engine's answers, prices of others, and estimates between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment
from match_core.schedule.candidates import FORCED_STAGING_PART, plain

from match_concurrent.mapping.cost_table import CostTable, Price
from match_concurrent.mapping.parts import Part
from match_concurrent.mapping.rescaled import rescaled_cost
from match_concurrent.share import share_of

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.scheduling import Scheduling
    from match_core.contract.workload import Workload

#: Cycles of a part that has no schedule: more than any program, and small enough that sums stay in 64 bits.
IMPOSSIBLE = 1 << 44
#: An operator on a unit, and one of its dimensions.
Line = tuple[int, str]


@dataclass
class ShareCosts:
    """Costs of parts: exact for requested sizes (``confirm``), priced for others (``probe``, seldom too low),
    interpolated between these. Bounds rest on exact ones only."""

    offered: Sequence[Assignment]
    scheduling: Scheduling
    _confirmed: dict[Part, Assignment | None] = field(default_factory=dict)
    _exact: dict[Line, CostTable] = field(default_factory=dict)
    _rough: dict[Line, CostTable] = field(default_factory=dict)
    #: By line and size, the schedule that the exact cost is of.
    _schedules: dict[tuple[Line, int], LoopSchedule] = field(default_factory=dict)
    _estimates: dict[Part, Price] = field(default_factory=dict)
    _alike: list[int] = field(default_factory=list)
    #: How often costs changed.
    changes: int = 0

    def alike(self, offer: int) -> int:
        """The first offer of the same workload on the same unit, whose parts all cost the same."""
        if not self._alike:
            first: dict[tuple[str, str, Workload], int] = {}
            for number, assignment in enumerate(self.offered):
                candidate = assignment.candidate
                key = (candidate.unit, candidate.pattern.name, plain(candidate.workload))
                same = first.setdefault(key, number)
                # Its schedule differs from that of an equal offer: its constants are streamed.
                differs = assignment.schedule != self.offered[same].schedule
                self._alike.append(number if differs else same)
        return self._alike[offer]

    def confirm(self, parts: Iterable[Part]) -> bool:
        """Request schedules of these parts; returns whether any of them was unknown."""
        new = [part for part in dict.fromkeys(parts) if part.dim and part not in self._confirmed]
        candidates = [self._candidate(part) for part in new]
        requests = [self._request(part, candidate) for part, candidate in zip(new, candidates, strict=True)]
        for part, candidate, answer in zip(new, candidates, self.scheduling.answers(requests), strict=True):
            fits = isinstance(answer, LoopSchedule)
            self._confirmed[part] = Assignment(candidate, answer) if isinstance(answer, LoopSchedule) else None
            if fits:
                self._keep(part)
        self._estimates.clear()
        self.changes += 1
        return bool(new)

    def probe(self, parts: Iterable[Part], doubted: float = inf) -> bool:
        """Price these parts with the schedule of the nearest exact size; those that it does not fit are confirmed, and
        those whose price is above the line between exact costs by more than the part ``doubted``. Returns whether any
        of them was unknown."""
        new = [part for part in dict.fromkeys(parts) if part.dim and not self.is_known(part)]
        smallest: dict[Line, Part] = {}  # with the exact costs of the smallest ones, those of the others are lines
        for part in sorted(new, key=lambda part: part.size):
            smallest.setdefault((self.alike(part.offer), part.dim), part)
        for batch in (smallest.values(), new):
            left = [part for part in batch if not self.is_known(part) and not self._priced(part, doubted)]
            if batch:
                self.confirm(left)  # if there are none, estimates between the prices change nevertheless
        return bool(new)

    def is_known(self, part: Part) -> bool:
        """Whether a part of this size, here or elsewhere along the dimension, was requested and has a schedule."""
        if not part.dim or part in self._confirmed:
            return not part.dim or self._confirmed[part] is not None
        return part.size in self._rough_of(part.offer, part.dim).known

    def assignment(self, part: Part) -> Assignment | None:
        """The part with its schedule; None if it has none. KeyError if it was not confirmed."""
        return self._confirmed[part] if part.dim else self.offered[part.offer]

    def cycles(self, part: Part) -> int:
        """Modelled cycles of the part."""
        return self.of(part)[0]

    def of(self, part: Part) -> Price:
        """(cycles, energy in pJ) of the part; the energy is 0 if the unit publishes none."""
        known = self._estimates.get(part)
        if known is None:
            known = self._estimates[part] = self._found(part)
        return known

    def least_rate(self, offer: int) -> float:
        """The least cycles, scaled to the whole operator, over all exact sizes: no part is cheaper relative to its
        size, because a line between two known costs has its least ratio at one of its ends."""
        rates = [float(_cost(self.offered[offer])[0])]
        for dim in self.offered[offer].candidate.workload.dims:
            if table := self._exact.get((self.alike(offer), dim.name)):
                rates += [cycles * dim.size / part for part, (cycles, _) in table.known.items()]
        return min(rates)

    def least(self, offer: int, dim: str, size: int) -> int:
        """A lower bound of the cycles of any part of that size."""
        return self._exact_of(offer, dim).at(size)[0]

    def least_cycles(self, offer: int) -> int:
        """A lower bound of the cycles of any part of the operator on the candidate's unit."""
        costs = [_cost(self.offered[offer])[0]]
        for dim in self.offered[offer].candidate.workload.dims:
            if table := self._exact.get((self.alike(offer), dim.name)):
                costs.append(table.at(min(max(1, dim.granularity), table.sizes[0]))[0])
                costs += [cycles for cycles, _ in table.known.values()]
        return min(costs)

    def _found(self, part: Part) -> Price:
        if not part.dim:
            return _cost(self.offered[part.offer])
        if part in self._confirmed:
            assignment = self._confirmed[part]
            return (IMPOSSIBLE, 0.0) if assignment is None else _cost(assignment)
        return self._rough_of(part.offer, part.dim).at(part.size)

    def _keep(self, part: Part) -> None:
        """Record a size's exact cost: the least of those at different positions (borders have padding)."""
        assignment = self._confirmed[part]
        if assignment is not None:
            exact, found = self._exact_of(part.offer, part.dim), _cost(assignment)
            if found <= exact.known.get(part.size, found):
                exact.keep(part.size, found)
                self._rough_of(part.offer, part.dim).keep(part.size, found)
                self._schedules[(self.alike(part.offer), part.dim), part.size] = assignment.schedule

    def _priced(self, part: Part, doubted: float) -> bool:
        exact = self._exact_of(part.offer, part.dim)
        near = exact.nearest(part.size)
        known = self._schedules.get(((self.alike(part.offer), part.dim), near), self.offered[part.offer].schedule)
        cost = rescaled_cost(self._request(part, self._candidate(part)), known, part.dim)
        if cost is None or cost.total_cycles > (1 + doubted) * exact.at(part.size)[0]:
            return False
        self._rough_of(part.offer, part.dim).keep(part.size, (cost.total_cycles, cost.energy_pj or 0.0))
        return True

    def _exact_of(self, offer: int, dim: str) -> CostTable:
        return self._table(self._exact, offer, dim)

    def _rough_of(self, offer: int, dim: str) -> CostTable:
        """Exact costs, and prices."""
        return self._table(self._rough, offer, dim)

    def _table(self, tables: dict[Line, CostTable], offer: int, dim: str) -> CostTable:
        offer = self.alike(offer)
        if (offer, dim) not in tables:
            size = self.offered[offer].candidate.workload.dim(dim).size
            tables[offer, dim] = CostTable({size: _cost(self.offered[offer])})
        return tables[offer, dim]

    def _candidate(self, part: Part) -> Candidate:
        return share_of(self.offered[part.offer].candidate, part.dim, part.first, part.size)

    def _request(self, part: Part, candidate: Candidate) -> ScheduleRequest:
        """The request for a part; it streams constants if the whole operator does."""
        home = self.scheduling.soc.home
        if not self.offered[part.offer].schedule.streamed(home):
            return self.scheduling.request(candidate)
        staging_bytes = self.scheduling.soc.memory(home).size_bytes // FORCED_STAGING_PART
        return self.scheduling.streamed_request(candidate, staging_bytes)


def _cost(assignment: Assignment) -> Price:
    cost = assignment.schedule.cost
    return cost.total_cycles, cost.energy_pj or 0.0
