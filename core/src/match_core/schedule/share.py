"""Shares of an operator: which dimensions of a workload may be divided among units, and the workload of a part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.mapping.result import Candidate
    from match_core.schedule.workload import Workload


@dataclass(frozen=True, slots=True)
class Divisible:
    """A dimension that may be divided: ``axis`` is the number of the output's axis that it runs over; parts begin at
    multiples of ``granularity``."""

    dim: str
    axis: int
    size: int
    granularity: int


def divisible(workload: Workload) -> tuple[Divisible, ...]:
    """The dimensions along which the workload may be divided, in the order of the output's axes."""
    raise NotImplementedError


def restricted(workload: Workload, dim: str, first: int, size: int) -> Workload:
    """The workload of the part [first, first + size) of a dimension (docs/programs.md). ValueError where the part is
    empty, reaches beyond the dimension or does not begin at its granularity."""
    raise NotImplementedError


def share_of(candidate: Candidate, dim: str, first: int, size: int) -> Candidate:
    """The candidate for that part of an operator; the candidate itself for all of it."""
    raise NotImplementedError
