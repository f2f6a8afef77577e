"""The host beside oneDNN in the same unit: nanoseconds of one thread.

The core counts the operations of its kernels and knows what each costs a small in-order core. This kind of machine is
faster, and not by one factor: vectors take many products at once, of moves and special functions fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core import TransferCycles, TransferShape, Workload
from match_core.host.cost import OPERATION_CYCLES
from numpy.typing import NDArray

from match_dnnl.figures import HOST_FIGURES, VALUES

if TYPE_CHECKING:
    from match_core.cost import Bound, Overlap

Cycles = NDArray[np.int64]

HOST_FIGURE_NAMES = tuple(figure.name for figure in HOST_FIGURES)
_PRODUCTS = frozenset(("macs", "floating_macs", "tile_macs", "floating_tile_macs"))
_MOVES = frozenset(("memory", "steps"))


def host_work(workload: Workload) -> dict[str, float]:
    """How often each figure of the host counts in a kernel: cycles of the core's model by class, and the call."""
    counts = dict.fromkeys(HOST_FIGURE_NAMES, 0.0)
    if workload.kind == "host_view":
        return counts
    operations = workload.parameters
    for constant in OPERATION_CYCLES:
        cycles = float(constant.value) * operations.get(constant.name, 0)
        counts[_figure(constant.name)] += cycles
    return {**counts, "host_call_ns": 1.0}


def _figure(operation: str) -> str:
    if operation in _PRODUCTS:
        return "host_product_ns"
    return "host_move_ns" if operation in _MOVES else "host_other_ns"


@dataclass(frozen=True, slots=True)
class HostCost:
    """A cycle of this model is a nanosecond."""

    name: str = "dnnl-host"
    version: str = "1"
    bound: Bound = "fitted"
    overlap: Overlap = "none"
    energy: None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """Nanoseconds of a kernel. Kernels are not cut: a tile is the whole, smaller ones scale in proportion."""
        total = sum(VALUES[name] * count for name, count in host_work(workload).items() if name != "host_call_ns")
        dim = workload.dims[0]
        share = np.asarray(tile[dim.name], dtype=np.float64) / dim.size
        cycles: Cycles = np.ceil(total * share).astype(np.int64)
        return cycles

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The call of a function; a view has none."""
        once = int(np.ceil(VALUES["host_call_ns"] * host_work(workload)["host_call_ns"]))
        return np.full(np.shape(tile[workload.dims[0].name]), once, dtype=np.int64)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Nothing is copied: the host works in place."""
        none = np.zeros(np.shape(transfer.rows), dtype=np.int64)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """Nothing to hand over."""
        return 0
