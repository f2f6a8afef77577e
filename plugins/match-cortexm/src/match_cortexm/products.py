"""The forms of the host's products, which the axes of their weights tell: convolutions, matrices, sums."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from match_host.kernels.products.depthwise_sums import FEW

from match_cortexm.moves import TURNS, UNROLLED
from match_cortexm.transposed import TRANSPOSED, strided
from match_cortexm.windows import IMAGE_AXES, LINE_AXES, bounded, inside, window

if TYPE_CHECKING:
    from match_core.contract.workload import Workload

#: Statements of a loop that compilers unroll whole: gcc's max-completely-peeled-insns is 200, and it expects a third of
#: them to vanish.
_PEELED = 300
#: Axes of packed weights: [taps, channels], of depthwise convolutions; others have windows().
DEPTHWISE_AXES = 2
#: Layers with products in each of several steps.
_RECURRENT = ("host_lstm", "host_gru", "host_rnn")
#: Sums of a loop that have registers of their own.
_REGISTERS = 8
_BYTE_BITS, _VECTOR_BYTES = 8, 16


def product_form(workload: Workload) -> str:
    """Products with weights of ones, depthwise ones, those of one row and those of few inputs are special: their loops
    are short or not there."""
    result, elements = workload.operands[-1], workload.parameters["elements"]
    weights = workload.operands[1]
    taps = workload.macs // elements
    few = "few taps" if taps <= UNROLLED else "many taps"
    if workload.kind in _RECURRENT:
        return "recurrent"
    if workload.kind == TRANSPOSED:
        lines = ", lines" if len(result.axes) < IMAGE_AXES else ""
        return f"transposed{', strided' if strided(workload) else ''}{lines}"
    if not stored(workload):
        last = result.axes[-1].size
        lines = ", in registers" if last <= _REGISTERS else ", unrolled" if last <= UNROLLED else ""
        lines = "" if "held_columns" in workload.parameters else lines  # blocks of channels
        if any(operand.role != "constant" for operand in workload.operands[1:-1]):
            return f"computed{_short(workload, taps)}"
        return f"sums of {few}{lines}"
    if len(weights.axes) == DEPTHWISE_AXES and weights.axes[0].size == taps:
        if taps > UNROLLED:
            return f"depthwise, {few}{', unrolled' if result.axes[-1].size < FEW else ''}"
        rows = rows_axis(workload)  # addresses of taps that may be outside of the image are looked up
        padded = inside(workload, window(workload, taps, rows), rows) < 1
        return f"depthwise, {few}{', padded' if padded else ''}"
    if windows(workload):
        columns, inputs = (axis.size for axis in weights.axes[-3:-1])
        first, *_, last = (axis.size for axis in workload.operands[0].axes[1:])
        if len(weights.axes) > IMAGE_AXES + 1:
            return "volumes"
        grouped = "grouped " if inputs not in ((last,) if "nhwc" in workload.kind else (first, last)) else ""
        turns = inputs * (columns if channels_last(workload) and not grouped else 1)
        return f"{grouped}{'pointwise' if inputs == taps else 'windows'}{_short(workload, turns)}"
    short = ", short" if taps <= TURNS else ""
    return f"one row{short}" if prod(axis.size for axis in result.axes[:-1]) == 1 else "products"


def windows(workload: Workload) -> bool:
    """Whether weights are those of a convolution's tiles: [blocks, taps along each axis of space, inputs, outputs]."""
    source, weights = (operand.axes for operand in workload.operands[:2])
    if not stored(workload) or len(source) < LINE_AXES or len(weights) != len(source) + 1:
        return False
    taps = prod(axis.size for axis in weights[1:-1])
    return len(source) >= IMAGE_AXES or (taps == workload.macs // workload.parameters["elements"] and _blocks(workload))


def _blocks(workload: Workload) -> bool:
    """Whether weights of three axes and blocks are those of lines: those of matrices are one block of many."""
    weights, source = workload.operands[1].axes, workload.operands[0].axes
    return "conv" in workload.kind or weights[0].size > 1 or source[-1].size != weights[2].size


def _short(workload: Workload, turns: int) -> str:
    """Whether compilers unroll the innermost loop over products, as the end of a form."""
    return ", short" if is_short(workload, turns) else ""


def is_short(workload: Workload, turns: int) -> bool:
    """Whether compilers unroll the innermost loop over products."""
    return turns <= TURNS and turns * _statements(workload) <= _PEELED


def _statements(workload: Workload) -> int:
    """Those of a turn of the innermost loop over products: two for each, one for each value and weight, or two if they
    are widened."""
    told = workload.parameters
    positions, outputs = (told.get(f"held_{side}", 1) for side in ("rows", "columns"))
    return 2 * positions * outputs + (positions + outputs) * (1 + (workload.operands[0].element_bits == _BYTE_BITS))


def stored(workload: Workload) -> bool:
    """Whether weights are stored in the order in which tiles of outputs read them, tiles last; a table has one axis."""
    if len(workload.operands) <= 2:
        return False
    source = workload.operands[1]
    return source.role == "constant" and len(source.axes) >= DEPTHWISE_AXES


def shifted(workload: Workload) -> bool:
    """Whether a zero point that is known at run time is subtracted from each byte."""
    return any(not operand.axes for operand in workload.operands[2:-1])


def channels_last(workload: Workload) -> bool:
    """Whether the last axis of an image is that of the channels, of which weights have inputs and outputs."""
    if "nhwc" in workload.kind or not stored(workload):
        return "nhwc" in workload.kind
    weights = [axis.size for axis in workload.operands[1].axes]
    if not windows(workload):
        return (
            len(weights) == DEPTHWISE_AXES
            or weights[0] * weights[-1] >= workload.operands[-1].axes[-1].size > (weights[0] - 1) * weights[-1]
        )
    first, last = (_groups(workload, axis) for axis in (1, -1))
    return not first or 0 < last <= first  # either may be a whole number of groups: rather one


def _groups(workload: Workload, axis: int) -> int:
    """The groups of a convolution whose channels are on an axis; 0 if they are not, as blocks would not be whole."""
    source, result = (workload.operands[place].axes[axis].size for place in (0, -1))
    blocks, *_, inputs, outputs = (axis.size for axis in workload.operands[1].axes)
    groups = max(1, source // inputs)
    own = -(-result // groups)
    return groups * (source % inputs == 0 and result % groups == 0 and groups * -(-own // outputs) == blocks)


def rows_axis(workload: Workload) -> int:
    """The axis of an image's rows."""
    return 1 if channels_last(workload) else 2


def depthwise_counts(workload: Workload, products: int, channels: int) -> Mapping[str, int]:
    """The counts of a depthwise convolution of ``products``. Blocks that do not divide all channels compute some
    twice; ``single``: of one block."""
    told, inner, taps = workload.parameters, share(workload), products // channels
    columns = told.get("held_columns", FEW)
    blocks = -(-channels // columns)
    computed = columns * blocks if "held_columns" in told else channels
    if workload.operands[1].axes[0].size > UNROLLED:  # loops leave padding of zeros out
        visits = round(taps * (1.0 if "filled" in told else inner))
        return {"inside": visits * computed, "visits": visits * blocks, "outside": (taps - visits) * blocks}
    visits, lanes = round(taps * inner), _VECTOR_BYTES * _BYTE_BITS // workload.operands[0].element_bits
    found = {"stored": taps * computed, "visits": visits, "rest": visits * (channels % lanes)}  # padding counts, too
    size = workload.operands[1].axes[0].size
    found["bounded"] = taps // size * bounded(workload, size, rows_axis(workload))
    return {**found, "single": visits * (blocks == 1)}


def sums_of_ones(workload: Workload, products: int) -> Mapping[str, int]:
    """Those of products with one number: of blocks of channels whose sums have registers; else compilers add up pairs
    of channels."""
    last = workload.operands[-1].axes[-1].size
    if "held_columns" not in workload.parameters or "kernel_x" not in workload.parameters:
        return {"odd": products * (last % 2)}
    visits = products // last * -(-last // FEW)
    return {"visits": visits, "stored": visits * FEW}


def share(workload: Workload) -> float:
    """The share of taps inside the image, of convolutions."""
    first, *rest = (axis.size for axis in workload.operands[1].axes)
    rows = rows_axis(workload)
    return inside(workload, rest[:-2] if windows(workload) else window(workload, first, rows), rows)
