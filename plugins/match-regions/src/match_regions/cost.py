"""A cost model of regions whose cycles follow from their nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.cost import TransferCycles, TransferShape
from numpy.typing import NDArray

if TYPE_CHECKING:
    from match_core.contract.cost import Bound, EnergyModel, Overlap
    from match_core.contract.workload import Workload

    Cycles = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RegionCost:
    """A region takes the cycles that ``RegionClaims.counts`` gives for its nodes under the name ``cycles``, and
    ``launch`` before them. Tensors stay where they are: copies are part of the cycles."""

    name: str
    version: str = "1"
    launch: int = 0
    bound: Bound = "exact"
    overlap: Overlap = "none"
    energy: EnergyModel | None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The whole region: it is not cut into tiles."""
        return np.full_like(tile["N"], workload.parameters["cycles"])

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The host starts the engine."""
        return np.full_like(tile["N"], self.launch)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """No copies."""
        none = np.zeros_like(transfer.rows)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """Nothing besides."""
        return 0
