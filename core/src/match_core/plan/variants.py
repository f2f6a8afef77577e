"""The variants of each task of a mapping: constants in the home memory, or the large ones streamed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from match_core.contract.geometry import far_bytes
from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment
from match_core.plan.packing import aligned
from match_core.plan.streaming import Variant

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate, Share
    from match_core.contract.hardware import Soc
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.scheduling import Scheduling
    from match_core.map.objective import Weighting

#: The work of a task, independent of the unit: its nodes, and which share of them.
_Work = tuple[frozenset[str], Optional["Share"]]

#: Sizes of staging areas for which schedules are requested, as parts of the home memory, the largest first.
STAGING_PARTS = (2, 8, 32)


def resident_bytes(assignment: Assignment, soc: Soc) -> int:
    """Bytes of the constants that a task on a unit with its own memory has in the home memory all the time."""
    if assignment.schedule.memory is None:
        return 0
    streamed = (*assignment.schedule.streamed(soc.home), *assignment.fetched)
    operands = assignment.candidate.workload.operands
    return sum(far_bytes(o) for o in operands if o.role == "constant" and o.name not in streamed)


@dataclass(frozen=True)
class Variants:
    """For each task, the possible assignments, the current one first, and their costs."""

    assignments: tuple[tuple[Assignment, ...], ...]
    costs: tuple[tuple[Variant, ...], ...]

    def pick(self, chosen: Sequence[int]) -> tuple[Assignment, ...]:
        """The assignments of a choice."""
        return tuple(task[index] for task, index in zip(self.assignments, chosen, strict=True))

    def smallest(self) -> tuple[int, ...]:
        """The choice with the fewest bytes of constants, then of staging."""
        keys = [[(v.constant_bytes, v.staging_bytes, i) for i, v in enumerate(task)] for task in self.costs]
        return tuple(min(task)[2] for task in keys)


def variants_of(
    mapping: UnitMapping, offered: Sequence[Assignment], scheduler: Scheduling, weighting: Weighting
) -> Variants:
    """For each task, the current assignment, and streamed ones on each unit that offers its nodes (the same share) and
    can copy from the Soc's store. Streaming changes the cost of a layer, so its unit is chosen again among those."""
    soc = scheduler.soc
    rivals: dict[_Work, list[Candidate]] = {}
    for assignment in offered:
        if scheduler.can_stream(assignment.candidate):
            rivals.setdefault(_work(assignment.candidate), []).append(assignment.candidate)
    requested = [
        (number, candidate)
        for number, assignment in enumerate(mapping.assignments)
        for candidate in rivals.get(_work(assignment.candidate), ())
    ]
    found: list[list[Assignment]] = [[assignment] for assignment in mapping.assignments]
    for number, assignment in _streamed(requested, scheduler):
        found[number].append(assignment)
    kept = tuple(_undominated(task, soc, weighting) for task in found)
    return Variants(kept, tuple(tuple(_variant(a, soc, weighting) for a in task) for task in kept))


def _work(candidate: Candidate) -> _Work:
    return frozenset(candidate.node_names), candidate.share


def _streamed(requested: Sequence[tuple[int, Candidate]], scheduler: Scheduling) -> Iterator[tuple[int, Assignment]]:
    """The schedules of candidates: with large staging areas first, then with smaller ones if these are smaller than the
    bytes that the last schedule used; otherwise the answer would be the same."""
    home = scheduler.soc.memory(scheduler.soc.home)
    budgets = [home.size_bytes // part // home.alignment_bytes * home.alignment_bytes for part in STAGING_PARTS]
    for budget, following in zip(budgets, (*budgets[1:], home.size_bytes), strict=True):
        requests = [scheduler.streamed_request(candidate, budget) for _, candidate in requested]
        smaller = []
        for (number, candidate), answer in zip(requested, scheduler.answers(requests), strict=True):
            if isinstance(answer, LoopSchedule):
                yield number, Assignment(candidate, answer)
                if answer.bytes_in(home.name) > following:
                    smaller.append((number, candidate))
        requested = smaller


def _variant(assignment: Assignment, soc: Soc, weighting: Weighting) -> Variant:
    staging = aligned(assignment.schedule.bytes_in(soc.home), soc.memory(soc.home).alignment_bytes)
    return Variant(weighting.of(assignment.schedule.cost), resident_bytes(assignment, soc), staging)


def _undominated(task: Sequence[Assignment], soc: Soc, weighting: Weighting) -> tuple[Assignment, ...]:
    """The assignments that no other one equals or beats in every respect."""
    kept: list[tuple[Variant, Assignment]] = []
    for assignment in task:
        new = _variant(assignment, soc, weighting)
        if any(_beats(old, new) for old, _ in kept):
            continue
        kept = [*((old, other) for old, other in kept if not _beats(new, old)), (new, assignment)]
    return tuple(assignment for _, assignment in kept)


def _beats(one: Variant, other: Variant) -> bool:
    return (
        one.cost <= other.cost
        and one.constant_bytes <= other.constant_bytes
        and one.staging_bytes <= other.staging_bytes
    )
