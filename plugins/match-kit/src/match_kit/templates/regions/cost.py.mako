"""Cycles of a region. The workload counts what its nodes do: multiply-accumulates, and nodes of each operator."""

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
class EngineCost:
    """A region is one tile. Weights are in the engine, and it reads and writes activations in the home memory."""

    name: str = "${name}-region"
    version: str = "1"
    bound: Bound = "fitted"
    overlap: Overlap = "none"
    energy: None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """All layers, one after another."""
        return np.full_like(tile["N"], -(-workload.macs // VALUES["macs_per_cycle"]))

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The host starts each layer."""
        layers = dict(workload.geometry)["nodes_MatMulInteger"]
        return np.full_like(tile["N"], layers * VALUES["start_cycles"])

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Nothing is copied."""
        none = np.zeros_like(transfer.rows)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """The host starts layers itself, so a region has no extra cost."""
        return 0
