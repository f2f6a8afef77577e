"""Cycles, vectorised over tile sizes: each array below holds one number per tiling."""

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
class ArrayCost:
    """One step multiplies ``side`` features with the weights of ``side`` outputs."""

    name: str = "${name}-dense"
    version: str = "1"
    bound: Bound = "exact"
    overlap: Overlap = "all"
    energy: None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """Steps of the array."""
        side = VALUES["side"]
        return tile["N"] * -(-tile["K"] // side) * -(-tile["C"] // side)

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The host writes the array's registers."""
        return np.full_like(tile["N"], VALUES["start_cycles"])

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """The DMA copies whole words of a row; the host starts it."""
        words = -(-transfer.row_bytes // VALUES["dma_bytes_per_cycle"])
        start = np.full_like(words, VALUES["dma_setup_cycles"])
        return TransferCycles(start, transfer.planes * transfer.rows * words, np.zeros_like(words))

    def layer_cycles(self, workload: Workload) -> int:
        """The host starts kernels itself, so a layer has no extra cost."""
        return 0
