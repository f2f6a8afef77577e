"""Passes that the package adds: none so far, the core's ones bring graphs into the shape that the patterns want."""

from __future__ import annotations

from match_core import Pass

TRANSFORMS: tuple[Pass, ...] = ()
