"""Which figures the instructions of a workload come from, and the counts that they multiply.

Compilers write other code for the same operators where loops are short, runs are long, or elements are broadcast. So
the figures are told apart by such forms; a workload has several keys, from the special one to that of all its kind."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from match_cortexm.figures import OWN
from match_cortexm.moves import MOVES, UNROLLED, move, moved
from match_cortexm.transposed import TRANSPOSED, gathered
from match_cortexm.windows import IMAGE_AXES, LINE_AXES, inside, pooled, positions_of, tiled, window

if TYPE_CHECKING:
    from match_core.contract.workload import Operand, Workload

#: Statements of a loop that compilers unroll whole: gcc's max-completely-peeled-insns is 200, and it expects a third of
#: them to vanish.
_PEELED = 300
#: Axes of packed weights: [taps, channels], of depthwise convolutions; others have _windows().
_DEPTHWISE_AXES = 2
#: Sums of a loop that have registers of their own.
_REGISTERS = 8
_VECTOR_BYTES = 16
#: Patterns of the host that combine the elements of windows and lines.
_WINDOWS = ("pool", "reduce")
#: Ends of the names of those that add them up.
_TERMS = ("average_pool", "reduce_mean", "reduce_sum")
_BYTE_BITS = 8
#: Ends of forms that too few made layers have to tell their tiles apart.
_RARE = ("transposed", "strided", "volumes")
#: Counts of loops and of what they read and write.
_LOOPS = {"elements", "memory", "steps"}
#: Counts of regions that call no function.
_PLAIN = {"elements", "memory", "floating", "steps"}


def figures_keys(workload: Workload) -> tuple[str, ...]:
    """The figures of a workload, the most special first: one set for all own kernels; of the host's, sets for each
    pattern, apart for floating-point and integer elements and the size of elements."""
    kind, counts = workload.kind, workload.parameters
    if kind.startswith("cortexm_"):
        return (OWN,)
    floating = any(name.startswith(("floating", "special", "half")) for name in counts)
    bits = workload.operands[-1].element_bits
    half = "half" in counts
    numbers = "half" if half else "float" if floating else str(bits)
    key = f"{kind} {numbers}"
    if kind in MOVES:
        form = move(workload)
        return f"{key}, {form}", f"moves {bits}, {form}", f"moves {bits}"
    if workload.macs:
        sums = "half" if half else "floating" if {"floating_tile_macs", "floating_macs"} & set(counts) else "integer"
        sums = "shifted" if sums == "integer" and shifted(workload) else sums
        form = f"{sums} {_product(workload)}"
        tiles = stored(workload) and len(workload.operands[1].axes) > _DEPTHWISE_AXES
        tile = f"{form} of {workload.operands[1].axes[-1].size}" if tiles and not form.endswith(_RARE) else form
        wider = ("products, integer",) if sums == "shifted" else ()
        shared = (f"products, {tile}", f"products, {form}", f"products, {sums}", *wider)
        # What comes with the products of a region differs, whatever its numbers are.
        return f"regions, {tile}" if "region" in kind else f"{key}, {tile}", *shared
    if any(name in kind for name in _WINDOWS):
        taps = counts.get("memory", 0) // counts["elements"] - 1
        few = taps < UNROLLED
        form = f"{taps} taps" if few else "many taps"
        if "region" in kind:  # what is computed of each
            return f"{key}, {form}, {_per_term(counts)}", f"{key}, {_per_term(counts)}", key
        padded = ", padded" if "pool" in kind and pooled(workload, taps, _rows(workload)) < 1 else ""
        return f"{key}, {form}{padded}", f"{key}, {form}", *((f"{key}, few taps",) if few else ()), key
    form = _per_element(counts)
    if "requant" in kind and workload.operands[0].element_bits == _BYTE_BITS:
        key = f"{key} of bytes"  # their products have 32 bits
    plain = (f"{key}, plain",) if "region" in kind and not set(counts) - _PLAIN else ()
    repeated, last = _broadcast(workload), workload.operands[-1].axes[-1:]
    lines = (f"{key}, {form}{repeated} of few",) if repeated and last[0].size <= UNROLLED else ()
    return *lines, f"{key}, {form}{repeated}", f"{key}, {form}", *plain, key


def _product(workload: Workload) -> str:
    """Products with weights of ones, depthwise ones, those of one row and those of few inputs are special: their loops
    are short or not there."""
    result, elements = workload.operands[-1], workload.parameters["elements"]
    weights = workload.operands[1]
    taps = workload.macs // elements
    few = "few taps" if taps <= UNROLLED else "many taps"
    if workload.kind == TRANSPOSED:
        return "transposed" if result.axes[-1].size <= workload.operands[0].axes[-1].size + 1 else "transposed, strided"
    if not stored(workload):
        last = result.axes[-1].size
        lines = ", in registers" if last <= _REGISTERS else ", unrolled" if last <= UNROLLED else ""
        return "computed" if len(workload.operands) > 2 else f"sums of {few}{lines}"
    if len(weights.axes) == _DEPTHWISE_AXES and weights.axes[0].size == taps:
        return f"depthwise, {few}"
    if _windows(workload):
        columns, inputs = (axis.size for axis in weights.axes[-3:-1])
        first, *_, last = (axis.size for axis in workload.operands[0].axes[1:])
        if len(weights.axes) > IMAGE_AXES + 1:
            return "volumes"
        grouped = "grouped " if inputs not in ((last,) if "nhwc" in workload.kind else (first, last)) else ""
        turns = inputs * (columns if _channels_last(workload) and not grouped else 1)
        short = ", short" if turns <= UNROLLED and turns * _statements(workload) <= _PEELED else ""
        return f"{grouped}{'pointwise' if inputs == taps else 'windows'}{short}"
    return "one row" if prod(axis.size for axis in result.axes[:-1]) == 1 else "products"


def _statements(workload: Workload) -> int:
    """Those of a turn of a convolution's innermost loop: two for each product, one for each value and weight, or two
    if they are widened."""
    positions, outputs = positions_of(workload), workload.operands[1].axes[-1].size
    return 2 * positions * outputs + (positions + outputs) * (1 + (workload.operands[0].element_bits == _BYTE_BITS))


def _windows(workload: Workload) -> bool:
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


def stored(workload: Workload) -> bool:
    """Whether weights are stored in the order in which tiles of outputs read them, tiles last."""
    return len(workload.operands) > 2 and workload.operands[1].role == "constant"


def shifted(workload: Workload) -> bool:
    """Whether a zero point that is known at run time is subtracted from each byte."""
    return any(not operand.axes for operand in workload.operands[2:-1])


def _per_element(counts: Mapping[str, int]) -> str:
    """Operations per element if they are whole numbers; loops of few elements have no turns."""
    elements = counts["elements"]
    rest = {name: count for name, count in counts.items() if name != "elements"}
    few = "few, " if elements <= UNROLLED else ""
    if any(count % elements for count in rest.values()):
        return f"{few}uneven"
    return few + " ".join(f"{count // elements} {name}" for name, count in rest.items())


def _per_term(counts: Mapping[str, int]) -> str:
    """Operations per term of a window."""
    terms = max(1, counts["memory"] - counts["elements"])
    return " ".join(f"{round(counts[name] / terms)} {name}" for name in counts if name not in _LOOPS)


def _broadcast(workload: Workload) -> str:
    """Whether an operand is repeated along the last axis, or along others."""
    *sources, result = workload.operands
    return "".join(sorted({_repeats(operand, result) for operand in sources}))


def _repeats(operand: Operand, result: Operand) -> str:
    own, sizes = ([axis.size for axis in one.axes] for one in (operand, result))
    pairs = zip(reversed(own), reversed(sizes), strict=False)
    if not 1 < prod(own) < prod(sizes) or any(one not in (1, size) for one, size in pairs):
        return ""
    return ", by rows" if own[-1] == 1 else ", by columns"


def counts_of(workload: Workload, zeros: float | None = None) -> Mapping[str, int]:
    """What the figures multiply: a workload's counts; the ``runs`` of neighbouring elements, of copies; ``stored``, the
    products with weights as they are stored, whose last tile may repeat some; ``inside``, those of taps in the image;
    ``tiles``, ``lines`` and ``edges`` of convolutions (``windows.tiled``);
    ``positions`` and ``visits``, the windows of pooling and their taps; ``rest``, taps of channels that fill no vector;
    ``rows`` of operators on lines; ``others``, elements of a softmax but the largest of a row, whose exponential is
    that of 0. ``zeros``: the share of products and terms with an operand 0; with it, ``nonzero`` counts the others, of
    float32."""
    found = _counts_of(workload)
    summed = workload.macs or workload.kind.endswith(_TERMS)
    if zeros is None or not summed or not {"floating", "floating_tile_macs"} & set(found) or "tile_macs" in found:
        return found
    terms = found.get("stored", workload.macs) or found.get("memory", 0) - found.get("elements", 0)
    terms = round(workload.macs * _share(workload)) if "tiles" in found else found.get("inside", terms)
    return {**found, "nonzero": round(terms * (1 - zeros))}


def _counts_of(workload: Workload) -> Mapping[str, int]:
    """What numbers do not change."""
    kind, counts = workload.kind, workload.parameters
    if kind.startswith("cortexm_"):
        return counts
    *sources, result = workload.operands
    if kind in MOVES:
        return moved(workload)
    if kind == TRANSPOSED:
        return gathered(workload)
    if not result.axes:
        return counts
    last = result.axes[-1].size
    if kind.startswith("host_nhwc") and "pool" in kind:
        positions, visits = counts["elements"] // last, counts["memory"] // last
        rest = visits * (last % (_VECTOR_BYTES * 8 // result.element_bits))
        terms = counts["memory"] - counts["elements"]
        found = {"positions": positions, "visits": visits, "rest": rest}
        return {**counts, **found, "inside": round(terms * pooled(workload, terms // counts["elements"], 1))}
    rows = counts["elements"] // last
    if "softmax" in kind:
        return {**counts, "rows": rows, "others": counts["elements"] - rows}
    if not workload.macs and (_broadcast(workload) or "norm" in kind):
        ahead = sum(_repeats(operand, result) == ", by rows" for operand in sources)  # of the loop over a row
        return {**counts, "rows": rows, "memory": counts["memory"] - ahead * (counts["elements"] - rows)}
    if not workload.macs or not stored(workload):
        return counts
    weights = [axis.size for axis in sources[1].axes]
    channels = last if not _windows(workload) or _channels_last(workload) else result.axes[1].size
    tiles = tiled(workload, _rows(workload)) if _windows(workload) else {}
    if tiles:
        return {**counts, **tiles}
    found = {**counts, "stored": prod(weights) * counts["elements"] // channels}
    if len(weights) == _DEPTHWISE_AXES and weights[0] > 1:
        found["inside"] = round(found["stored"] * _share(workload))
    return found


def _share(workload: Workload) -> float:
    """The share of taps inside the image, of convolutions."""
    first, *rest = (axis.size for axis in workload.operands[1].axes)
    rows = _rows(workload)
    return inside(workload, rest[:-2] if _windows(workload) else window(workload, first, rows), rows)


def _channels_last(workload: Workload) -> bool:
    """Whether the last axis of an image is that of the channels, of which weights have inputs and outputs."""
    if "nhwc" in workload.kind or not stored(workload):
        return "nhwc" in workload.kind
    weights = [axis.size for axis in workload.operands[1].axes]
    if not _windows(workload):
        return (
            len(weights) == _DEPTHWISE_AXES
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


def _rows(workload: Workload) -> int:
    """The axis of an image's rows."""
    return 1 if _channels_last(workload) else 2
