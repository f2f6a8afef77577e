"""Cycles of the analog array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from match_core import EnergyModel, Overlap, TransferCycles, TransferShape, Workload

from match_diana.analog_formulas import Cycles, host_cycles, job_cycles
from match_diana.digital_formulas import chunk_cycles, copy_cycles

if TYPE_CHECKING:
    from match_core import CostModel
    from match_core.cost import Bound

Tile = Mapping[str, Cycles]
#: Raised when a formula changes.
FORMULAS = 1


def analog_cost(pattern: str) -> CostModel | None:
    """The cost model of one of the array's patterns."""
    return AnalogCost(pattern)


@dataclass(frozen=True, slots=True)
class AnalogCost:
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
        return f"diana-analog-{self.pattern}"

    @property
    def overlap(self) -> Overlap:
        """Copies block."""
        return "none"

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """One instruction for each group of input channels of the tile. The layer's last group may be smaller, and it
        alone needs the parameters for the stage behind. A tile of some groups does not say which they are: it counts as
        its part of all."""
        t, numbers, groups = _timing(), workload.parameters, workload.dim("G").size
        job = partial(
            job_cycles,
            t,
            k=numbers["k"],
            taps=numbers["fx"] * workload.dim("FY").size,
            pixel_groups=tile["OY"] * (numbers["ox"] // numbers["unroll"]),
        )
        norm = chunk_cycles(t, np.asarray(workload.operand("norm").axes[0].size))
        together = (groups - 1) * job(channels=numbers["channels"]) + job(channels=numbers["last_channels"]) + norm
        cycles: Cycles = tile["G"] * together // groups
        return cycles

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """The host's part of every instruction."""
        cycles: Cycles = tile["G"] * host_cycles(_timing())
        return cycles

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Copies of contiguous pieces, one after another. Constants are fetched by the array itself, within its
        cycles."""
        chunks = transfer.planes * transfer.rows
        none = np.zeros_like(chunks)
        if transfer.near != "l1":
            return TransferCycles(none, none, none)
        return TransferCycles(none, chunks * copy_cycles(_timing(), transfer.row_bytes), none)

    def layer_cycles(self, workload: Workload) -> int:
        """Layers are plain calls of the host."""
        return 0


def _timing() -> Mapping[str, int]:
    from match_diana.constants import values  # the table holds this array's figures too

    return values()
