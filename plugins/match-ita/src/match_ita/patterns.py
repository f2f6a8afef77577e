"""All patterns of the two units."""

from __future__ import annotations

from match_core import Pattern

from match_ita import snitch
from match_ita.ita.patterns import ITA_PATTERNS

__all__ = ["ITA_PATTERNS", "SNITCH_PATTERNS"]

SNITCH_PATTERNS: tuple[Pattern, ...] = snitch.PATTERNS
