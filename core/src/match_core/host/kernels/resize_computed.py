"""C that makes the table of a resized axis when the program runs: its scale or its region is an input of the model.

The size of the result is fixed all the same, so tables have fixed sizes and lie in scratch. Coordinates are found in
double precision as in ``resize_axis``; whatever the inputs hold, every tap lies inside of the axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING

from match_core.host.graph import dtype_of, shape_of, text
from match_core.host.kernels.code import Code, Uses
from match_core.host.kernels.resize_axis import (
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
from match_core.host.kernels.scalar import loaded, scalar_type

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs


def most_taps(axis: ResizeAxis, modes: Modes) -> int:
    """No result needs more taps than this, whatever the scale is."""
    return min(axis.size, 2 - 2 * reach_before(shrink_of(axis, modes), modes))


def read_inputs(node: gs.Node, axes: tuple[ResizeAxis, ...]) -> tuple[int, ...]:
    """Positions of the inputs that the tables of these axes are made from."""
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


def _coordinate(axis: ResizeAxis, modes: Modes) -> str:
    """C text of the coordinate of result ``o``; variables ``scale``, ``width``, ``begin`` and ``end`` are declared."""
    half = "(o + 0.5) / scale - 0.5"
    if modes.coordinates == "align_corners":
        return f"width == 1.0 ? 0.0 : o * {axis.size - 1}.0 / (width - 1.0)"
    if modes.coordinates == "asymmetric":
        return "o / scale"
    if modes.coordinates == "tf_half_pixel_for_nn":
        return "(o + 0.5) / scale"
    if modes.crops:
        span = f"(end - begin) * {axis.size - 1}.0"
        return f"begin * {axis.size - 1}.0 + (width == 1.0 ? {span} / 2.0 : o * {span} / (width - 1.0))"
    if modes.coordinates == "pytorch_half_pixel":
        return f"width == 1.0 ? -0.5 : {half}"
    if modes.coordinates == "half_pixel_symmetric":
        return f"{axis.size / 2!r} * (1.0 - {axis.out}.0 / width) + {half}"
    return half


def _write_coordinate(node: gs.Node, axis: ResizeAxis, modes: Modes, inputs: Mapping[int, str], code: Code) -> None:
    """Declares what a coordinate depends on."""
    expression = _coordinate(axis, modes)
    if "scale" in expression or modes.antialias or ("width" in expression and not axis.given):
        code.line(f"const double scale = {_scale(node, axis, inputs)};")
    if "width" in expression:
        code.line(f"const double width = {f'{axis.out}.0' if axis.given else f'scale * {axis.size}.0'};")
    if modes.crops:
        begin, end = _region(node, axis, inputs)
        code.line(f"const double begin = {begin}, end = {end};")


def _write_outside(axis: ResizeAxis, modes: Modes, first: str, code: Code) -> None:
    """Declares ``x``, the coordinate of result ``o``, as a number that an integer can hold."""
    code.line(f"const double given = {_coordinate(axis, modes)};")
    code.line("const double x = !(given > -1.0e9) ? -1.0e9 : given > 1.0e9 ? 1.0e9 : given;")
    if modes.crops:
        with code.block(f"if (x < 0.0 || x > {axis.size - 1}.0)"):
            code.line(f"{first}[o] = -1;")
            code.line("continue;")


def write_nearest_table(
    node: gs.Node, axis: ResizeAxis, modes: Modes, inputs: Mapping[int, str], first: str, code: Code, uses: Uses
) -> None:
    """C that fills ``first`` with the element that each result takes; -1 where it is outside."""
    uses.include("math.h")
    up = {"floor": "", "ceil": "rest > 0.0", "round_prefer_floor": "rest > 0.5", "round_prefer_ceil": "rest >= 0.5"}
    add = up[modes.rounding]
    with code.block(""):
        _write_coordinate(node, axis, modes, inputs, code)
        with code.block(f"for (int32_t o = 0; o < {axis.out}; o++)"):
            _write_outside(axis, modes, first, code)
            if add:
                code.line("const double rest = x - floor(x);")
            code.line(f"const int32_t at = (int32_t)floor(x){f' + ({add} ? 1 : 0)' if add else ''};")
            below, above = ("-1", "-1") if modes.exclude_outside else ("0", str(axis.size - 1))
            code.line(f"{first}[o] = at < 0 ? {below} : at >= {axis.size} ? {above} : at;")


def _kernel(modes: Modes) -> str:
    """C text of the kernel at distance ``d``."""
    if modes.mode == "linear":
        return "d < 1.0 ? 1.0 - d : 0.0"
    a = modes.cubic
    near = f"(({a + 2!r} * d - {a + 3!r}) * d * d + 1.0)"
    far = f"({a!r} * (((d - 5.0) * d + 8.0) * d - 4.0))"
    return f"d <= 1.0 ? {near} : d < 2.0 ? {far} : 0.0"


def write_tap_table(
    node: gs.Node,
    axis: ResizeAxis,
    modes: Modes,
    inputs: Mapping[int, str],
    names: tuple[str, str],
    work: np.dtype[np.generic],
    code: Code,
    uses: Uses,
) -> None:
    """C that fills the arrays ``names``: the first element of each result (-1: outside) and its weights."""
    uses.include("math.h")
    (first, weights), count, kind = names, most_taps(axis, modes), scalar_type(work)
    shrink, reach = shrink_of(axis, modes), REACH[modes.mode]
    last = axis.size - count
    with code.block(""):
        _write_coordinate(node, axis, modes, inputs, code)
        if modes.antialias:
            code.line(f"const double shrink = scale > 1.0 ? 1.0 : scale > {shrink!r} ? scale : {shrink!r};")
            code.line(f"const int32_t start = (int32_t)floor(-{reach}.0 / shrink) + 1;")
        else:
            code.line(f"const int32_t start = {1 - reach};")
        with code.block(f"for (int32_t o = 0; o < {axis.out}; o++)"):
            _write_outside(axis, modes, first, code)
            code.line("const int32_t from = (int32_t)floor(x) + start;")
            code.line(f"const int32_t at = from < 0 ? 0 : from > {last} ? {last} : from;")
            code.line(f"double weight[{count}] = {{0.0}}, sum = 0.0;")
            with code.block("for (int32_t tap = from; tap < from + 2 - 2 * start; tap++)"):
                code.line(f"const double d = fabs(tap - x){' * shrink' if modes.antialias else ''};")
                value = _kernel(modes)
                if modes.exclude_outside:
                    value = f"tap < 0 || tap >= {axis.size} ? 0.0 : {value}"
                code.line(f"const double w = {value};")
                code.line(f"weight[(tap < 0 ? 0 : tap >= {axis.size} ? {axis.size - 1} : tap) - at] += w;")
                code.line("sum += w;")
            code.line(f"{first}[o] = at;")
            with code.block(f"for (int32_t k = 0; k < {count}; k++)"):
                divided = "weight[k] / (sum == 0.0 ? 1.0 : sum)"
                value = divided if modes.antialias or modes.exclude_outside else "weight[k]"
                code.line(f"{weights}[o * {count} + k] = {f'({kind})({value})' if kind == 'float' else value};")
