"""Regions: parts of a graph that an engine takes as a whole (graph-level plug-ins; docs/regions.md)."""
