"""Cycles of a region. The workload counts what its nodes do: multiply-accumulates, nodes and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core import TransferCycles, TransferShape, Workload
from numpy.typing import NDArray

from ${module}.hardware import VALUES

if TYPE_CHECKING:
    from match_core.contract.cost import Bound, Overlap

Cycles = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LibraryCost:
    """A region is one tile; each of its nodes is one call. Fit the figures to measurements: ``match calibrate``."""

    name: str = "${name}-region"
    version: str = "1"
    bound: Bound = "fitted"
    overlap: Overlap = "none"
    energy: None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """Products, and all results that are written."""
        results = sum(count for name, count in workload.geometry if name.startswith("elements_"))
        products = -(-workload.macs // VALUES["macs_per_cycle"])
        return np.full_like(tile["N"], products + -(-results // VALUES["elements_per_cycle"]))

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The calls."""
        return np.full_like(tile["N"], dict(workload.geometry)["nodes"] * VALUES["call_cycles"])

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """The library works on the home memory."""
        none = np.zeros_like(transfer.rows)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """A region has no extra cost."""
        return 0
