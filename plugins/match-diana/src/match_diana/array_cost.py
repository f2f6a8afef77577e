"""Common parts of both arrays' cost models: their copies, strictly sequential execution, and energy by the published
power of the chip while one of its arrays works, or the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
from match_core import EnergyModel, Overlap, TransferCycles, TransferShape, Workload
from match_core.patterns.formulas import Tile, figures_version
from match_host.estimates import estimates_read

from match_diana.digital.formulas import copy_cycles

if TYPE_CHECKING:
    from match_core import CostModel
    from match_core.contract.cost import Bound
    from numpy.typing import NDArray

#: Raised when a formula changes.
FORMULAS = 1


@dataclass(frozen=True, slots=True)
class ArrayCost:
    """Host, array and copies run one after another. ``unit``: the array, in the model's name; ``figures``: None for
    those of the chip."""

    unit: ClassVar[str]

    pattern: str
    bound: Bound = "fitted"
    figures: Mapping[str, int] | None = None

    @property
    def timing(self) -> Mapping[str, int]:
        """The figures that formulas read."""
        return timing() if self.figures is None else self.figures

    @property
    def version(self) -> str:
        """Of formulas and figures."""
        return figures_version(FORMULAS, timing())

    @property
    def name(self) -> str:
        """Names unit and pattern; appears in every report."""
        return f"diana-{self.unit}-{self.pattern}"

    @property
    def energy(self) -> EnergyModel:
        """By the published power of the chip while the array works."""
        return DianaEnergy(cast("CostModel", self), self.unit)  # a whole one with the methods of an array

    @property
    def overlap(self) -> Overlap:
        """Copies block."""
        return "none"

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Copies of contiguous pieces, one after another. Constants are fetched by the array itself, within its
        cycles."""
        chunks = transfer.planes * transfer.rows
        none = np.zeros_like(chunks)
        if transfer.near != "l1":
            return TransferCycles(none, none, none)
        return TransferCycles(none, chunks * copy_cycles(self.timing, transfer.row_bytes), none)

    def layer_cycles(self, workload: Workload) -> int:
        """Layers are plain calls of the host."""
        return 0

    def estimate(self, workload: Workload) -> str:
        """The estimated figures that a layer's formulas read."""
        from match_diana.constants import constants  # the table holds the figures of both arrays

        def reading(figures: Mapping[str, int]) -> CostModel:
            return cast("CostModel", replace(self, figures=figures))

        return estimates_read(self.timing, constants(), workload, reading)


@dataclass(frozen=True, slots=True)
class DianaEnergy:
    """Cycles of a cost model times the power of the whole chip. ``unit``: what works; the host starts kernels."""

    cost: CostModel
    unit: str

    def kernel_energy_pj(self, workload: Workload, tile: Tile) -> NDArray[np.float64]:
        """Energy of one kernel call and of starting it."""
        kernel = self.cost.kernel_cycles(workload, tile).astype(np.float64)
        launch = self.cost.launch_cycles(workload, tile).astype(np.float64)
        return picojoules(self.unit) * kernel + picojoules("host") * launch

    def transfer_energy_pj(self, workload: Workload, transfer: TransferShape) -> NDArray[np.float64]:
        """Energy of copies, which are part of an array's work: each array has its own engine."""
        copies = self.cost.transfer_cycles(workload, transfer)
        return picojoules(self.unit) * np.asarray(copies.data, np.float64)


def picojoules(unit: str) -> float:
    """Of one cycle in which this unit works."""
    return 1e6 * timing()[f"{unit}_microwatts"] / timing()["clock_hz"]


def timing() -> Mapping[str, int]:
    """The figures of the chip, by name."""
    from match_diana.constants import values  # the table holds the figures of both arrays

    return values()
