"""Instructions of a kernel: counts of its parts times instructions of each, fitted to counts on an emulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from match_host.cost import HostCostModel

from match_cortexm.figures import GENERAL, OWN, figures_of

if TYPE_CHECKING:
    from match_core.contract.workload import Operand, Workload
    from numpy.typing import NDArray

#: Elements up to which loops are unrolled, and inputs of a convolution whose innermost loop is.
_UNROLLED, _FEW_INPUTS = 16, 4
#: Axes of an image: samples, two of space, channels.
_IMAGE_AXES = 4
#: What products and moves cost whose form has no figures, relative to the figures of all kernels: an estimate, above
#: what any counted one takes, so that kernels with figures are preferred.
_UNKNOWN = 4.0
#: Runs for which compilers call memcpy.
_LONG_BITS = 8 * 64
#: Patterns of the host that copy elements.
MOVES = ("host_concat", "host_pad", "host_slice", "host_split", "host_transpose")


def figures_keys(workload: Workload) -> tuple[str, ...]:
    """The figures of a workload, the most special first: one set for all own kernels; of the host's, one for each
    pattern, apart for floating-point and integer elements and the size of elements that are moved. Special ones are for
    forms of a pattern that compilers treat differently."""
    kind, counts = workload.kind, workload.parameters
    if kind.startswith("cortexm_"):
        return (OWN,)
    floating = any(name.startswith(("floating", "special", "half")) for name in counts)
    key = f"{kind} float" if floating else f"{kind} {workload.operands[-1].element_bits}"
    if kind in MOVES:
        bits = workload.operands[-1].element_bits * counts["elements"] // max(1, counts_of(workload)["runs"])
        form = "long runs" if bits >= _LONG_BITS else "short runs"
        return (f"{key}, {'elements' if counts.get('memory', 0) == 2 * counts['elements'] else form}",)
    if not workload.macs:
        return (f"{key}, {_per_element(counts)}", key)
    special = _product(workload)
    if floating and len(workload.operands[0].axes) == _IMAGE_AXES:  # the same loops, whatever is fused with them
        return (f"{key}, {special}", f"convolution float, {special}", "convolution float")
    return (f"{key}, {special}",)


def _product(workload: Workload) -> str:
    """Products with weights of ones, depthwise ones, those of one row and those of few inputs are special: their loops
    are short or not there."""
    source, result = workload.operands[0], workload.operands[-1]
    sums = "floating" if "floating_tile_macs" in workload.parameters else "integer"
    depth, taps = source.axes[-1].size if source.axes else 1, workload.macs // workload.parameters["elements"]
    if not any(operand.role == "constant" for operand in workload.operands[1:2]) and len(workload.operands) == 2:
        form = "sums"
    elif taps % depth:
        form = "depthwise"
    elif prod(axis.size for axis in result.axes[:-1]) == 1:
        form = "one row"
    else:
        form = "few inputs" if depth <= _FEW_INPUTS < taps else "products"
    return f"{sums} {form}"


def _per_element(counts: Mapping[str, int]) -> str:
    """Operations per element if they are whole numbers; loops of few elements have no turns."""
    elements = counts["elements"]
    rest = {name: count for name, count in counts.items() if name != "elements"}
    few = "few, " if elements <= _UNROLLED else ""
    if any(count % elements for count in rest.values()):
        return f"{few}uneven"
    return few + " ".join(f"{count // elements} {name}" for name, count in rest.items())


def counts_of(workload: Workload) -> Mapping[str, int]:
    """What the figures multiply: a workload's counts; the ``runs`` of neighbouring elements, of copies; ``stored``, the
    products with weights as they are stored, whose last tile may repeat some."""
    if workload.kind.startswith("cortexm_"):
        return workload.parameters
    *sources, result = workload.operands
    if workload.kind not in MOVES:
        if not workload.macs or len(sources) < 2 or sources[1].role != "constant" or not result.axes:
            return workload.parameters
        weights = prod(axis.size for axis in sources[1].axes)
        return {**workload.parameters, "stored": weights * workload.parameters["elements"] // result.axes[-1].size}
    runs = sum(_runs(source, result, workload.kind == "host_transpose") for source in sources)
    return {**workload.parameters, "runs": runs}


def _runs(source: Operand, result: Operand, reordered: bool) -> int:
    """Runs that are contiguous in both: axes from the last one, up to the first that differs."""
    before, after = ([axis.size for axis in operand.axes] for operand in (source, result))
    run = 1
    while before and before[-1] == after[-1]:
        run *= before.pop()
        after.pop()
    if before and not reordered:
        run *= min(before[-1], after[-1])
    return -(-min(prod(axis.size for axis in operand.axes) for operand in (source, result)) // max(run, 1))


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
        values = next((self.figures[key] for key in figures_keys(workload) if key in self.figures), None)
        counts = counts_of(workload)
        if values is None:
            values = self.figures[GENERAL]
            if workload.macs or workload.kind in MOVES:
                values = {name: _UNKNOWN * value for name, value in values.items()}
        whole = values.get("call", 0.0) + sum(value * counts.get(name, 0) for name, value in values.items())
        return np.full(shape, int(np.ceil(whole)), dtype=np.int64)

    def launch_cycles(self, workload: Workload, tile: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """None: the figure of a call counts it."""
        return np.zeros(np.shape(tile[workload.dims[0].name]), dtype=np.int64)


def cost_on(core: str) -> FittedCost:
    """The model of a core by its name."""
    return FittedCost(figures=figures_of(core))
