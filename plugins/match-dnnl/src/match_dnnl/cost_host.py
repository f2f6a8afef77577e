"""The host's cost in the unit of oneDNN's: nanoseconds of one thread.

The host's cost model multiplies counts of operations by cycles of a small in-order core. This kind of machine is
faster, but not by one factor: vectors compute many products, but fewer moves and special functions, at the same time.
"""

from __future__ import annotations

from match_core import Workload
from match_host.constants import OPERATION_CYCLES

from match_dnnl.cost import FittedCost
from match_dnnl.figures import HOST_FIGURES

HOST_FIGURE_NAMES = tuple(figure.name for figure in HOST_FIGURES)
#: Figures of operations by their names in the core's model; all others are other arithmetic.
_FIGURES = {
    "macs": "host_product_ns",
    "floating_macs": "host_product_ns",
    "tile_macs": "host_tile_ns",
    "floating_tile_macs": "host_tile_ns",
    "memory": "host_memory_ns",
    "steps": "host_step_ns",
}


def host_work(workload: Workload) -> dict[str, float]:
    """How often each figure of the host counts in a kernel: cycles of the core's model by class, and the call."""
    counts = dict.fromkeys(HOST_FIGURE_NAMES, 0.0)
    if workload.kind == "host_view":
        return counts
    operations = workload.parameters
    for constant in OPERATION_CYCLES:
        cycles = float(constant.value) * operations.get(constant.name, 0)
        figure = "host_transpose_ns" if workload.kind == "host_transpose" else _FIGURES.get(constant.name)
        counts[figure or "host_other_ns"] += cycles
    return {**counts, "host_call_ns": 1.0}


def host_cost() -> FittedCost:
    """The cost of the host's kernels on the same machine."""
    return FittedCost("dnnl-host", host_work, "host_call_ns", version="3")
