"""What the analog array can run."""

from __future__ import annotations

from match_core import Pattern

ANALOG_PATTERNS: tuple[Pattern, ...] = ()
