"""The host's cost model: operations counted from the emitted loops, times cycles of an in-order RV32IMFC core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.cost import Bound, EnergyModel, Overlap, TransferCycles, TransferShape
from match_core.contract.hardware import Constant, Soc
from match_core.contract.workload import Workload
from match_core.patterns.formulas import fitted

from match_host.constants import CALL_CYCLES, HOST_CONSTANTS, OPERATION_CYCLES

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class HostCostModel:
    """``cycle_scale`` scales every figure, for a Soc whose host is slower or faster than the model core. ``operations``
    and ``call_cycles``: the figures."""

    cycle_scale: float = 1.0
    name: str = "host"
    version: str = "2"
    bound: Bound = "fitted"
    overlap: Overlap = "none"
    energy: EnergyModel | None = None
    operations: tuple[Constant, ...] = OPERATION_CYCLES
    call_cycles: float = CALL_CYCLES.value

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Cycles of one call. Host workloads are not tiled, so a tile is the whole; smaller ones scale in
        proportion."""
        counts = workload.parameters
        whole = sum(constant.value * counts.get(constant.name, 0) for constant in self.operations)
        dim = workload.dims[0]
        share = np.asarray(tile[dim.name], dtype=np.float64) / dim.size
        cycles: NDArray[np.int64] = np.ceil(self.cycle_scale * whole * share).astype(np.int64)
        return cycles

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Cycles of a function call; 0 for a view."""
        once = 0 if workload.kind == "host_view" else int(np.ceil(self.cycle_scale * self.call_cycles))
        return np.full(np.shape(tile[workload.dims[0].name]), once, dtype=np.int64)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """No cycles: the host works in place."""
        none = np.zeros(np.shape(transfer.rows), dtype=np.int64)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """No cycles per layer."""
        return 0

    def estimate(self, workload: Workload) -> str:
        """The classes of operations that a layer has and whose cycles are estimates, by their names in the unit."""
        found = [c.name for c in self.operations if c.estimate and workload.parameters.get(c.name, 0)]
        return ", ".join(f"host_{name}_cycles" for name in found)


def host_cost(soc: Soc) -> HostCostModel:
    """The model with the values of the Soc's figures file, if there is one."""
    *operations, call = fitted(HOST_CONSTANTS, soc, "host")
    values = zip(OPERATION_CYCLES, operations, strict=True)
    return HostCostModel(
        operations=tuple(replace(constant, value=new.value, estimate=new.estimate) for constant, new in values),
        call_cycles=call.value,
    )
