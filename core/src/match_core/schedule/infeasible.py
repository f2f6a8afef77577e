"""The answer of a scheduler where even the smallest tile does not fit."""

from __future__ import annotations

from dataclasses import dataclass

from match_core.mapping.result import Refusal


@dataclass(frozen=True, slots=True)
class ScheduleInfeasible:
    """``need_bytes`` of ``memory`` for the smallest working set that was found, against ``have_bytes``;
    ``tile`` is that working set's tile."""

    memory: str
    need_bytes: int
    have_bytes: int
    tile: tuple[tuple[str, int], ...] = ()

    def as_refusal(self, unit: str, pattern: str, nodes: tuple[str, ...]) -> Refusal:
        """The same as a refusal of a candidate, under the rule "fits <memory>"."""
        value = f"the smallest tile needs {self.need_bytes} bytes of {self.have_bytes}"
        return Refusal(unit, pattern, nodes, f"fits {self.memory}", value)
