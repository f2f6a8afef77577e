"""Cost models of ITA and of the compute cores with the figures of one preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from match_core import EnergyModel, Overlap, Soc, TransferCycles, TransferShape, Workload
from match_core.patterns.formulas import Cycles, Tile, figures_version
from match_host.estimates import estimates_read

from match_ita import snitch
from match_ita.constants import constants, preset_of, values
from match_ita.ita import formulas as ita_formulas
from match_ita.presets import DEFAULT_PRESET

if TYPE_CHECKING:
    from match_core import CostModel
    from match_core.contract.cost import Bound
    from numpy.typing import NDArray

#: Raised when a formula changes.
FORMULAS = 2


def cost_model(unit: str, pattern: str, soc: Soc) -> CostModel:
    """The cost model of a pattern on ``ita`` or ``snitch``, with the figures of a Soc's preset and mode."""
    return ItaCost(unit, pattern, preset_of(soc), soc.mode)


@dataclass(frozen=True)
class ItaCost:
    """Layers run on the DM core, or concurrently on the DM core (ITA) and core 0 (compute cores). The core that
    programs ITA's jobs issues copies before; the DM core is free while the compute cores work. ``figures``: None
    for those of the preset."""

    unit: str
    pattern: str
    preset: str = DEFAULT_PRESET
    mode: Literal["sequential", "concurrent"] = "sequential"
    bound: Bound = "fitted"
    figures: Mapping[str, int] | None = None

    @cached_property
    def version(self) -> str:
        """Of formulas and figures."""
        return figures_version(FORMULAS, self._timing)

    @property
    def name(self) -> str:
        """Names unit, pattern, preset and mode; appears in every report."""
        return f"ita-{self.unit}-{self.pattern}-{self.preset}-{self.mode}"

    @property
    def energy(self) -> EnergyModel:
        """By the published power of the cluster."""
        return ItaEnergy(self)

    @property
    def overlap(self) -> Overlap:
        """Core 0 works on the kernels that it leads."""
        return "all" if self.unit == "snitch" and self.mode == "sequential" else "data"

    @property
    def _timing(self) -> Mapping[str, int]:
        return values(self.preset) if self.figures is None else self.figures

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

    def estimate(self, workload: Workload) -> str:
        """The estimated figures that a layer's formulas read."""
        table = constants(self.preset)
        return estimates_read(self._timing, table, workload, lambda timing: replace(self, figures=timing))


@dataclass(frozen=True, slots=True)
class ItaEnergy:
    """Energy of kernels: their cycles at the published power of the whole cluster for work of their kind."""

    cost: ItaCost

    def kernel_energy_pj(self, workload: Workload, tile: Tile) -> NDArray[np.float64]:
        """Energy of one kernel call, in pJ."""
        figures = values(self.cost.preset)
        kind = "cores" if self.cost.unit == "snitch" else "products"
        kind = "attention" if workload.kind == "ita_attention" else kind
        pj_per_cycle = 1e6 * figures[f"{kind}_microwatts"] / figures["clock_hz"]
        return pj_per_cycle * self.cost.kernel_cycles(workload, tile).astype(np.float64)

    def transfer_energy_pj(self, workload: Workload, transfer: TransferShape) -> NDArray[np.float64]:
        """None: the published power includes copies beside kernels, and no other energy of copies is published."""
        return np.zeros(np.shape(transfer.rows), np.float64)
