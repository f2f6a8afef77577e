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
    """The offered candidates that also run on two units, as such, with the schedules that they have on one."""
    made: list[Assignment] = []
    last = max((a.candidate.index for a in offered), default=0)
    for assignment in offered:
        candidate = joint_of(assignment.candidate, scheduling, last + len(made) + 1)
        made += [replace(assignment, candidate=candidate)] if candidate is not None else []
    return tuple(made)


def with_joint(offered: Sequence[Assignment], scheduling: Scheduling) -> tuple[Assignment, ...]:
    """The offers, and those of candidates that occupy two units and fit their memories."""
    made = joint_offers(offered, scheduling)
    answers = scheduling.answers([scheduling.request(each.candidate) for each in made])
    pairs = zip(made, answers, strict=True)
    return (*offered, *(replace(each, schedule=found) for each, found in pairs if isinstance(found, LoopSchedule)))
