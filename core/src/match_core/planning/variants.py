"""The ways in which each task of a mapping could run: constants in the home memory, or the large ones streamed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.mapping.result import Assignment
from match_core.planning.packing import aligned
from match_core.planning.streaming import Variant
from match_core.schedule.geometry import far_bytes
from match_core.schedule.loops import LoopSchedule

if TYPE_CHECKING:
    from match_core.hardware import Soc
    from match_core.mapping.objective import Weighting
    from match_core.mapping.result import Mapping as UnitMapping
    from match_core.schedule.candidates import Scheduler

#: Staging areas to ask schedules for, as parts of the home memory.
STAGING_PARTS = (32, 8, 2)


def resident_bytes(assignment: Assignment, soc: Soc) -> int:
    """Bytes of the constants that a task on a unit with its own memory has in the home memory all the time."""
    if assignment.schedule.memory is None:
        return 0
    streamed = assignment.schedule.streamed(soc.home)
    operands = assignment.candidate.workload.operands
    return sum(far_bytes(o) for o in operands if o.role == "constant" and o.name not in streamed)


@dataclass(frozen=True)
class Variants:
    """Per task the assignments that it could be, the one it is first, and what each costs."""

    assignments: tuple[tuple[Assignment, ...], ...]
    costs: tuple[tuple[Variant, ...], ...]

    def pick(self, chosen: Sequence[int]) -> tuple[Assignment, ...]:
        """The assignments of a choice."""
        return tuple(task[index] for task, index in zip(self.assignments, chosen, strict=True))

    def smallest(self) -> tuple[int, ...]:
        """The choice that needs the fewest bytes of constants, then of staging."""
        keys = [[(v.constant_bytes, v.staging_bytes, i) for i, v in enumerate(task)] for task in self.costs]
        return tuple(min(task)[2] for task in keys)


def variants_of(
    mapping: UnitMapping,
    offered: Sequence[Assignment],
    scheduler: Scheduler,
    weighting: Weighting,
) -> Variants:
    """Every task as it is, and streamed on each unit that offers its nodes and can copy from the Soc's store.
    Streaming changes what a layer costs, so the unit is chosen again among those."""
    soc = scheduler.soc
    rivals: dict[frozenset[str], list[Assignment]] = {}
    for assignment in offered:
        rivals.setdefault(frozenset(assignment.candidate.node_names), []).append(assignment)
    asked = [
        (number, rival.candidate, staging)
        for number, assignment in enumerate(mapping.assignments)
        for rival in rivals.get(frozenset(assignment.candidate.node_names), ())
        if scheduler.can_stream(rival.candidate)
        for staging in _staging_budgets(soc)
    ]
    requests = [scheduler.streamed_request(candidate, staging) for _, candidate, staging in asked]
    found: list[list[Assignment]] = [[assignment] for assignment in mapping.assignments]
    for (number, candidate, _), answer in zip(asked, scheduler.answers(requests), strict=True):
        if isinstance(answer, LoopSchedule):
            found[number].append(Assignment(candidate, answer))
    kept = tuple(_undominated(task, soc, weighting) for task in found)
    return Variants(kept, tuple(tuple(_variant(a, soc, weighting) for a in task) for task in kept))


def _staging_budgets(soc: Soc) -> tuple[int, ...]:
    home = soc.memory(soc.home)
    return tuple(home.size_bytes // part // home.alignment_bytes * home.alignment_bytes for part in STAGING_PARTS)


def _variant(assignment: Assignment, soc: Soc, weighting: Weighting) -> Variant:
    staging = aligned(assignment.schedule.bytes_in(soc.home), soc.memory(soc.home).alignment_bytes)
    return Variant(weighting.of(assignment.schedule.cost), resident_bytes(assignment, soc), staging)


def _undominated(task: Sequence[Assignment], soc: Soc, weighting: Weighting) -> tuple[Assignment, ...]:
    """Without those that another one beats or equals in every respect."""
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
