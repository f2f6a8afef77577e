"""Cost models of the digital array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from match_core import Workload

from match_diana import digital_formulas as formulas
from match_diana.array_cost import ArrayCost, timing
from match_diana.digital_formulas import Cycles, Tile

if TYPE_CHECKING:
    from match_core import CostModel


def digital_cost(pattern: str) -> CostModel | None:
    """The cost model of one of the array's patterns."""
    return DigitalCost(pattern)


@dataclass(frozen=True, slots=True)
class DigitalCost(ArrayCost):
    """Jobs of the published formula."""

    unit: ClassVar[str] = "digital"

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Cycles of one kernel call: weights fetched, and the array's work."""
        return formulas.kernel_cycles(timing(), workload, tile)

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """What the host does for the jobs of a kernel call."""
        return formulas.launch_cycles(timing(), workload, tile)
