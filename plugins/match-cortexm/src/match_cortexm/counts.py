"""The counts of a workload that the figures of its form multiply."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from match_cortexm.moves import TURNS, copies, moved
from match_cortexm.own_counts import own_counts
from match_cortexm.products import (
    DEPTHWISE_AXES,
    channels_last,
    depthwise_counts,
    rows_axis,
    share,
    stored,
    sums_of_ones,
    windows,
)
from match_cortexm.transposed import TRANSPOSED, gathered
from match_cortexm.windows import pooled, positions_of, tiled

if TYPE_CHECKING:
    from match_core.contract.workload import Operand, Workload

_VECTOR_BYTES = 16
BYTE_BITS = 8
#: Ends of the names of patterns of the host that add up windows and lines.
_TERMS = ("average_pool", "reduce_mean", "reduce_sum")
#: How the counts of calls of a function begin, and those of one that ``floating_divide`` counts, too.
CALLS, _ROOTS = "calls_", "calls_sqrt"
#: What the host tells of loops and windows, and rivals.py of rivals, which no figures multiply.
_GEOMETRY = (
    "kernel_",
    "stride_",
    "dilation_",
    "before_",
    "zeros",
    "filled",
    "block",
    "turns",
    "held_",
    "rivalled",
    "digits",
)
#: Digits of factors, and products of 64 bits by some.
_DIGITS, _SHIFTED = ("digits", "digits_wide"), "digits_products"
#: Operands of operators on one tensor and a constant number: what they read and the result.
_OF_ONE = 2
#: Sizes of recurrent layers.
_SIZES = ("inputs", "hidden")
#: Counts of regions that call no function.
PLAIN = {"elements", "memory", "floating", "steps", "sums", "compared", "doubled", "rectified", "limited", "quantised"}
#: The share of zeros in what Relu makes: an estimate.
_RECTIFIED = 0.5


def counts_of(workload: Workload, zeros: float | None = None, shifts: bool = False) -> Mapping[str, int]:
    """What the figures multiply: a workload's counts; the ``runs`` of neighbouring elements, of copies; ``stored``, the
    products with weights as they are stored, whose last tile may repeat some; ``inside``, those of taps in the image;
    ``bounded``, taps of depthwise convolutions that are outside for some results; ``tiles``, ``lines`` and ``edges`` of
    convolutions (``windows.tiled``), and ``values`` that tiles of one position read; ``positions`` and ``visits``,
    windows of pooling and of depthwise convolutions and their taps; ``rest``, taps of channels that fill no vector;
    ``rows`` of operators on lines; ``others``, elements of a softmax but the largest of a row, whose exponential is
    that of 0. ``zeros``: the share of products and terms with an operand 0; with it, ``nonzero`` counts the others, of
    float32, ``fractions`` those with one number that is no power of two, and ``multiplied`` the operations of a region
    that are neither sums nor comparisons. ``shifts``: on cores that write products by some constants as shifts;
    ``digits`` of these then, and ``digits_wide`` of those of 64 bits, which are not among the ``wide`` ones."""
    found = dict(_counts_of(workload))
    digits = {name: workload.parameters.get(name, 0) for name in _DIGITS}
    if shifts and any(digits.values()):
        wide = {"wide": max(0, found["wide"] - workload.parameters.get(_SHIFTED, 0))} if "wide" in found else {}
        found |= digits | wide
    doubled, rectified = (found.get(name, 0) for name in ("doubled", "rectified"))
    found = {name: count for name, count in found.items() if name not in ("doubled", "rectified")}
    if "words" in found:  # which are no sums of 64 bits
        found = {**found, "wide": found["wide"] - found["words"]}
    if zeros is not None and "region" in workload.kind and not workload.macs and "floating" in found:
        rest = found["floating"] - found.get("sums", 0) - found.get("compared", 0)
        found = {**found, **({"multiplied": rest} if rest > 0 else {})}
    summed = workload.macs or workload.kind.endswith(_TERMS) or adds(workload)
    if zeros is None or not summed or not {"floating", "floating_tile_macs"} & set(found) or "tile_macs" in found:
        return found
    terms = found.get("stored", workload.macs) or found.get("memory", 0) - found.get("elements", 0)
    if len(workload.operands) == _OF_ONE and adds(workload):
        found["fractions"] = round((found["floating"] - doubled) * (1 - zeros))
    terms = found["elements"] - round(_RECTIFIED * rectified) if adds(workload) else terms
    terms = round(workload.macs * share(workload)) if "clamped" in found else found.get("inside", terms)
    if "visits" in found and "inside" not in found:  # padding is 0
        terms = round(terms * share(workload))
    constant = workload.parameters.get("zeros", 0) / max(1, workload.macs)
    terms = round(terms * _filled(workload)) if "stored" in found else terms
    if "looped" in found:  # a recurrent layer's own results are not 0
        inputs, hidden = (workload.parameters[name] for name in _SIZES)
        return {**found, "nonzero": found["sums"] * hidden + round(found["sums"] * inputs * (1 - zeros))}
    return {**found, "nonzero": round(terms * (1 - zeros) * (1 - constant))}


def adds(workload: Workload) -> bool:
    """Whether a layer adds two tensors of floats, or a number to one, or does as little: of a sum, too, an operand may
    be 0."""
    counts, few = workload.parameters, 2 * workload.parameters.get("elements", 0)
    plain = workload.kind == "host_add" or ("region" in workload.kind and not set(counts) - PLAIN)
    operands = len(workload.operands)
    one = operands == _OF_ONE and workload.kind in ("host_add", "host_sub", "host_mul")
    return (one or (plain and operands == _OF_ONE + 1)) and 0 < counts.get("floating", 0) <= few


def named(workload: Workload) -> Mapping[str, int]:
    """A workload's counts; calls are counted by function where it tells these. ``limited``: only behind products;
    ``quantised``: floats that become bytes."""
    counts = {name: count for name, count in workload.parameters.items() if not name.startswith(_GEOMETRY)}
    elements = counts.get("elements", 0)
    if workload.kind.startswith("host_region") and "floating" in counts and _is_bytes(workload.operands[-1]):
        counts["quantised"] = elements
    if not workload.macs:
        counts.pop("limited", None)
    if not any(name.startswith(CALLS) for name in counts):
        return counts
    divided = counts.get("floating_divide", 0) - counts.get(_ROOTS, 0)
    return {n: c for n, c in {**counts, "special": 0, "floating_divide": divided}.items() if c}


def _is_bytes(operand: Operand) -> bool:
    return operand.element_bits == BYTE_BITS


def broadcast(workload: Workload) -> str:
    """Whether an operand is repeated along the last axis, or along others."""
    *sources, result = workload.operands
    return "".join(sorted({_repeats(operand, result) for operand in sources}))


def _repeats(operand: Operand, result: Operand) -> str:
    own, sizes = ([axis.size for axis in one.axes] for one in (operand, result))
    pairs = list(zip(reversed(own), reversed(sizes), strict=False))
    if not own or not prod(own) < prod(sizes) or any(one not in (1, size) for one, size in pairs):
        return ""
    return ", by rows" if next((one for one, size in pairs if size > 1), 1) == 1 else ", by columns"


def line(workload: Workload) -> int:
    """The turns of the innermost loop over a result: the last axes along which the same operands are repeated."""
    *sources, result = workload.operands
    sizes = [axis.size for axis in result.axes]
    owns = [[1] * (len(sizes) - len(one.axes)) + [axis.size for axis in one.axes] for one in sources]
    found, kept = 1, None
    for place, size in reversed(list(enumerate(sizes))):
        repeated = [own[place] == 1 for own in owns]
        if size > 1 and kept not in (None, repeated):
            break
        found, kept = found * size, repeated if size > 1 else kept
    return found


def _counts_of(workload: Workload) -> Mapping[str, int]:
    """What numbers do not change."""
    kind, counts = workload.kind, named(workload)
    if kind.startswith("cortexm_"):
        return own_counts(workload, counts)
    *sources, result = workload.operands
    if copies(workload):
        return moved(workload)
    if kind == TRANSPOSED:
        return gathered(workload)
    if "inputs" in counts:
        return _recurrent(counts)
    if not result.axes:
        return counts
    last = result.axes[-1].size
    if "pool" in kind:
        return {**counts, **_windows(workload), **_divided(workload)}
    rows = counts["elements"] // last
    if "softmax" in kind:
        rows = counts.get("rows", rows)
        return {**counts, "rows": rows, "others": counts["elements"] - rows}
    if not workload.macs and (broadcast(workload) or "norm" in kind):
        rows = rows if "norm" in kind else counts["elements"] // line(workload)
        repeated = [_repeats(operand, result) == ", by rows" for operand in sources]
        ahead = sum(repeated)  # of the loop over a row
        if all(repeated):  # so is what is computed
            once = {name for name in counts if name not in ("elements", "memory", "steps")}
            counts = {name: n * rows // counts["elements"] if name in once else n for name, n in counts.items()}
        return {**counts, "rows": rows, "memory": counts["memory"] - ahead * (counts["elements"] - rows)}
    if not workload.macs:
        return {**counts, **_divided(workload)}
    counts = _computed(workload, counts)
    if not stored(workload):
        return {**counts, **sums_of_ones(workload, counts.get("tile_macs", 0))}
    weights = [axis.size for axis in sources[1].axes]
    channels = last if not windows(workload) or channels_last(workload) else result.axes[1].size
    tiles = tiled(workload, rows_axis(workload)) if windows(workload) else {}
    if tiles:
        alone = {"values": tiles["inside"] // weights[-1]} if positions_of(workload) == 1 else {}
        return {**counts, **tiles, **alone, "scattered": 0 if channels_last(workload) else counts["elements"]}
    if "stored" in counts:
        return counts
    found = {**counts, "stored": prod(weights) * workload.parameters["elements"] // channels}
    if len(weights) == DEPTHWISE_AXES and weights[0] > 1:
        found |= depthwise_counts(workload, found["stored"], channels)
    return found


def _windows(workload: Workload) -> Mapping[str, int]:
    """Those of pooling: windows of neighbouring channels, or lines of windows of one."""
    counts, result = workload.parameters, workload.operands[-1]
    last = result.axes[-1].size
    if "nhwc" not in workload.kind:
        return {"rows": counts["elements"] // last}
    terms, lanes = counts["memory"] - counts["elements"], _VECTOR_BYTES * BYTE_BITS // result.element_bits
    block = counts.get("block", last)
    blocks = [block] * (last // block) + [last % block] * (last % block > 0)
    positions, visits = counts["elements"] // last, counts["memory"] // last
    return {
        "positions": positions * len(blocks),
        "visits": visits * len(blocks),
        "vectors": visits * sum(size // lanes for size in blocks),
        "rest": visits * sum(size % lanes for size in blocks),
        "inside": round(terms * pooled(workload, terms // counts["elements"], 1)),
    }


def _divided(workload: Workload) -> Mapping[str, int]:
    """Averages that are divided: a quotient by a power of two is a product."""
    counts = workload.parameters
    if "average" not in workload.kind and "reduce_mean" not in workload.kind:
        return {}
    taps = counts["memory"] // counts["elements"] - 1
    return {"divided": counts["elements"] * (taps & (taps - 1) > 0)}


def _computed(workload: Workload, counts: Mapping[str, int]) -> Mapping[str, int]:
    """The counts of products and of what follows them, as often as their tiles compute it: the last tile of an axis
    computes some results again. Of matrices: ``stored``, the products, and ``tiles``."""
    told, elements = workload.parameters, counts["elements"]
    if "held_tiles" not in told:
        return counts
    weights = workload.operands[1].axes  # which fill up the last vector of a tile
    columns = weights[-1].size if stored(workload) and len(weights) > DEPTHWISE_AXES else told["held_columns"]
    results = told["held_tiles"] * told["held_rows"] * columns
    loops = {"memory", "steps", "tile_macs", "floating_tile_macs"}
    found = {name: count if name in loops else count * results // elements for name, count in counts.items()}
    if windows(workload) or "kernel_x" in told:
        return found
    return {**found, "tiles": told["held_tiles"], "stored": workload.macs // elements * results}


def _recurrent(counts: Mapping[str, int]) -> Mapping[str, int]:
    """Those of a recurrent layer: products of sums that compilers do not unroll are ``looped``."""
    sizes = counts["inputs"], counts["hidden"]
    sums = counts.get("floating_macs", 0) // sum(sizes)
    looped = sums * sum(size for size in sizes if size > TURNS)
    return {**{name: count for name, count in counts.items() if name not in _SIZES}, "sums": sums, "looped": looped}


def _filled(workload: Workload) -> float:
    """The share of a matrix' stored weights that are of a result: the last tile is filled up with zeros."""
    if not stored(workload) or windows(workload) or len(workload.operands[1].axes) <= DEPTHWISE_AXES:
        return 1.0
    blocks, *_, outputs = (axis.size for axis in workload.operands[1].axes)
    return min(1.0, workload.operands[-1].axes[-1].size / (blocks * outputs))
