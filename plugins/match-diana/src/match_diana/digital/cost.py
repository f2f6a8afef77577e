"""Cost models of the digital array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from match_core import Workload
from match_core.patterns.formulas import Cycles, Tile

from match_diana.array_cost import ArrayCost
from match_diana.digital import formulas


@dataclass(frozen=True, slots=True)
class DigitalCost(ArrayCost):
    """Jobs of the published formula."""

    unit: ClassVar[str] = "digital"

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """Cycles of one kernel call: weights fetched, and the array's work."""
        return formulas.kernel_cycles(self.timing, workload, tile)

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        """The host's cycles for the jobs of a kernel call."""
        return formulas.launch_cycles(self.timing, workload, tile)
