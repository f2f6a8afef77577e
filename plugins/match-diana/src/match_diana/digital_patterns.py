"""What the digital array can run."""

from __future__ import annotations

from match_core import Pattern

DIGITAL_PATTERNS: tuple[Pattern, ...] = ()
