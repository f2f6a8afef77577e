"""Energy by the published power of the chip while one of its arrays works, or the host."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core import Soc, TransferShape, Workload
from match_core.patterns.formulas import Tile, figures_version
from match_host.cost import HostCostModel, host_cost

from match_diana.array_cost import FORMULAS, timing

if TYPE_CHECKING:
    from match_core import CostModel
    from numpy.typing import NDArray


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


def host_with_energy(soc: Soc) -> HostCostModel:
    """The host's cost model with the power of this chip."""
    plain = host_cost(soc)
    version = f"{plain.version}-{figures_version(FORMULAS, timing())}"
    return replace(plain, version=version, energy=DianaEnergy(plain, "host"))
