"""Regions for match: patterns of units that run parts of a graph as a whole."""

from __future__ import annotations

from match_regions.pattern import region_pattern

__all__ = ["region_pattern"]
__version__ = "0.1.0"
