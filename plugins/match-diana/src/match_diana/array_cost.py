"""Common parts of both arrays' cost models: their copies, and strictly sequential execution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
from match_core import EnergyModel, Overlap, TransferCycles, TransferShape, Workload
from match_core.patterns.formulas import figures_version

from match_diana.digital.formulas import copy_cycles

if TYPE_CHECKING:
    from match_core import CostModel
    from match_core.contract.cost import Bound

#: Raised when a formula changes.
FORMULAS = 1


@dataclass(frozen=True, slots=True)
class ArrayCost:
    """Host, array and copies run one after another. ``unit``: the array, in the model's name."""

    unit: ClassVar[str]

    pattern: str
    bound: Bound = "fitted"

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
        from match_diana.energy import DianaEnergy  # it needs the figures of this module

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
        return TransferCycles(none, chunks * copy_cycles(timing(), transfer.row_bytes), none)

    def layer_cycles(self, workload: Workload) -> int:
        """Layers are plain calls of the host."""
        return 0


def timing() -> Mapping[str, int]:
    """The figures of the chip, by name."""
    from match_diana.constants import values  # the table holds the figures of both arrays

    return values()
