"""An option of the mapper: one candidate with its cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """``index``: position in the offered assignments; ``cost``: in the unit of the objective; ``nodes``: positions,
    ascending; ``holds``: bytes that the program keeps by memory, as long as it lives."""

    index: int
    cost: int
    nodes: tuple[int, ...]
    holds: tuple[tuple[str, int], ...] = ()
