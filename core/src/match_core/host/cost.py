"""The host's cost model: operations counted from the emitted loops, times cycles of an in-order RV32IMFC core.

The core knows no chip, so these are estimates from instruction counts: single issue, one cycle per instruction, a
second one for loads and stores that leave the core, three for a taken branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.cost import Bound, EnergyModel, Overlap, TransferCycles, TransferShape
from match_core.hardware import Constant
from match_core.schedule.workload import Workload

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _cycles(name: str, value: float, reasoning: str) -> Constant:
    return Constant(name, value, "cycles", f"instruction count, RV32IMFC in order: {reasoning}", estimate=True)


#: Cycles of one operation of each class of ``match_core.host.kernels.work.Work``.
OPERATION_CYCLES: tuple[Constant, ...] = (
    _cycles("memory", 2, "issue and one wait cycle"),
    _cycles("integer", 1, "one ALU instruction"),
    _cycles("wide", 4, "64 bits in two registers: add, sltu, add, add"),
    _cycles("wide_multiply", 10, "mul, mulhu, mul, mul, add, add with two-cycle high products and moves"),
    _cycles("divide", 35, "bit-serial div"),
    _cycles("wide_divide", 150, "library call, about 64 steps of shift and subtract"),
    _cycles("floating", 2, "one FPU instruction with a dependent successor"),
    _cycles("floating_divide", 12, "iterative fdiv or fsqrt"),
    _cycles("special", 80, "library call: range reduction and a polynomial of degree 6 to 8"),
    _cycles("half", 9, "shifts, masks and two selections on the bits, a move between register files"),
    _cycles("macs", 9, "lbu, lb, mul, add, two pointer increments, taken branch"),
    _cycles("floating_macs", 13, "flw, flw with wait cycles, fmul, fadd, two pointer increments, taken branch"),
    _cycles("tile_macs", 2, "mul, add"),
    _cycles("floating_tile_macs", 3, "fmul, fadd, a wait between them"),
    _cycles("steps", 4, "index increment and taken branch"),
)
CALL_CYCLES = Constant("call", 20, "cycles", "instruction count: arguments, jump, saved registers", estimate=True)


@dataclass(frozen=True, slots=True)
class HostCostModel:
    """``cycle_scale`` scales every figure, for a Soc whose host is slower or faster than the model core."""

    cycle_scale: float = 1.0
    name: str = "host"
    version: str = "2"
    bound: Bound = "fitted"
    overlap: Overlap = "none"
    energy: EnergyModel | None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Cycles of one call. Host workloads are not cut, so a tile is the whole; smaller ones scale in proportion."""
        counts = workload.parameters
        whole = sum(constant.value * counts.get(constant.name, 0) for constant in OPERATION_CYCLES)
        dim = workload.dims[0]
        share = np.asarray(tile[dim.name], dtype=np.float64) / dim.size
        cycles: NDArray[np.int64] = np.ceil(self.cycle_scale * whole * share).astype(np.int64)
        return cycles

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Cycles of a function call; a view has none."""
        once = 0 if workload.kind == "host_view" else int(np.ceil(self.cycle_scale * CALL_CYCLES.value))
        return np.full(np.shape(tile[workload.dims[0].name]), once, dtype=np.int64)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Nothing is copied: the host works in place."""
        none = np.zeros(np.shape(transfer.rows), dtype=np.int64)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """Nothing to hand over."""
        return 0
