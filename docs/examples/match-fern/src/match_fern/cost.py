"""Modelled cycles of a region: they are made up, and the twin counts the same."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from match_core import Region

from match_fern.hardware import VALUES


def region_cycles(unit: str, region: Region) -> int:
    """Cycles of an engine for the multiply-accumulates and the elements of results of all nodes."""
    figures = VALUES[unit]
    made = sum(prod(int(size) for size in tensor.shape) for node in region.nodes for tensor in node.outputs)
    return -(-region.macs // figures["macs_per_cycle"]) + -(-made // figures["elements_per_cycle"])


def counts(unit: str, region: Region) -> Mapping[str, int]:
    """The same for the cost model."""
    return {"cycles": region_cycles(unit, region)}
