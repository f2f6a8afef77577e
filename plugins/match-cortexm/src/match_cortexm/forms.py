"""Which figures the instructions of a workload come from, and the counts that they multiply.

Compilers write other code for the same operators where loops are short, runs are long, or elements are broadcast. So
the figures are told apart by such forms; a workload has several keys, from the special one to that of all its kind."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from match_host.kernels.products.depthwise_sums import FEW

from match_cortexm.figures import OWN
from match_cortexm.moves import MOVES, TURNS, UNROLLED, moved, moves
from match_cortexm.products import DEPTHWISE_AXES, channels_last, product_form, rows_axis, shifted, stored, windows
from match_cortexm.transposed import TRANSPOSED, gathered
from match_cortexm.windows import inside, pooled, positions_of, tiled, window

if TYPE_CHECKING:
    from match_core.contract.workload import Operand, Workload

_VECTOR_BYTES = 16
#: Patterns of the host that combine the elements of windows and lines.
_WINDOWS = ("pool", "reduce", "arg_")
#: Patterns of the host that go through lines several times.
_LINES = ("softmax", "norm")
#: Ends of the names of those that add them up.
_TERMS = ("average_pool", "reduce_mean", "reduce_sum")
_BYTE_BITS, _DOUBLE_BITS = 8, 64
#: Blocks of channels that compilers compute without a loop, taps whose addresses have registers, and columns of images
#: that are no wider than padding: counted with gcc 12.2 for M4 and M55.
_PEELED_BLOCKS, _PEELED_TAPS, _NARROW = 6, 8, 2
#: Operations on floats of a quantisation.
_QUANTISED = 4
#: Ends of forms that too few made layers have to tell their tiles apart.
_RARE = ("transposed", "strided", "lines", "volumes", "recurrent")
#: Counts of loops and of what they read and write.
_LOOPS = {"elements", "memory", "steps", "sums", "doubled", "runs", "lines", "rest", "quantised"}
#: How the counts of calls of a function begin, and those of one that ``floating_divide`` counts, too.
CALLS, _ROOTS = "calls_", "calls_sqrt"
#: What the host tells that is no operation, and neighbours from which softmaxes go across lines (``match_host``).
_TOLD, _ACROSS = ("elements", "inner", "rows", "sums", "doubled", "quantised"), 4
#: What it tells of loops and windows, which no figures multiply.
_GEOMETRY = ("kernel_", "stride_", "dilation_", "before_", "zeros", "filled", "block", "turns")
#: Operands of operators on one tensor and a constant number: what they read and the result.
_OF_ONE = 2
#: Sizes of recurrent layers.
_SIZES = ("inputs", "hidden")
#: Counts of regions that call no function.
_PLAIN = {"elements", "memory", "floating", "steps", "sums", "compared", "doubled", "quantised"}


def figures_keys(workload: Workload) -> tuple[str, ...]:
    """The figures of a workload, the most special first: one set for all own kernels; of the host's, sets for each
    pattern, apart for floating-point and integer elements and the size of elements."""
    kind, counts = workload.kind, _named(workload)
    if kind.startswith("cortexm_"):
        return (OWN,)
    floating = any(name.startswith(("floating", "special", "half", CALLS)) for name in counts)
    bits = workload.operands[-1].element_bits
    half = "half" in counts
    double = {bits, workload.operands[0].element_bits} == {_DOUBLE_BITS}
    numbers = "half" if half else "double" if floating and double else "float" if floating else str(bits)
    kind = kind.removesuffix("_between")  # the same loops as those of other regions
    key = f"{kind} {numbers}"
    if kind in MOVES:
        forms = moves(workload)
        return *(f"{name}, {form}" for form in forms for name in (key, f"moves {bits}")), f"moves {bits}"
    if workload.macs:
        sums = "half" if half else "floating" if {"floating_tile_macs", "floating_macs"} & set(counts) else "integer"
        sums = "shifted" if sums == "integer" and shifted(workload) else sums
        form = f"{sums} {product_form(workload)}"
        tiles = stored(workload) and len(workload.operands[1].axes) > DEPTHWISE_AXES
        tile = f"{form} of {workload.operands[1].axes[-1].size}" if tiles and not form.endswith(_RARE) else form
        wider = ("products, integer",) if sums == "shifted" else ()
        key = key.replace("_pad_conv", "_conv") if tile.endswith(" of 1") else key  # one channel: the same loops
        shared = (f"products, {tile}", f"products, {form}", f"products, {sums}", *wider)
        # What comes with the products of a region differs, whatever its numbers are.
        begin = "regions" if "region" in kind else key
        if tile != form and windows(workload) and positions_of(workload) == 1:  # each weight is used once
            shared = (f"products, {tile} alone", f"products, {form} alone", f"{begin}, {tile}", *shared)
            tile = f"{tile} alone"
        return f"{begin}, {tile}", *shared
    if any(name in kind for name in _WINDOWS):
        taps = _terms(workload) // counts["elements"]
        few = taps < UNROLLED
        form = f"{taps} taps" if few else "many taps"
        columns = "" if "pool" in kind else _by_columns(workload, few)
        form = f"{'few' if few else 'many'} taps{columns}" if columns else form
        if "region" in kind:  # what is computed of each
            each = _per_term(workload)
            return f"{key}, {form}, {each}", f"{key}, {each}", key
        padded = ", padded" if "pool" in kind and pooled(workload, taps, rows_axis(workload)) < 1 else ""
        return f"{key}, {form}{padded}", f"{key}, {form}", *((f"{key}, few taps",) if few and not columns else ()), key
    form = _per_element(counts)
    if "inner" in counts:  # softmaxes whose lines are no neighbours
        key = f"{key} of {'few ' if counts['inner'] < _ACROSS else ''}columns"
    if kind == "host_resize" and _scales_columns(workload):
        key = f"{key} of columns"
    if "requant" in kind and workload.operands[0].element_bits == _BYTE_BITS:
        key = f"{key} of bytes"  # their products have 32 bits
    plain = (f"{key}, plain",) if "region" in kind and not set(counts) - _PLAIN else ()
    repeated, last = _broadcast(workload), workload.operands[-1].axes[-1:]
    lines = (f"{key}, {form}{repeated} of few",) if repeated and _line(workload) <= UNROLLED else ()
    if any(name in kind for name in _LINES) and "inner" not in counts and last and last[0].size <= UNROLLED:
        lines = (f"{key}, {form} of short lines",)
    special = *lines, f"{key}, {form}{repeated}", f"{key}, {form}"
    if "region" in kind and bits == _BYTE_BITS and _quantises(counts):
        special += (f"host_quantize_linear {numbers}, {form.replace('1 integer ', '')}",)
    return *special, *plain, key


def _named(workload: Workload) -> Mapping[str, int]:
    """A workload's counts; calls are counted by function where it tells these. ``limited``, behind products: results of
    HardSigmoid and HardSwish, of which two of three operations compare; ``quantised``: floats that become bytes."""
    counts = {name: count for name, count in workload.parameters.items() if not name.startswith(_GEOMETRY)}
    elements = counts.get("elements", 0)
    if workload.kind.startswith("host_region") and "floating" in counts and _is_bytes(workload.operands[-1]):
        counts["quantised"] = elements
    if workload.macs and (_scaled(counts), counts.get("compared")) == (3 * elements, 2 * elements):
        counts["limited"] = elements
    if not any(name.startswith(CALLS) for name in counts):
        return counts
    divided = counts.get("floating_divide", 0) - counts.get(_ROOTS, 0)
    return {n: c for n, c in {**counts, "special": 0, "floating_divide": divided}.items() if c}


def _is_bytes(operand: Operand) -> bool:
    return operand.element_bits == _BYTE_BITS


def _scaled(counts: Mapping[str, int]) -> int:
    """Operations on floats but additions."""
    return counts.get("floating", 0) - counts.get("sums", 0)


def _scales_columns(workload: Workload) -> bool:
    """Whether the last axis gets another size: the elements of its source are no neighbours."""
    source, result = (workload.operands[place].axes[-1:] for place in (0, -1))
    return [axis.size for axis in source] != [axis.size for axis in result]


def _quantises(counts: Mapping[str, int]) -> bool:
    """Whether a region may be a quantisation and a step of its bytes."""
    elements = counts["elements"]
    few = 0 < counts.get("floating", 0) <= _QUANTISED * elements and not counts.get("special")
    return few and counts.get("integer") == elements


def _by_columns(workload: Workload, few: bool) -> str:
    """Whether the terms of a sum are of one column, and compilers unroll the loop over columns; or whether all terms of
    a result have one accumulator."""
    told = workload.parameters
    if "block" in told:
        return f", by columns{' of few' if told['block'] <= TURNS else ''}"
    if "lines" in told or "turns" in told:
        alone = "turns" in told and not few and any(name.startswith("floating") for name in told)
        return f", one by one{' of few' if told['turns'] <= UNROLLED else ''}" if alone else ""
    source, result = (workload.operands[place].axes[-1:] for place in (0, -1))
    if not result or result[0].size == 1 or source[0].size != result[0].size:
        return ""
    return f", by columns{' of few' if result[0].size <= TURNS else ''}"


def _per_element(counts: Mapping[str, int]) -> str:
    """Operations per element if they are whole numbers; loops of few elements have no turns."""
    elements = counts["elements"]
    rest = {name: count for name, count in counts.items() if name not in _TOLD}
    few = "few, " if elements <= UNROLLED else ""
    if any(count % elements for count in rest.values()):
        return f"{few}uneven"
    return few + " ".join(f"{count // elements} {name}" for name, count in rest.items())


def _terms(workload: Workload) -> int:
    """The terms of all windows or lines: turns of loops if the host tells of these."""
    told = workload.parameters
    name = "steps" if told.keys() & {"block", "lines", "turns"} else "memory"
    return told.get(name, 0) - told["elements"]


def _per_term(workload: Workload) -> str:
    """Operations per term of a window."""
    counts, terms = _named(workload), max(1, _terms(workload))
    return " ".join(f"{round(counts[name] / terms)} {name}" for name in counts if name not in _LOOPS)


def _broadcast(workload: Workload) -> str:
    """Whether an operand is repeated along the last axis, or along others."""
    *sources, result = workload.operands
    return "".join(sorted({_repeats(operand, result) for operand in sources}))


def _repeats(operand: Operand, result: Operand) -> str:
    own, sizes = ([axis.size for axis in one.axes] for one in (operand, result))
    pairs = list(zip(reversed(own), reversed(sizes), strict=False))
    if not 1 < prod(own) < prod(sizes) or any(one not in (1, size) for one, size in pairs):
        return ""
    return ", by rows" if next(one for one, size in pairs if size > 1) == 1 else ", by columns"


def _line(workload: Workload) -> int:
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


def counts_of(workload: Workload, zeros: float | None = None) -> Mapping[str, int]:
    """What the figures multiply: a workload's counts; the ``runs`` of neighbouring elements, of copies; ``stored``, the
    products with weights as they are stored, whose last tile may repeat some; ``inside``, those of taps in the image;
    ``tiles``, ``lines`` and ``edges`` of convolutions (``windows.tiled``), and ``values`` that tiles of one position
    read; ``positions`` and ``visits``, windows of pooling and of depthwise convolutions and their taps; ``rest``, taps
    of channels that fill no vector; ``rows`` of operators on lines; ``others``, elements of a softmax but the largest
    of a row, whose exponential is that of 0. ``zeros``: the share of products and terms with an operand 0; with it,
    ``nonzero`` counts the others, of float32, and ``fractions`` those with one number that is no power of two."""
    found = _counts_of(workload)
    doubled = found.get("doubled", 0)
    found = {name: count for name, count in found.items() if name != "doubled"}
    if "words" in found:  # which are no sums of 64 bits
        found = {**found, "wide": found["wide"] - found["words"]}
    summed = workload.macs or workload.kind.endswith(_TERMS) or adds(workload)
    if zeros is None or not summed or not {"floating", "floating_tile_macs"} & set(found) or "tile_macs" in found:
        return found
    terms = found.get("stored", workload.macs) or found.get("memory", 0) - found.get("elements", 0)
    if len(workload.operands) == _OF_ONE and adds(workload):
        found["fractions"] = round((found["floating"] - doubled) * (1 - zeros))
    terms = found["elements"] if adds(workload) else terms
    terms = round(workload.macs * _share(workload)) if "tiles" in found else found.get("inside", terms)
    constant = workload.parameters.get("zeros", 0) / max(1, workload.macs)
    return {**found, "nonzero": round(terms * (1 - zeros) * (1 - constant))}


def adds(workload: Workload) -> bool:
    """Whether a layer adds two tensors of floats, or a number to one, or does as little: of a sum, too, an operand may
    be 0."""
    counts, few = workload.parameters, 2 * workload.parameters.get("elements", 0)
    plain = workload.kind == "host_add" or ("region" in workload.kind and not set(counts) - _PLAIN)
    operands = len(workload.operands)
    one = operands == _OF_ONE and workload.kind in ("host_add", "host_sub", "host_mul")
    return (one or (plain and operands == _OF_ONE + 1)) and 0 < counts.get("floating", 0) <= few


def _counts_of(workload: Workload) -> Mapping[str, int]:
    """What numbers do not change."""
    kind, counts = workload.kind, _named(workload)
    if kind.startswith("cortexm_"):
        return {**counts, **_unrolled(workload)}
    *sources, result = workload.operands
    if kind in MOVES:
        return moved(workload)
    if kind == TRANSPOSED:
        return gathered(workload)
    if "inputs" in counts:
        return _recurrent(counts)
    if not result.axes:
        return counts
    last = result.axes[-1].size
    if kind.startswith("host_nhwc") and "pool" in kind:
        positions, visits = counts["elements"] // last, counts["memory"] // last
        lanes = _VECTOR_BYTES * 8 // result.element_bits
        rest, vectors = visits * (last % lanes), visits * (last // lanes)
        terms = counts["memory"] - counts["elements"]
        found = {"positions": positions, "visits": visits, "vectors": vectors, "rest": rest}
        return {**counts, **found, "inside": round(terms * pooled(workload, terms // counts["elements"], 1))}
    rows = counts["elements"] // last
    if "softmax" in kind:
        rows = counts.get("rows", rows)
        return {**counts, "rows": rows, "others": counts["elements"] - rows}
    if not workload.macs and (_broadcast(workload) or "norm" in kind):
        rows = rows if "norm" in kind else counts["elements"] // _line(workload)
        ahead = sum(_repeats(operand, result) == ", by rows" for operand in sources)  # of the loop over a row
        return {**counts, "rows": rows, "memory": counts["memory"] - ahead * (counts["elements"] - rows)}
    if not workload.macs or not stored(workload):
        return counts
    weights = [axis.size for axis in sources[1].axes]
    channels = last if not windows(workload) or channels_last(workload) else result.axes[1].size
    tiles = tiled(workload, rows_axis(workload)) if windows(workload) else {}
    if tiles:
        alone = {"values": tiles["inside"] // weights[-1]} if positions_of(workload) == 1 else {}
        return {**counts, **tiles, **alone, "scattered": 0 if channels_last(workload) else counts["elements"]}
    found = {**counts, "stored": prod(weights) * counts["elements"] // channels}
    if len(weights) == DEPTHWISE_AXES and weights[0] > 1:
        found |= _alone(workload, found["stored"], channels)
    return found


def _alone(workload: Workload, stored: int, channels: int) -> Mapping[str, int]:
    """Those of a depthwise convolution of ``stored`` products."""
    share, blocks, computed = _share(workload), -(-channels // FEW), channels
    if workload.operands[1].axes[0].size > UNROLLED:
        # Loops leave padding of zeros out, and compute channels of the last block twice if blocks do not divide all.
        share = 1.0 if "filled" in workload.parameters else share
        blocks, computed = (blocks, FEW * blocks) if channels >= FEW else (1, channels)
        taps = stored // channels
        visits = round(taps * share)
        return {"inside": visits * computed, "visits": visits * blocks, "outside": (taps - visits) * blocks}
    inner = round(stored * share)
    visits, lanes = inner // channels, _VECTOR_BYTES * _BYTE_BITS // workload.operands[0].element_bits
    return {"inside": inner, "outside": stored - inner, "visits": visits, "rest": visits * (channels % lanes)}


def _recurrent(counts: Mapping[str, int]) -> Mapping[str, int]:
    """Those of a recurrent layer: products of sums that compilers do not unroll are ``looped``."""
    sizes = counts["inputs"], counts["hidden"]
    sums = counts.get("floating_macs", 0) // sum(sizes)
    looped = sums * sum(size for size in sizes if size > TURNS)
    return {**{name: count for name, count in counts.items() if name not in _SIZES}, "sums": sums, "looped": looped}


def _unrolled(workload: Workload) -> Mapping[str, int]:
    """What compilers do with the loops of own kernels: taps of more addresses than there are registers, in a loop over
    blocks that has turns; rows that a function copies, as some are clipped, and rows of images that are narrower than
    windows, whose lengths are known."""
    counts, source = workload.parameters, workload.operands[0]
    found: dict[str, int] = {}
    for name, count in counts.items():
        form, _, part = name.rpartition("_")
        if part == "blocks" and "max_" in name and count > _PEELED_BLOCKS * counts[f"{form}_tiles"]:
            steps = counts[f"{form}_steps"]
            found[f"{form}_turns"] = steps * (steps > _PEELED_TAPS * count and not counts.get(f"{form}_loops"))
        if name.endswith("_rows_clipped") and count:
            narrow = source.axes[-2].size <= _NARROW
            found[name] = 0 if narrow else count
            kind, rows = (
                ("narrow", 0) if narrow else ("called", counts.get(f"{form.removesuffix('_rows')}_rows_inside", 0))
            )
            found[f"{form}_{kind}"] = count + rows
    return found


def _share(workload: Workload) -> float:
    """The share of taps inside the image, of convolutions."""
    first, *rest = (axis.size for axis in workload.operands[1].axes)
    rows = rows_axis(workload)
    return inside(workload, rest[:-2] if windows(workload) else window(workload, first, rows), rows)
