"""Nanoseconds of a region: its primitives by the work that they do, and what crosses its border."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core import TransferCycles, TransferShape, Workload
from numpy.typing import NDArray

from match_dnnl.figures import VALUES

if TYPE_CHECKING:
    from match_core.cost import Bound, Overlap

Cycles = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RegionCost:
    """A cycle of this model is a nanosecond."""

    name: str = "dnnl-region"
    version: str = "1"
    bound: Bound = "fitted"
    overlap: Overlap = "none"
    energy: None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """Nanoseconds of a run. Regions are not cut: a tile is the whole, smaller ones scale in proportion."""
        counts = workload.parameters
        elements = sum(count for name, count in counts.items() if name.startswith("elements_"))
        total = VALUES["mac_ns"] * workload.macs + VALUES["element_ns"] * elements
        total += VALUES["primitive_ns"] * counts.get("nodes", 1)
        dim = workload.dims[0]
        share = np.asarray(tile[dim.name], dtype=np.float64) / dim.size
        cycles: Cycles = np.ceil(total * share).astype(np.int64)
        return cycles

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The call, and the time until the library's loop runs."""
        return np.full(np.shape(tile[workload.dims[0].name]), int(VALUES["region_ns"]), dtype=np.int64)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Nothing is copied between memories."""
        none = np.zeros(np.shape(transfer.rows), dtype=np.int64)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """Nothing to hand over."""
        return 0
