"""Regions for match: patterns of units that run parts of a graph as a whole."""

from __future__ import annotations

from match_regions.atoms import atoms_in
from match_regions.cost import RegionCost
from match_regions.pattern import region_pattern

__all__ = ["RegionCost", "atoms_in", "region_pattern"]
__version__ = "0.1.0"
