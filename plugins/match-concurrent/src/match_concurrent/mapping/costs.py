"""Costs of parts of operators: the scheduling engine's answers, and estimates between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment
from match_core.schedule.candidates import FORCED_STAGING_PART, plain

from match_concurrent.mapping.parts import Part
from match_concurrent.share import share_of

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.scheduling import Scheduling
    from match_core.contract.workload import Workload

#: Cycles of a part that has no schedule: more than any program, and small enough that sums stay in 64 bits.
IMPOSSIBLE = 1 << 44


@dataclass
class ShareCosts:
    """Costs of parts: exact for requested sizes (``confirm``), interpolated linearly between them.

    A cost grows about linearly with the size, in small steps if cores or lanes are not all busy. Outside the known
    sizes the line through the two nearest is extrapolated, but not below the proportional cost of the nearest."""

    offered: Sequence[Assignment]
    scheduling: Scheduling
    _confirmed: dict[Part, Assignment | None] = field(default_factory=dict)
    _tables: dict[tuple[int, str], dict[int, tuple[int, float]]] = field(default_factory=dict)
    _sorted: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    _estimates: dict[Part, tuple[int, float]] = field(default_factory=dict)
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

    def is_known(self, part: Part) -> bool:
        """Whether a part of this size, here or elsewhere along the dimension, was requested and has a schedule."""
        if not part.dim or part in self._confirmed:
            return not part.dim or self._confirmed[part] is not None
        return part.size in self._table(part.offer, part.dim)

    def assignment(self, part: Part) -> Assignment | None:
        """The part with its schedule; None if it has none. KeyError if it was not confirmed."""
        return self._confirmed[part] if part.dim else self.offered[part.offer]

    def cycles(self, part: Part) -> int:
        """Modelled cycles of the part."""
        return self.of(part)[0]

    def of(self, part: Part) -> tuple[int, float]:
        """(cycles, energy in pJ) of the part; the energy is 0 if the unit publishes none."""
        known = self._estimates.get(part)
        if known is None:
            known = self._estimates[part] = self._found(part)
        return known

    def least_rate(self, offer: int) -> float:
        """The least cycles, scaled to the whole operator, over all known sizes: no part is cheaper relative to its
        size, because a line between two known costs has its least ratio at one of its ends."""
        rates = [float(_cost(self.offered[offer])[0])]
        for dim in self.offered[offer].candidate.workload.dims:
            table = self._tables.get((self.alike(offer), dim.name), {})
            rates += [cycles * dim.size / part for part, (cycles, _) in table.items()]
        return min(rates)

    def least(self, offer: int, dim: str, size: int) -> int:
        """A lower bound of the cycles of any part of that size."""
        return self._between(offer, dim, size)[0]

    def least_cycles(self, offer: int) -> int:
        """A lower bound of the cycles of any part of the operator on the candidate's unit."""
        costs = [_cost(self.offered[offer])[0]]
        owner = self.alike(offer)
        for dim in self.offered[offer].candidate.workload.dims:
            if sizes := self._sorted.get((owner, dim.name)):
                costs.append(self._between(owner, dim.name, min(self._granularity(owner, dim.name), sizes[0]))[0])
                costs += [cycles for cycles, _ in self._tables[owner, dim.name].values()]
        return min(costs)

    def _granularity(self, offer: int, dim: str) -> int:
        return max(1, self.offered[offer].candidate.workload.dim(dim).granularity)

    def _found(self, part: Part) -> tuple[int, float]:
        if not part.dim:
            return _cost(self.offered[part.offer])
        if part in self._confirmed:
            assignment = self._confirmed[part]
            return (IMPOSSIBLE, 0.0) if assignment is None else _cost(assignment)
        return self._between(part.offer, part.dim, part.size)

    def _between(self, offer: int, dim: str, size: int) -> tuple[int, float]:
        table = self._table(offer, dim)
        sizes = self._sorted[self.alike(offer), dim]
        place = bisect_left(sizes, size)
        if place < len(sizes) and sizes[place] == size:
            return table[size]
        if place == 0 or place == len(sizes):  # outside the known sizes: extrapolate through the two nearest
            near = sizes[0] if place == 0 else sizes[-1]
            proportional = tuple(value * size / near for value in table[near])
            if len(sizes) == 1:
                return round(proportional[0]), proportional[1]
            low, high = sizes[:2] if place == 0 else sizes[-2:]
            cycles, energy = _line(low, table[low], high, table[high], size)
            return round(max(cycles, proportional[0])), max(energy, proportional[1])
        low, high = sizes[place - 1], sizes[place]
        cycles, energy = _line(low, table[low], high, table[high], size)
        return round(cycles), energy

    def _keep(self, part: Part) -> None:
        """Record a size's cost: the least of those at different positions (borders have padding)."""
        assignment = self._confirmed[part]
        if assignment is not None:
            table, found = self._table(part.offer, part.dim), _cost(assignment)
            table[part.size] = min(table.get(part.size, found), found)
            self._sorted[self.alike(part.offer), part.dim] = sorted(table)

    def _table(self, offer: int, dim: str) -> dict[int, tuple[int, float]]:
        offer = self.alike(offer)
        if (offer, dim) not in self._tables:
            size = self._size(offer, dim)
            self._tables[offer, dim] = {size: _cost(self.offered[offer])}
            self._sorted[offer, dim] = [size]
        return self._tables[offer, dim]

    def _size(self, offer: int, dim: str) -> int:
        return self.offered[offer].candidate.workload.dim(dim).size

    def _candidate(self, part: Part) -> Candidate:
        return share_of(self.offered[part.offer].candidate, part.dim, part.first, part.size)

    def _request(self, part: Part, candidate: Candidate) -> ScheduleRequest:
        """The request for a part; it streams constants if the whole operator does."""
        home = self.scheduling.soc.home
        if not self.offered[part.offer].schedule.streamed(home):
            return self.scheduling.request(candidate)
        staging_bytes = self.scheduling.soc.memory(home).size_bytes // FORCED_STAGING_PART
        return self.scheduling.streamed_request(candidate, staging_bytes)


def _cost(assignment: Assignment) -> tuple[int, float]:
    cost = assignment.schedule.cost
    return cost.total_cycles, cost.energy_pj or 0.0


def _line(low: int, first: tuple[int, float], high: int, last: tuple[int, float], size: int) -> tuple[float, float]:
    part = (size - low) / (high - low)
    return first[0] + part * (last[0] - first[0]), first[1] + part * (last[1] - first[1])
