"""Instructions of the library's functions: counts of their parts times instructions of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_host.cost import HostCostModel

from match_cmsisnn.figures import FIGURES

if TYPE_CHECKING:
    from match_core.contract.workload import Workload
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LibraryCost(HostCostModel):
    """The parts' counts are the workload's parameters, under the names of the figures."""

    name: str = "cmsis_nn"
    version: str = "1"

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Instructions of one call; functions work on whole layers."""
        counts = workload.parameters
        whole = sum(figure.value * counts.get(figure.name, 0) for figure in FIGURES)
        return np.full(np.shape(tile[workload.dims[0].name]), int(np.ceil(whole)), dtype=np.int64)

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """None: the figure of a call counts it."""
        return np.zeros(np.shape(tile[workload.dims[0].name]), dtype=np.int64)

    def estimate(self, workload: Workload) -> str:
        """None: all figures are counted."""
        return ""


COST = LibraryCost()
