"""Cost models of the digital array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from match_core import EnergyModel, Overlap, TransferCycles, TransferShape, Workload

from match_diana import digital_formulas as formulas
from match_diana.digital_formulas import Cycles, Tile

if TYPE_CHECKING:
    from match_core import CostModel
    from match_core.cost import Bound

#: Raised when a formula changes.
FORMULAS = 1


def digital_cost(pattern: str) -> CostModel | None:
    """The cost model of one of the array's patterns."""
    return DigitalCost(pattern)


@dataclass(frozen=True, slots=True)
class DigitalCost:
    """Host, array and copies run one after another."""

    pattern: str
    bound: Bound = "fitted"
    energy: EnergyModel | None = None

    @property
    def version(self) -> str:
        """Changes with the formulas (the number, by hand) and with the figures (a checksum)."""
        figures = ",".join(f"{name}={value}" for name, value in sorted(_timing().items()))
        return f"{FORMULAS}-{crc32(figures.encode()):08x}"

    @property
    def name(self) -> str:
        """Names unit and pattern; appears in every report."""
        return f"diana-digital-{self.pattern}"

    @property
    def overlap(self) -> Overlap:
        """Copies block."""
        return "none"

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Cycles of one kernel call: weights fetched, and the array's work."""
        return formulas.kernel_cycles(_timing(), workload, tile)

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """What the host does for the jobs of a kernel call."""
        return formulas.launch_cycles(_timing(), workload, tile)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Copies of contiguous pieces, one after another. Weights are fetched by the array itself, within its
        cycles."""
        chunks = transfer.planes * transfer.rows
        none = np.zeros_like(chunks)
        if transfer.near != "l1":
            return TransferCycles(none, none, none)
        return TransferCycles(none, chunks * formulas.copy_cycles(_timing(), transfer.row_bytes), none)

    def layer_cycles(self, workload: Workload) -> int:
        """Layers are plain calls of the host."""
        return 0


def _timing() -> Mapping[str, int]:
    from match_diana.constants import values  # the table holds this array's figures too

    return values()
