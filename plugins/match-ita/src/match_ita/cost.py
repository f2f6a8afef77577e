"""Cost models of ITA and of the compute cores with the figures of one preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from zlib import crc32

import numpy as np
from match_core import EnergyModel, Overlap, Soc, TransferCycles, TransferShape, Workload

from match_ita import ita_formulas, snitch
from match_ita.constants import preset_of, values
from match_ita.ita_formulas import Cycles, Tile
from match_ita.presets import DEFAULT_PRESET

if TYPE_CHECKING:
    from match_core import CostModel
    from match_core.cost import Bound

#: Raised when a formula changes.
FORMULAS = 1


def cost_model(unit: str, pattern: str, soc: Soc) -> CostModel:
    """The cost model of a pattern on ``ita`` or ``snitch``, with the figures of a Soc's preset and mode."""
    return ItaCost(unit, pattern, preset_of(soc), soc.mode)


@dataclass(frozen=True, slots=True)
class ItaCost:
    """Layers run on the DM core, or side by side on the DM core (ITA) and core 0 (compute cores). Who programs ITA's
    jobs issues copies before; the DM core is free while the compute cores work."""

    unit: str
    pattern: str
    preset: str = DEFAULT_PRESET
    mode: Literal["sequential", "concurrent"] = "sequential"
    bound: Bound = "fitted"
    energy: EnergyModel | None = None

    @property
    def version(self) -> str:
        """Changes with the formulas (the number, by hand) and with the figures (a checksum)."""
        figures = ",".join(f"{name}={value}" for name, value in sorted(self._timing.items()))
        return f"{FORMULAS}-{crc32(figures.encode()):08x}"

    @property
    def name(self) -> str:
        """Names unit, pattern, preset and mode; appears in every report."""
        return f"ita-{self.unit}-{self.pattern}-{self.preset}-{self.mode}"

    @property
    def overlap(self) -> Overlap:
        """Core 0 works on the kernels that it leads."""
        return "all" if self.unit == "snitch" and self.mode == "sequential" else "data"

    @property
    def _timing(self) -> Mapping[str, int]:
        return values(self.preset)

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Cycles of one kernel call, the hand-over to the compute cores not included."""
        if self.unit == "ita":
            return ita_formulas.kernel_cycles(self._timing, workload, tile)
        return snitch.kernel_cycles(self._timing, self.pattern, workload, tile)

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """What the core that starts a kernel does besides: before the first job and behind the last one, or the
        hand-over to the compute cores."""
        timing = self._timing
        launch = timing["jobs_launch_cycles"]
        if self.unit == "snitch":
            launch = timing["team_launch_cycles"] + timing["team_wait_cycles"]
        return np.full_like(next(iter(tile.values())), launch)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Copies between L2 and L1 by the cluster's DMA."""
        t = transfer
        ring = self.unit == "snitch" and self.mode == "concurrent"
        sizes = {"planes": t.planes, "rows": t.rows, "row_bytes": t.row_bytes}
        return TransferCycles(*ita_formulas.dma_copy(self._timing, **sizes, ring=ring))

    def layer_cycles(self, workload: Workload) -> int:
        """The host's call and the answer, where layers run one after the other; units side by side are told about tasks
        beforehand, which the Soc's signalling prices. The first job of a layer on ITA is given what all have in common.
        """
        call = self._timing["call_cycles"] if self.mode == "sequential" else 0
        return call + (self._timing["job_setup_cycles"] if self.unit == "ita" else 0)
