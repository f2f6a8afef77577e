"""The headline of the verbs as typed fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes of one memory."""

    name: str
    used_bytes: int
    available_bytes: int


@dataclass(frozen=True, slots=True)
class Headline:
    """What a verb says first. ``cycles`` of one inference, modelled or counted on the twin (``cycles_from``);
    ``milliseconds`` at ``clock_hz``, both None if the target's clock is unknown or estimated; ``units``: share of the
    cycles by unit, the busiest first (above 1 in all if units run at the same time)."""

    model: str
    target: str
    target_chosen: Literal["by name", "only one installed"]
    cycles: int
    cycles_from: Literal["model", "twin"]
    milliseconds: float | None
    clock_hz: float | None
    memories: tuple[MemoryUse, ...]
    units: Mapping[str, float]


def headline_of(report: Mapping[str, Any], named: str | None) -> Headline:
    """Of a report document. ``named``: the target as the user named it, None if it was chosen."""
    from match_core.cli.headline import headline

    fields = headline(report, named)
    return Headline(**{**fields, "memories": tuple(MemoryUse(**memory) for memory in fields["memories"])})
