"""All patterns of the two units."""

from __future__ import annotations

from match_core import Pattern

SNITCH_PATTERNS: tuple[Pattern, ...] = ()
ITA_PATTERNS: tuple[Pattern, ...] = ()
