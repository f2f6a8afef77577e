"""Common parts of both units' cost models: copies, and the hand-over of a layer to the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from match_core import EnergyModel, Overlap, TransferCycles, TransferShape, Workload
from match_core.patterns.formulas import figures_version
from match_host.estimates import estimates_read

from match_gap9 import formulas_dma
from match_gap9.constants import DEFAULT_PRESET, constants, values

if TYPE_CHECKING:
    from match_core import CostModel
    from match_core.contract.cost import Bound

#: Raised when a formula changes.
FORMULAS = 4


@dataclass(frozen=True)
class UnitCost:
    """Common to both units: transfers through the cluster DMA and the hand-over of a layer to the cluster. ``beside``:
    the unit has its own dispatch loop, the cluster on core 0 of the workers, NE16 on the controller;
    ``shares_dma``: the other unit copies meanwhile."""

    pattern: str
    preset: str = DEFAULT_PRESET
    bound: Bound = "fitted"
    energy: EnergyModel | None = None
    timing: Mapping[str, int] = field(default_factory=lambda: values(DEFAULT_PRESET))
    beside: bool = False
    shares_dma: bool = False

    @property
    def version(self) -> str:
        """Of formulas and figures."""
        return figures_version(FORMULAS, self.timing)

    @property
    def name(self) -> str:
        """Names the formulas and the preset; appears in every report."""
        return f"gap9-{self.pattern}-{self.preset}{'-beside' if self.beside else ''}"

    @property
    def overlap(self) -> Overlap:
        """The controller issues copies while others work; a core that works itself has issued them before."""
        return "all"

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Copies between L2 and L1 by the cluster DMA (sheet 3.1 or 3.5), or requests to the external RAM."""
        t, timing = transfer, self.timing
        if "l3" in (t.far, t.near):
            return TransferCycles(*formulas_dma.l3_copy(timing, commands=t.planes * t.rows, size_bytes=t.row_bytes))
        issue, data, wait = formulas_dma.dma_copy(
            timing, planes=t.planes, rows=t.rows, row_bytes=t.row_bytes, direction=t.direction
        )
        if self.shares_dma:
            data = data + data * timing["dma_shared_percent"] // 100
        return TransferCycles(issue, data, wait)

    @property
    def is_counted(self) -> bool:
        """Whether kernels cost what the busiest core executes, and the code around them is charged."""
        return self.timing["counted"] == 1

    @property
    def step_cycles(self) -> int:
        """What the core that launches a kernel does for each step of a layer besides."""
        return self.timing["step_cycles"] if self.is_counted else 0

    def layer_cycles(self, workload: Workload) -> int:
        """Fabric controller to cluster controller and back. Loops are told about tasks beforehand, which the Soc's
        signalling prices."""
        return 0 if self.beside else self.timing["cluster_offload_cycles"]

    def estimate(self, workload: Workload) -> str:
        """The estimates of the preset that no figures file replaces and that a layer's formulas read."""

        def reading(timing: Mapping[str, int]) -> CostModel:
            return cast("CostModel", replace(self, timing=timing))  # a whole one with the methods of a unit

        return estimates_read(self.timing, constants(self.preset), workload, reading)
