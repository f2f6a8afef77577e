"""Cycles of the analog array."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core import CostModel


def analog_cost(pattern: str) -> CostModel | None:
    """The cost model of one of the array's patterns."""
    return None
