"""A scheduler's answer if even the smallest tile does not fit."""

from __future__ import annotations

from dataclasses import dataclass

from match_core.contract.candidate import Refusal
from match_core.contract.loops import LoopSchedule


@dataclass(frozen=True, slots=True)
class ScheduleInfeasible:
    """The smallest working set that was found needs ``need_bytes`` of ``memory``, of which ``have_bytes`` exist;
    ``tile`` is the tile of this working set."""

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
