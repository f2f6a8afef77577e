"""The scheduler of a compilation, as packages that map and plan see it, and its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from match_core.contract.candidate import Refusal
from match_core.contract.loops import LoopSchedule

if TYPE_CHECKING:
    from match_core.contract.candidate import Candidate
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.loops import Objective, ScheduleRequest
    from match_core.contract.observe import Facts, Watch


@dataclass(frozen=True, slots=True)
class ScheduleInfeasible:
    """A scheduler's answer if even the smallest tile does not fit: the smallest working set that was found needs
    ``need_bytes`` of ``memory``, of which ``have_bytes`` exist; ``tile`` is its tile."""

    memory: str
    need_bytes: int
    have_bytes: int
    tile: tuple[tuple[str, int], ...] = ()

    def as_refusal(self, unit: str, pattern: str, nodes: tuple[str, ...]) -> Refusal:
        """The answer as a refusal of a candidate, under the rule "fits <memory>"."""
        value = f"the smallest tile needs {self.need_bytes} bytes of {self.have_bytes}"
        return Refusal(unit, pattern, nodes, f"fits {self.memory}", value)


#: A scheduler's answer.
Answer = LoopSchedule | ScheduleInfeasible


class Scheduling(Protocol):
    """Schedules for one Soc, its units and one objective. The core validates and prices every schedule. ``watch``
    receives the progress of a search; None: no reports."""

    @property
    def soc(self) -> Soc:
        """The Soc, in the mode of execution that the request is for."""
        ...

    @property
    def units(self) -> tuple[Unit, ...]:
        """The enabled units of the Soc."""
        ...

    @property
    def objective(self) -> Objective:
        """What is minimised."""
        ...

    @property
    def watch(self) -> Watch | None:
        """Receives every better answer of a search."""
        ...

    @property
    def blocking_units(self) -> frozenset[str]:
        """The units other than the host that have no dispatch loop: the host runs their tasks and waits for each."""
        ...

    def request(self, candidate: Candidate) -> ScheduleRequest:
        """The request for a candidate with resident constants."""
        ...

    def streamed_request(self, candidate: Candidate, staging_bytes: int) -> ScheduleRequest:
        """The request with large constants streamed from the store through ``staging_bytes`` of the home memory."""
        ...

    def can_stream(self, candidate: Candidate) -> bool:
        """Whether the candidate's unit copies from the Soc's store and has constants that are worth streaming."""
        ...

    def answers(self, requests: Sequence[ScheduleRequest]) -> tuple[Answer, ...]:
        """One answer per request, in their order."""
        ...

    def key(self, candidate: Candidate) -> str:
        """Digest of everything that the candidate's schedule depends on."""
        ...

    def progress(self, facts: Facts) -> None:
        """Report how far the work got."""
        ...
