"""Instructions of the cores' own kernels: counts of their parts times instructions of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_host.cost import HostCostModel

from match_cortexm.figures import FIGURES

if TYPE_CHECKING:
    from match_core.contract.workload import Workload
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class KernelCost(HostCostModel):
    """The parts' counts are the workload's parameters, under the names of the figures."""

    name: str = "cortexm"
    version: str = "1"

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Instructions of one call; the kernels work on whole layers."""
        counts = workload.parameters
        whole = sum(figure.value * counts.get(figure.name, 0) for figure in FIGURES)
        return np.full(np.shape(tile[workload.dims[0].name]), int(np.ceil(whole)), dtype=np.int64)

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """None: the figure of a call counts it."""
        return np.zeros(np.shape(tile[workload.dims[0].name]), dtype=np.int64)


#: Instructions for each modelled cycle of the host's kernels that move elements or compute softmax: an estimate from
#: counts between 0.33 and 0.39. The host's other kernels, which compete with the core's own, keep its cycles.
INSTRUCTIONS_PER_CYCLE = 0.36
_FEWER = ("host_transpose", "host_softmax")

KERNEL_COST, HOST_COST = KernelCost(), HostCostModel()
HOST_MOVES_COST = HostCostModel(cycle_scale=INSTRUCTIONS_PER_CYCLE, name="cortexm_moves")


def cost_of(pattern: str) -> HostCostModel:
    """The model of a pattern by its name."""
    if pattern.startswith("cortexm_"):
        return KERNEL_COST
    return HOST_MOVES_COST if pattern.startswith(_FEWER) else HOST_COST
