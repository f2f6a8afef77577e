"""Instructions of a kernel: counts of its parts times instructions of each, fitted to counts on an emulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from match_host.cost import HostCostModel
from match_host.kernels.movement.movement import TILE

from match_cortexm.figures import GENERAL, OWN, figures_of

if TYPE_CHECKING:
    from match_core.contract.workload import Operand, Workload
    from numpy.typing import NDArray


def figures_key(workload: Workload) -> str:
    """Which figures a workload has: one set for all own kernels; of the host's, one for each pattern, apart for
    floating-point and integer elements, for the size of elements that are moved, and for the order of the axes."""
    kind, counts = workload.kind, workload.parameters
    if kind.startswith("cortexm_"):
        return OWN
    if any(name.startswith(("floating", "special", "half")) for name in counts):
        return f"{kind} float"
    source, result = workload.operands[0], workload.operands[-1]
    return f"{kind} {result.element_bits}{_order(source, result, counts) if kind == 'host_transpose' else ''}"


def _order(source: Operand, result: Operand, counts: Mapping[str, int]) -> str:
    """Which end of an image the channels move to, whether in tiles, and whether these are whole; axes of length 1 do
    not count."""
    before, after = ([axis.size for axis in operand.axes if axis.size > 1] for operand in (source, result))
    if before and after == [*before[1:], *before[:1]]:
        order, runs = " to last", [before[0], counts["elements"] // before[0]]
    elif before and after == [*before[-1:], *before[:-1]]:
        order, runs = " to first", [counts["elements"] // before[-1]]
    else:
        return ""
    if counts.get("steps") == counts["elements"]:
        return f"{order}, untiled"
    return f"{order}, whole tiles" if any(run % TILE == 0 for run in runs) else order


@dataclass(frozen=True, slots=True)
class FittedCost(HostCostModel):
    """``figures``: instructions of each count by key; ``call`` counts once."""

    name: str = "cortexm"
    version: str = "2"
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Instructions of one call; the kernels work on whole layers."""
        shape = np.shape(tile[workload.dims[0].name])
        if workload.kind == "host_view":
            return np.zeros(shape, dtype=np.int64)
        values = self.figures.get(figures_key(workload)) or self.figures[GENERAL]
        counts = workload.parameters
        whole = values.get("call", 0.0) + sum(value * counts.get(name, 0) for name, value in values.items())
        return np.full(shape, int(np.ceil(whole)), dtype=np.int64)

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """None: the figure of a call counts it."""
        return np.zeros(np.shape(tile[workload.dims[0].name]), dtype=np.int64)


def cost_on(core: str) -> FittedCost:
    """The model of a core by its name."""
    return FittedCost(figures=figures_of(core))
