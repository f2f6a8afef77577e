"""Nanoseconds of a region: its primitives, and the data that cross its border."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_core import TransferCycles, TransferShape, Workload
from match_core.patterns.formulas import Cycles

from match_dnnl.counts import DEPTHWISE, DIRECT, LINES, RESULTS, WINOGRAD
from match_dnnl.figures import FIGURES, VALUES

if TYPE_CHECKING:
    from match_core.contract.cost import Bound, Overlap


FIGURE_NAMES = tuple(figure.name for figure in FIGURES)
#: Operators by how their time is counted, as the names of counts in workloads have them; all others are functions
#: element by element, which mostly become part of the primitive before.
_PRODUCTS = frozenset(("Conv", "ConvTranspose", "Gemm", "MatMul", "match_nhwc__Conv"))
#: Convolutions, of whose work there are own counts, and the figures of these.
_COUNTED = ("Conv", "match_nhwc__Conv")
_CONVOLUTIONS = {
    WINOGRAD: "winograd_mac_ns",
    DEPTHWISE: "depthwise_mac_ns",
    LINES: "depthwise_line_ns",
    DIRECT: "direct_mac_ns",
    RESULTS: "product_element_ns",
}
_VIEWS = frozenset(("Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))
_PASSES = frozenset(
    (
        "AveragePool",
        "BatchNormalization",
        "Concat",
        "LRN",
        "LayerNormalization",
        "LogSoftmax",
        "MaxPool",
        "Pad",
        "Resize",
        "Softmax",
        "match_nhwc__AveragePool",
        "match_nhwc__MaxPool",
    )
)
#: Functions that take a polynomial, not an instruction.
_FUNCTIONS = frozenset(
    ("Div", "Elu", "Exp", "Gelu", "Log", "Mish", "Pow", "Reciprocal", "Sigmoid", "Softplus", "Sqrt", "Tanh")
)


def work(workload: Workload, winograd: bool = True) -> dict[str, float]:
    """How often each figure of the model counts in a region: names as in ``figures.py``; ``winograd``: whether the
    transformation is used."""
    counts = dict.fromkeys(FIGURE_NAMES, 0.0)
    for name, count in workload.geometry:
        kind, _, op = name.partition("_")
        passes = op in _PASSES or op.startswith("Reduce")
        if name in _CONVOLUTIONS:
            counts[_CONVOLUTIONS[name] if winograd or name != WINOGRAD else "direct_mac_ns"] += count
        elif kind == "nodes" and (op in _PRODUCTS or passes):
            counts["primitive_ns"] += count
        elif kind == "macs":
            counts["product_mac_ns"] += count * (op not in _COUNTED)
        elif kind == "elements" and op and op not in (*_VIEWS, *_COUNTED):
            counts["pass_element_ns" if passes else _element_figure(op)] += count
    blocked = dict(workload.geometry).get(RESULTS, 0) > 0
    for operand in workload.operands:
        size_bytes = prod(axis.size for axis in operand.axes) * operand.element_bits // 8
        image = blocked and len(operand.axes) > 2
        figure = "image_byte_ns" if image else "border_byte_ns"
        counts["constant_byte_ns" if operand.role == "constant" else figure] += size_bytes
    return {**counts, "region_ns": 1.0}


def _element_figure(op: str) -> str:
    if op in _PRODUCTS:
        return "product_element_ns"
    return "function_element_ns" if op in _FUNCTIONS else "element_ns"


@dataclass(frozen=True, slots=True)
class FittedCost:
    """A sum of fitted figures; a cycle of this model is a nanosecond. ``counts``: how often each figure counts in a
    workload; ``call``: the fixed cost of each call."""

    name: str
    counts: Callable[[Workload], Mapping[str, float]]
    call: str
    version: str = "1"
    bound: Bound = "fitted"
    overlap: Overlap = "none"
    energy: None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """Nanoseconds of a run. Nothing is cut: a tile is the whole, smaller ones scale in proportion."""
        total = sum(VALUES[name] * count for name, count in self.counts(workload).items() if name != self.call)
        dim = workload.dims[0]
        share = np.asarray(tile[dim.name], dtype=np.float64) / dim.size
        cycles: Cycles = np.ceil(total * share).astype(np.int64)
        return cycles

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Cycles]) -> Cycles:
        """The call; a view has none."""
        once = int(np.ceil(VALUES[self.call] * self.counts(workload)[self.call]))
        return np.full(np.shape(tile[workload.dims[0].name]), once, dtype=np.int64)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Nothing is copied between memories."""
        none = np.zeros(np.shape(transfer.rows), dtype=np.int64)
        return TransferCycles(none, none, none)

    def layer_cycles(self, workload: Workload) -> int:
        """Nothing to hand over."""
        return 0

    def estimate(self, workload: Workload) -> str:
        """The figures that count in a region: all are estimates, fitted on one machine."""
        return ", ".join(name for name, count in self.counts(workload).items() if count)


def region_cost(winograd: bool = True) -> FittedCost:
    """The cost of regions on oneDNN."""
    name = "dnnl-region" if winograd else "dnnl-region-direct"
    return FittedCost(name, partial(work, winograd=winograd), "region_ns", version="3")
