"""Cost models of the two clusters: kernels and copies by counted instructions, or as a preset says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from match_core import EnergyModel, Overlap, Soc, TransferCycles, TransferShape, Workload
from match_core.patterns.formulas import Cycles, Tile, figures_version
from match_host.estimates import estimates_read

from match_carfield import formulas_dma
from match_carfield.constants import constants, preset_of, signalling_of, values
from match_carfield.half import formulas
from match_carfield.int8 import formulas as formulas_int8
from match_carfield.presets import DEFAULT_PRESET

if TYPE_CHECKING:
    from match_core import CostModel
    from match_core.contract.cost import Bound

#: Raised when a formula changes.
FORMULAS = 4


def cost_model(unit: str, pattern: str, soc: Soc) -> CostModel:
    """The cost model of a pattern on ``pulp`` or ``spatz``, with the figures of a Soc's signalling, preset and mode."""
    return CarfieldCost(unit, pattern, signalling_of(soc), preset_of(soc), soc.mode)


@lru_cache(maxsize=16)
def _figures(signalling: str, preset: str) -> Mapping[str, int]:
    return values(signalling, preset)


@dataclass(frozen=True, slots=True)
class CarfieldCost:
    """Kernels run on all cores of a cluster; core 0 starts them and issues copies, which overlap with them.
    ``figures``: None for those of signalling and preset."""

    unit: str
    pattern: str
    signalling: str = "event"
    preset: str = DEFAULT_PRESET
    mode: Literal["sequential", "concurrent"] = "sequential"
    bound: Bound = "fitted"
    overlap: Overlap = "data"
    energy: EnergyModel | None = None
    figures: Mapping[str, int] | None = None

    @property
    def version(self) -> str:
        """Of formulas and figures."""
        return figures_version(FORMULAS, self._timing)

    @property
    def name(self) -> str:
        """Names unit, pattern, signalling, preset and mode; appears in every report."""
        return f"carfield-{self.unit}-{self.pattern}-{self.signalling}-{self.preset}-{self.mode}"

    @property
    def _timing(self) -> Mapping[str, int]:
        return _figures(self.signalling, self.preset) if self.figures is None else self.figures

    @property
    def _kernel(self) -> str:
        if self.pattern.startswith("redmule_"):
            return self.pattern
        return f"{self.unit}_{self.pattern}"

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Cycles of one kernel call on all cores, the hand-over to them not included."""
        if self.pattern.startswith("int8_"):
            return formulas_int8.kernel_cycles(self._timing, workload.kind, not workload.scratch, tile)
        return formulas.kernel_cycles(self._timing, self._kernel, workload.parameters, tile)

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Core 0 hands the kernel to all cores and waits for them: a barrier each."""
        return np.full_like(next(iter(tile.values())), 2 * self._timing[f"{self.unit}_barrier_cycles"])

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Copies between L2 or DRAM and L1 by the cluster's DMA, or between DRAM and L2 by the system's."""
        t, timing, dram = transfer, self._timing, transfer.far == "l3"
        if dram and t.near == "l2":
            return TransferCycles(*formulas_dma.l3_copy(timing, commands=t.planes * t.rows, size_bytes=t.row_bytes))
        sizes = {"planes": t.planes, "rows": t.rows, "row_bytes": t.row_bytes}
        return TransferCycles(*formulas_dma.dma_copy(timing, unit=self.unit, dram=dram, **sizes))

    def layer_cycles(self, workload: Workload) -> int:
        """The host's call and the answer, where layers run one after the other; units side by side are told about tasks
        beforehand, which the Soc's signalling prices."""
        return formulas_dma.call_cycles(self._timing) if self.mode == "sequential" else 0

    def estimate(self, workload: Workload) -> str:
        """The estimated figures that a layer's formulas read."""
        table = constants(self.signalling, self.preset)
        return estimates_read(self._timing, table, workload, lambda timing: replace(self, figures=timing))
