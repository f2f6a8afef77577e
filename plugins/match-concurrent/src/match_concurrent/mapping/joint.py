"""Candidates that only concurrent programs have: those that occupy two units (``Pattern.joint``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.loops import LoopSchedule

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.mapping import Assignment
    from match_core.contract.scheduling import Scheduling


def joint_of(candidate: Candidate, scheduling: Scheduling, index: int) -> Candidate | None:
    """The candidate with that number that runs the same on two units; None if there is none, or if the other unit is
    disabled."""
    unit, name = candidate.pattern.joint or ("", "")
    if all(known.name != unit for known in scheduling.units):
        return None
    pattern = replace(candidate.pattern, name=name, joint=None, occupies=(candidate.unit,))
    return replace(candidate, index=index, unit=unit, pattern=pattern)


def joint_offers(offered: Sequence[Assignment], scheduling: Scheduling) -> tuple[Assignment, ...]:
    """The offered candidates that also run on two units, as such, with the schedules that they have on one. If the unit
    has a faster candidate for the same nodes, two are not kept busy."""
    least = _least_cycles(offered)
    made: list[Assignment] = []
    last = max((a.candidate.index for a in offered), default=0)
    for assignment in offered:
        if assignment.schedule.cost.total_cycles <= least[_key(assignment.candidate)]:
            candidate = joint_of(assignment.candidate, scheduling, last + len(made) + 1)
            made += [replace(assignment, candidate=candidate)] if candidate is not None else []
    return tuple(made)


def _least_cycles(offered: Sequence[Assignment]) -> dict[tuple[str, tuple[str, ...]], int]:
    """By unit and nodes."""
    least: dict[tuple[str, tuple[str, ...]], int] = {}
    for assignment in offered:
        key, cycles = _key(assignment.candidate), assignment.schedule.cost.total_cycles
        least[key] = min(cycles, least.get(key, cycles))
    return least


def _key(candidate: Candidate) -> tuple[str, tuple[str, ...]]:
    return candidate.unit, candidate.node_names


def with_joint(offered: Sequence[Assignment], scheduling: Scheduling) -> tuple[Assignment, ...]:
    """The offers, and those of candidates that occupy two units, fit their memories, and are faster than the candidates
    that occupy only the unit whose queue runs them."""
    made = joint_offers(offered, scheduling)
    least = _least_cycles(offered)
    kept = []
    for each, found in zip(made, scheduling.answers([scheduling.request(a.candidate) for a in made]), strict=True):
        key = _key(each.candidate)
        if isinstance(found, LoopSchedule) and found.cost.total_cycles < least.get(key, found.cost.total_cycles + 1):
            kept.append(replace(each, schedule=found))
    return (*offered, *kept)
