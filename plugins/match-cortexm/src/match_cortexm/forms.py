"""Which figures the instructions of a workload come from.

Compilers write other code for the same operators where loops are short, runs are long, or elements are broadcast. So
the figures are told apart by such forms; a workload has several keys, from the special one to that of all its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from match_cortexm.counts import BYTE_BITS, CALLS, PLAIN, broadcast, line, named
from match_cortexm.figures import OWN
from match_cortexm.moves import TURNS, UNROLLED, copies, moves
from match_cortexm.products import DEPTHWISE_AXES, is_short, product_form, rows_axis, shifted, stored, windows
from match_cortexm.windows import pooled, positions_of

if TYPE_CHECKING:
    from match_core.contract.workload import Workload

#: Patterns of the host that combine the elements of windows and lines.
_WINDOWS = ("pool", "reduce", "arg_")
#: Patterns of the host whose loops over lines of few are unrolled.
_LINES = ("softmax", "norm", "resize")
_DOUBLE_BITS = 64
#: Channels whose sums have registers: those of fewer and of more are in memory. Counted with gcc 12.2 for M4 and M55.
_HELD = 17
#: Taps of a line whose windows compilers unroll: of gcc 12.2 for M4, 16 windows of two, but not of three.
_UNROLLED_TAPS = 34
#: Outputs of a tile of one row from which on chains have their own figures. Products take most instructions of fewer,
#: as a value is read for few of them: counted for two with gcc 12.2 for M4, for three an estimate.
_FEW = 4
#: Operations on floats of a quantisation.
_QUANTISED = 4
#: How counts of what follows sums of integers begin.
_SCALES = ("wide", "words", "floating", "special", "half", CALLS)
#: Ends of forms that too few made layers have to tell their tiles apart.
_RARE = ("transposed", "strided", "lines", "volumes", "recurrent")
#: Counts of loops and of what they read and write.
_LOOPS = {"elements", "memory", "steps", "sums", "doubled", "rectified", "runs", "lines", "rest", "quantised"}
#: What the host tells that is no operation, and neighbours from which softmaxes go across lines (``match_host``).
_TOLD, _ACROSS = ("elements", "inner", "rows", "sums", "doubled", "rectified", "quantised"), 4


def figures_keys(workload: Workload) -> tuple[str, ...]:
    """The figures of a workload, the most special first: one set for all own kernels; of the host's, sets for each
    pattern, apart for floating-point and integer elements and the size of elements."""
    kind = workload.kind.removesuffix("_between")  # the same loops as those of other regions
    if kind.startswith("cortexm_"):
        return (OWN,)
    numbers = _numbers(workload)
    key = f"{kind} {numbers}"
    if copies(workload):
        bits, forms = workload.operands[-1].element_bits, moves(workload)
        return *(f"{name}, {form}" for form in forms for name in (key, f"moves {bits}")), f"moves {bits}"
    if workload.macs:
        return _product_keys(workload, key)
    if any(name in kind for name in _WINDOWS):
        return _window_keys(workload, key)
    return _element_keys(workload, key, numbers)


def _numbers(workload: Workload) -> str:
    """The numbers that a pattern computes: floats, halves, doubles, or integers of so many bits."""
    counts, bits = named(workload), workload.operands[-1].element_bits
    floating = any(name.startswith(("floating", "special", "half", CALLS)) for name in counts)
    if "half" in counts:
        return "half"
    double = {bits, workload.operands[0].element_bits} == {_DOUBLE_BITS}
    return "double" if floating and double else "float" if floating else str(bits)


def _product_keys(workload: Workload, key: str) -> tuple[str, ...]:
    """Those of products: by the numbers that are added up, and by tiles."""
    counts, told = named(workload), workload.parameters
    floating = {"floating_tile_macs", "floating_macs"} & set(counts)
    sums = "half" if "half" in counts else "floating" if floating else "integer"
    sums = "shifted" if sums == "integer" and shifted(workload) else sums
    form = tile = f"{sums} {product_form(workload)}"
    if "computed" in form and "held_rows" in told:
        tile = f"{form} of {told['held_rows']} x {told['held_columns']}"
    elif stored(workload) and len(workload.operands[1].axes) > DEPTHWISE_AXES and not form.endswith(_RARE):
        tile = f"{form} of {workload.operands[1].axes[-1].size}"
    wider = ("products, integer",) if sums == "shifted" else ()
    key = key.replace("_pad_conv", "_conv") if tile.endswith(" of 1") else key  # one channel: the same loops
    shared = (f"products, {tile}", f"products, {form}", f"products, {sums}", *wider)
    if sums == "integer" and not _scaled(counts):  # nothing follows the sums
        shared = (*(f"{name}, plain" for name in shared[:2]), *shared)
    # What comes with the products of a region differs, whatever its numbers are; one activation is a region, too.
    begin = "regions" if "region" in workload.kind or (floating and "activation" in workload.kind) else key
    if form.endswith(" products") and is_short(workload, workload.macs // counts["elements"]):  # few inputs
        few = f"{form}, short of {workload.operands[1].axes[-1].size}"
        shared = (f"products, {few}", f"products, {form}, short", f"{begin}, {tile}", *shared)
        tile = few
    if tile != form and windows(workload) and positions_of(workload) == 1:  # each weight is used once
        shared = (f"products, {tile} alone", f"products, {form} alone", f"{begin}, {tile}", *shared)
        tile = f"{tile} alone"
    elif tile != form and windows(workload) and counts["elements"] <= TURNS:  # their loops are unrolled whole
        shared = (f"products, {tile} to few", f"{begin}, {tile}", *shared)
        tile = f"{tile} to few"
    elif tile.endswith(" of 1") and windows(workload) and workload.operands[0].axes[-2].size > TURNS:  # one output each
        shared = (f"products, {tile}, long lines", f"{begin}, {tile}", *shared)
        tile = f"{tile}, long lines"
    elif tile != form and stored(workload) and 0 < told.get("held_columns", 0) < workload.operands[1].axes[-1].size:
        held = f"{told['held_rows']} x {told['held_columns']}"  # the only tile is not a whole one
        shared = (f"products, {tile}, {held}", f"{begin}, {tile}", *shared)
        tile = f"{tile}, {held}"
    if begin == "regions" and "one row" in form and counts.get("wide", 0) > counts["elements"]:
        chain = f"{begin}, {form}, chain", f"{begin}, {sums} one row, chain"  # several requantisations
        few_outputs = stored(workload) and workload.operands[1].axes[-1].size < _FEW
        return (*shared[:-1], *chain, shared[-1]) if few_outputs else (*chain, *shared)
    return f"{begin}, {tile}", *shared


def _scaled(counts: Mapping[str, int]) -> bool:
    """Whether sums are requantised or become floats."""
    return any(name.startswith(_SCALES) for name in counts)


def _window_keys(workload: Workload, key: str) -> tuple[str, ...]:
    """Those of what is combined, by the number of terms."""
    taps = _terms(workload) // workload.parameters["elements"]
    few = taps < UNROLLED
    form = f"{taps} taps" if few else "many taps"
    if "pool" in workload.kind:
        wider = (f"{key}, {form}", f"{key}, few taps") if few else (f"{key}, {form}",)
        form, alike = f"{form}{_pooled(workload)}", f"{'few' if few else 'many'} taps{_pooled(workload)}"
        wider = (f"{key}, {alike}", *wider) if few and form.count("lines") else wider
        padded = ", padded" if pooled(workload, taps, rows_axis(workload)) < 1 else ""
        return *_whole_lines(workload, key), f"{key}, {form}{padded}", f"{key}, {form}", *wider, key
    columns = _by_columns(workload, few)
    form = f"{'few' if few else 'many'} taps{columns}" if columns else form
    if "region" in workload.kind:  # what is computed of each
        each = _per_term(workload)
        return f"{key}, {form}, {each}", f"{key}, {each}", key
    return f"{key}, {form}", *((f"{key}, few taps",) if few and not columns else ()), key


def _element_keys(workload: Workload, key: str, numbers: str) -> tuple[str, ...]:
    """Those of operators on elements, by what each takes, and by operands that are repeated."""
    kind, counts = workload.kind, named(workload)
    form = _per_element(counts)
    if "inner" in counts:  # softmaxes whose lines are no neighbours
        key = f"{key} of {'few ' if counts['inner'] < _ACROSS else ''}columns"
    if kind == "host_resize" and _scales_columns(workload):
        key = f"{key} of columns"
    if ("requant" in kind or kind == "host_cast") and workload.operands[0].element_bits == BYTE_BITS:
        key = f"{key} of bytes"  # the products of a requantisation then have 32 bits
    plain = (f"{key}, plain",) if "region" in kind and not set(counts) - PLAIN else ()
    repeated, last = broadcast(workload), workload.operands[-1].axes[-1:]
    lines: tuple[str, ...] = ()
    if repeated and line(workload) <= TURNS:
        lines = (f"{key}, {form}{repeated} of few",)
    if any(name in kind for name in _LINES) and "inner" not in counts and last and last[0].size <= TURNS:
        lines = (f"{key}, {form} of short lines",)
        lines = (f"{key}, {form} of lines of {last[0].size}", *lines) if "norm" in kind else lines
    lines += (f"{key}, one{form.removeprefix('few')}",) if counts["elements"] == 1 else ()
    special = *lines, f"{key}, {form}{repeated}", f"{key}, {form}"
    if "region" in kind and workload.operands[-1].element_bits == BYTE_BITS and _quantises(counts):
        special += (f"host_quantize_linear {numbers}, {form.replace('1 integer ', '')}",)
    return *special, *plain, key


def _scales_columns(workload: Workload) -> bool:
    """Whether the last axis gets another size: the elements of its source are no neighbours."""
    source, result = (workload.operands[place].axes[-1:] for place in (0, -1))
    return [axis.size for axis in source] != [axis.size for axis in result]


def _quantises(counts: Mapping[str, int]) -> bool:
    """Whether a region may be a quantisation and a step of its bytes."""
    elements = counts["elements"]
    few = 0 < counts.get("floating", 0) <= _QUANTISED * elements and not counts.get("special")
    return few and counts.get("integer") == elements


def _pooled(workload: Workload) -> str:
    """Whether sums of channels that are pooled together have registers; of lines, whether compilers unroll the loop
    over a line, or windows are apart."""
    told = workload.parameters
    if "block" in told:
        return " in registers" if told["block"] == _HELD else ""
    if "kernel_x" not in told or "kernel_y" in told:
        return ""
    windows = workload.operands[-1].axes[-1].size
    short = windows <= TURNS and windows * told["kernel_x"] <= _UNROLLED_TAPS
    return f" of {'short ' if short else ''}lines{', apart' if told['stride_x'] > 1 else ''}"


def _whole_lines(workload: Workload, key: str) -> tuple[str, ...]:
    """Those of windows that are whole lines, one of each channel, by their taps, and by whether compilers unroll the
    loop over these."""
    told = workload.parameters
    taps = told.get("kernel_x", 0)
    if not taps or "block" in told or "kernel_y" in told or workload.operands[-1].axes[-1].size > 1:
        return ()
    few = (f"{key}, {taps} taps of whole lines", f"{key}, few taps of whole lines")
    return few if taps <= TURNS else (f"{key}, many taps of whole lines",)


def _by_columns(workload: Workload, few: bool) -> str:
    """Whether the terms of a sum are of one column, and compilers unroll the loop over columns; or whether all terms of
    a result have one accumulator."""
    told = workload.parameters
    if "block" in told:
        return f", by columns{' of few' if told['block'] <= TURNS else ''}"
    if "lines" in told or "turns" in told:
        alone = "turns" in told and not few and any(name.startswith("floating") for name in told)
        return f", one by one{' of few' if told['turns'] <= TURNS else ''}" if alone else ""
    source, result = (workload.operands[place].axes[-1:] for place in (0, -1))
    if not result or result[0].size == 1 or source[0].size != result[0].size:
        return ""
    return f", by columns{' of few' if result[0].size <= TURNS else ''}"


def _per_element(counts: Mapping[str, int]) -> str:
    """Operations per element if they are whole numbers; loops of few elements have no turns."""
    elements = counts["elements"]
    rest = {name: count for name, count in counts.items() if name not in _TOLD}
    few = "few, " if elements <= TURNS else ""
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
    counts, terms = named(workload), max(1, _terms(workload))
    return " ".join(f"{round(counts[name] / terms)} {name}" for name in counts if name not in _LOOPS)
