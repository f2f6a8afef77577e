"""Modelled cycles of a region: they are made up, and the twin counts the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core import Region, TransferCycles, TransferShape, Workload
from numpy.typing import NDArray

from match_fern.hardware import VALUES

if TYPE_CHECKING:
    from match_core.contract.cost import Bound, Overlap

Cycles = NDArray[np.int64]


def engine_cycles(unit: str, macs: int, elements: int) -> int:
    """Cycles of an engine for so many multiply-accumulates and elements of results, of all nodes."""
    figures = VALUES[unit]
    return -(-macs // figures["macs_per_cycle"]) + -(-elements // figures["elements_per_cycle"])


def region_cycles(unit: str, region: Region) -> int:
    """The same of a region that is compiled."""
    made = sum(prod(int(size) for size in tensor.shape) for node in region.nodes for tensor in node.outputs)
    return engine_cycles(unit, region.macs, made)


@dataclass(frozen=True, slots=True)
class EngineCost:
    """Of one engine. Tensors stay where they are: nothing is copied."""

    unit: str
    name: str = "fern-region"
    version: str = "1"
    bound: Bound = "exact"
    overlap: Overlap = "none"
    energy: None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The whole region: it is not cut into tiles."""
        elements = sum(count for name, count in workload.geometry if name.startswith("elements_"))
        return np.full_like(tile["N"], engine_cycles(self.unit, workload.macs, elements))

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The host starts the engine."""
        return np.full_like(tile["N"], VALUES[self.unit]["start_cycles"])

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """No copies."""
        none = np.zeros_like(transfer.rows)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """Nothing besides."""
        return 0
