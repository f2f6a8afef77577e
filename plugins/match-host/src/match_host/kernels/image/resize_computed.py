"""C that computes the table of a resized axis at run time: its scale or its region is an input of the model.

The size of the result is fixed, so tables have fixed sizes and lie in scratch. Coordinates are computed in double
precision as in ``resize_axis``; for any inputs, every tap lies inside the axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, text
from match_host.kernels.code import Code, Uses, literal
from match_host.kernels.image.resize_axis import (
    REACH,
    ROI,
    SCALES,
    SIZES,
    Modes,
    ResizeAxis,
    listed_axes,
    present,
    reach_before,
    shrink_of,
)
from match_host.kernels.scalar import loaded, scalar_type

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs


def most_taps(axis: ResizeAxis, modes: Modes) -> int:
    """The most taps of a result for any scale."""
    return min(axis.size, 2 - 2 * reach_before(shrink_of(axis, modes), modes))


def read_inputs(node: gs.Node, axes: tuple[ResizeAxis, ...]) -> tuple[int, ...]:
    """Positions of the inputs that determine the tables of these axes."""
    scales = [SIZES if present(node, SIZES) is not None else SCALES] if any(a.scale is None for a in axes) else []
    return (*([ROI] if any(a.region is None for a in axes) else []), *scales)


def _scale(node: gs.Node, axis: ResizeAxis, inputs: Mapping[int, str]) -> str:
    if axis.scale is not None:
        return repr(axis.scale)
    if SIZES not in inputs:
        return f"(double){loaded(f'{inputs[SCALES]}[{axis.position}]', dtype_of(node.inputs[SCALES]))}"
    choose = "fmin" if text(node, "keep_aspect_ratio_policy", "stretch") == "not_larger" else "fmax"
    shape = shape_of(node.inputs[0])
    ratios = [f"(double){inputs[SIZES]}[{i}] / {shape[listed]}.0" for i, listed in enumerate(listed_axes(node))]
    return reduce(lambda first, second: f"{choose}({first}, {second})", ratios)


def _region(node: gs.Node, axis: ResizeAxis, inputs: Mapping[int, str]) -> tuple[str, str]:
    if axis.region is not None:
        return repr(axis.region[0]), repr(axis.region[1])
    count, dtype = len(listed_axes(node)), dtype_of(node.inputs[ROI])
    first, second = (loaded(f"{inputs[ROI]}[{place}]", dtype) for place in (axis.position, count + axis.position))
    return f"(double){first}", f"(double){second}"


def _coordinate(modes: Modes) -> str:
    """C text of the coordinate of result ``o``, from the helper's parameters."""
    half = "(o + 0.5) / scale - 0.5"
    if modes.coordinates == "align_corners":
        return "width == 1.0 ? 0.0 : (double)o * (size - 1) / (width - 1.0)"
    if modes.coordinates == "asymmetric":
        return "o / scale"
    if modes.coordinates == "tf_half_pixel_for_nn":
        return "(o + 0.5) / scale"
    if modes.crops:
        span = "(end - begin) * (size - 1)"
        return f"begin * (size - 1) + (width == 1.0 ? {span} / 2.0 : (double)o * {span} / (width - 1.0))"
    if modes.coordinates == "pytorch_half_pixel":
        return f"width == 1.0 ? -0.5 : {half}"
    if modes.coordinates == "half_pixel_symmetric":
        return f"size / 2.0 * (1.0 - out / width) + {half}"
    return half


def _call(
    node: gs.Node, axis: ResizeAxis, modes: Modes, inputs: Mapping[int, str], extra: Mapping[str, tuple[str, str]]
) -> tuple[str, str]:
    """Parameters of the helper and the arguments for an axis. ``extra``: type and value of more parameters by name."""
    given = {"int32_t size": str(axis.size), "int32_t out": str(axis.out)}
    expression = _coordinate(modes)
    if "scale" in expression or "width" in expression or modes.antialias:
        given["double scale"] = _scale(node, axis, inputs)
    if "width" in expression:
        # sizes state the width; scales give it before truncation to an integer
        given["double given"] = f"{axis.out}.0" if axis.given else "0.0"
    if modes.crops:
        given["double begin"], given["double end"] = _region(node, axis, inputs)
    given |= {f"{kind}{name}": value for name, (kind, value) in extra.items()}
    return ", ".join(given), ", ".join(given.values())


def _write_result_loop(modes: Modes, code: Code) -> None:
    """Declare ``x``, the coordinate of result ``o``, in the range of an integer."""
    code.line(f"const double place = {_coordinate(modes)};")
    code.line("const double x = !(place > -1.0e9) ? -1.0e9 : place > 1.0e9 ? 1.0e9 : place;")
    if modes.crops:
        with code.block("if (x < 0.0 || x > size - 1)"):
            code.line("first[o] = -1;")
            code.line("continue;")


def _write_width(modes: Modes, code: Code) -> None:
    if "width" in _coordinate(modes):
        code.line("const double width = given > 0.0 ? given : scale * size;")


def _kind(modes: Modes) -> str:
    """The part of a helper's name that distinguishes modes."""
    parts = [modes.mode, modes.coordinates, modes.rounding if modes.mode == "nearest" else ""]
    parts += ["smooth" if modes.antialias else "", "inside" if modes.exclude_outside else ""]
    return "_".join(part for part in parts if part)


def nearest_call(
    node: gs.Node, axis: ResizeAxis, modes: Modes, inputs: Mapping[int, str], first: str, uses: Uses
) -> str:
    """C statement that fills ``first`` with the element that each result copies; -1 if it is outside."""
    uses.include("math.h")
    add = {"ceil": "rest > 0.0", "round_prefer_floor": "rest > 0.5", "round_prefer_ceil": "rest >= 0.5"}
    parameters, arguments = _call(node, axis, modes, inputs, {"first": ("int32_t *", first)})
    code = Code()
    _write_width(modes, code)
    with code.block("for (int32_t o = 0; o < out; o++)"):
        _write_result_loop(modes, code)
        up = add.get(modes.rounding)
        if up:
            code.line("const double rest = x - floor(x);")
        code.line(f"const int32_t at = (int32_t)floor(x){f' + ({up} ? 1 : 0)' if up else ''};")
        below, above = ("-1", "-1") if modes.exclude_outside else ("0", "size - 1")
        code.line(f"first[o] = at < 0 ? {below} : at >= size ? {above} : at;")
    name = f"host_resize_{_kind(modes)}"
    comment = "/* The element that each result along an axis takes; -1: outside. */"
    uses.helper(name, f"{comment}\nstatic void {name}({parameters})\n{{\n{code.text}\n}}\n")
    return f"{name}({arguments});"


def _kernel(modes: Modes) -> str:
    """C text of the kernel at distance ``d``."""
    if modes.mode == "linear":
        return "d < 1.0 ? 1.0 - d : 0.0"
    near, far = "((a + 2.0) * d - (a + 3.0)) * d * d + 1.0", "a * (((d - 5.0) * d + 8.0) * d - 4.0)"
    return f"d <= 1.0 ? {near} : d < 2.0 ? {far} : 0.0"


def taps_call(
    node: gs.Node,
    axis: ResizeAxis,
    modes: Modes,
    inputs: Mapping[int, str],
    names: tuple[str, str],
    working: np.dtype[np.generic],
    uses: Uses,
) -> str:
    """C statement that fills the arrays ``names``: the first element of each result (-1: outside) and its weights."""
    uses.include("math.h")
    kind, reach = scalar_type(working), REACH[modes.mode]
    extra = {"count": ("int32_t ", str(most_taps(axis, modes)))}
    if modes.antialias:
        extra["least"] = ("double ", repr(shrink_of(axis, modes)))
    if modes.mode == "cubic":
        extra["a"] = ("double ", repr(modes.cubic))
    extra |= {"first": ("int32_t *", names[0]), "weights": (f"{kind} *", names[1])}
    parameters, arguments = _call(node, axis, modes, inputs, extra)
    code, normalised = Code(), modes.antialias or modes.exclude_outside
    _write_width(modes, code)
    if modes.antialias:
        code.line("const double shrink = scale > 1.0 ? 1.0 : scale > least ? scale : least;")
    start = f"(int32_t)floor(-{reach}.0 / shrink) + 1" if modes.antialias else str(1 - reach)
    code.line(f"const int32_t start = {start}, last = size - count;")
    with code.block("for (int32_t o = 0; o < out; o++)"):
        _write_result_loop(modes, code)
        code.line("const int32_t from = (int32_t)floor(x) + start;")
        code.line("const int32_t at = from < 0 ? 0 : from > last ? last : from;")
        code.line(f"{kind} *const weight = &weights[o * count];")
        with code.block("for (int32_t k = 0; k < count; k++)"):
            code.line(f"weight[k] = {literal(0, working)};")
        if normalised:
            code.line(f"{kind} sum = {literal(0, working)};")
        with code.block("for (int32_t tap = from; tap < from + 2 - 2 * start; tap++)"):
            code.line(f"const double d = fabs(tap - x){' * shrink' if modes.antialias else ''};")
            inside = "tap < 0 || tap >= size ? 0.0 : " if modes.exclude_outside else ""
            code.line(f"const {kind} w = ({kind})({inside}{_kernel(modes)});")
            code.line("weight[(tap < 0 ? 0 : tap >= size ? size - 1 : tap) - at] += w;")
            if normalised:
                code.line("sum += w;")
        code.line("first[o] = at;")
        if normalised:
            with code.block("for (int32_t k = 0; k < count; k++)"):
                code.line(f"weight[k] /= sum == {literal(0, working)} ? {literal(1, working)} : sum;")
    name = f"host_resize_{_kind(modes)}_{kind}"
    comment = "/* Taps of each result along an axis: the first element (-1: outside) and weights from there on. */"
    uses.helper(name, f"{comment}\nstatic void {name}({parameters})\n{{\n{code.text}\n}}\n")
    return f"{name}({arguments});"
