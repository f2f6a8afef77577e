"""GridSample and AffineGrid: sampling an image at coordinates from -1 to 1, and such coordinates from affine maps.

Semantics of padding as in ONNX GridSample-22: coordinates outside are moved inside first, taps afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_core.host.graph import dtype_of, elements, integer, shape_of, text
from match_core.host.kernels.built import Built
from match_core.host.kernels.code import Code, Uses, affine, literal
from match_core.host.kernels.nest import row_major
from match_core.host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_core.host.kernels.single import single
from match_core.host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Taps along an axis, by the names of all versions.
TAPS = {"nearest": 1, "linear": 2, "bilinear": 2, "cubic": 4, "bicubic": 4}
PADDINGS = ("zeros", "border", "reflection")
#: The coefficient of the cubic kernel is fixed by the standard.
_CUBIC = -0.75


def build_grid_sample(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """One loop over the results; an inner one over channels, which share places and weights."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, out, dtype = shape_of(node.inputs[0]), shape_of(node.outputs[0]), dtype_of(node.inputs[0])
    space, grid = shape[2:], dtype_of(node.inputs[1])
    taps, zeros = TAPS[text(node, "mode", "linear")], text(node, "padding_mode", "zeros") == "zeros"
    working = arithmetic(grid)
    if taps > 1 and arithmetic(dtype).itemsize == 8:
        working = np.dtype(np.float64)
    kind, helper = scalar_type(working), _axis_helper(node, working, uses)
    results, strides, axes = elements(out[2:]), row_major(shape), range(len(space))
    with code.loops([("n", out[0]), ("o", results)]) as (n, o):
        for axis in axes:
            place = affine([(n, results * len(space)), (o, len(space))], len(space) - 1 - axis)
            at = _as(loaded(f"in1[{place}]", grid), grid, working)
            if taps == 1:
                code.line(f"const int32_t at{axis} = {helper}({at}, {space[axis]});")
            else:
                code.line(f"int32_t at{axis}[{taps}];")
                code.line(f"{kind} w{axis}[{taps}];")
                code.line(f"{helper}({at}, {space[axis]}, at{axis}, w{axis});")
        with code.loop("c", out[1]) as c:
            image = [(n, strides[0]), (c, strides[1])]
            target = affine([(n, out[1] * results), (c, results), (o, 1)])
            if taps == 1:
                value = f"in0[{affine([*image, *((f'at{axis}', strides[2 + axis]) for axis in axes)])}]"
                outside = " || ".join(f"at{axis} < 0" for axis in axes)
                code.line(f"out0[{target}] = {f'{outside} ? {_zero(dtype)} : {value}' if zeros else value};")
            else:
                _write_sum(code, taps, image, strides, zeros, (dtype, working))
                code.line(f"out0[{target}] = {stored(_as('sum', working, arithmetic(dtype)), dtype)};")
    per_tap = Work(memory=2, floating=2, steps=1) + moved_halves(dtype)
    work = per_tap.times(elements(out) * taps ** len(space)) + Work(memory=3, floating=12).times(out[0] * results)
    return single(node, function, code.text, uses, work, (0, 1))


def _zero(dtype: np.dtype[np.generic]) -> str:
    return "0" if dtype.kind == "b" else stored(literal(0, arithmetic(dtype)), dtype)


def _as(value: str, dtype: np.dtype[np.generic], wanted: np.dtype[np.generic]) -> str:
    """A value of one type in the arithmetic of another."""
    return value if arithmetic(dtype) == wanted else f"({scalar_type(wanted)}){value}"


def _write_sum(
    code: Code,
    taps: int,
    image: list[tuple[str, int]],
    strides: tuple[int, ...],
    zeros: bool,
    types: tuple[np.dtype[np.generic], np.dtype[np.generic]],
) -> None:
    """Declares ``sum``: the elements around a coordinate by their weights. Elements outside count as zeros."""
    dtype, working = types
    kind = scalar_type(working)
    code.line(f"{kind} sum = {literal(0, working)};")
    with code.loops([(f"k{axis}", taps) for axis in range(len(strides) - 2)]) as names:
        weight = " * ".join(f"w{axis}[{name}]" for axis, name in enumerate(names))
        places = [(f"at{axis}[{name}]", strides[2 + axis]) for axis, name in enumerate(names)]
        value = _as(loaded(f"in0[{affine([*image, *places])}]", dtype), dtype, working)
        if zeros:
            outside = " || ".join(f"{place} < 0" for place, _ in places)
            value = f"({outside} ? {literal(0, working)} : {value})"
        code.line(f"sum += {weight} * {value};")


def _axis_helper(node: gs.Node, working: np.dtype[np.generic], uses: Uses) -> str:
    """The function that finds the place or the taps along an axis; gives its name."""
    taps, padding = TAPS[text(node, "mode", "linear")], text(node, "padding_mode", "zeros")
    corners, kind = bool(integer(node, "align_corners", 0)), scalar_type(working)
    code, suffix = Code(), "f" if kind == "float" else ""
    uses.include("math.h")
    _write_coordinate(code, taps == 1, padding, corners, working)
    place = _place_helper(padding, corners, uses)
    if taps == 1:
        code.line(f"return {place}((int32_t)x, size);")
    else:
        code.line(f"const {kind} base = floor{suffix}(x), r = x - base;")
        with code.block(f"for (int32_t k = 0; k < {taps}; k++)"):
            code.line(f"at[k] = {place}((int32_t)base + k{'' if taps == 2 else ' - 1'}, size);")
        for tap, weight in enumerate(_weights(taps, working)):
            code.line(f"weight[{tap}] = {weight};")
    name = f"host_grid_{taps}_{padding}{'_corners' if corners else ''}_{'f32' if suffix else 'f64'}"
    returns, more = ("int32_t", "") if taps == 1 else ("void", f", int32_t *at, {kind} *weight")
    what = "The place" if taps == 1 else "Places and weights"
    comment = f"/* {what} along an axis at a coordinate from -1 to 1{'; -1: outside' if padding == 'zeros' else ''}. */"
    head = f"static inline {returns} {name}({kind} n, int32_t size{more})"
    return uses.helper(name, f"{comment}\n{head}\n{{\n{code.text}\n}}\n")


def _write_coordinate(code: Code, nearest: bool, padding: str, corners: bool, working: np.dtype[np.generic]) -> None:
    """Declares ``x``, the element that coordinate ``n`` means, moved inside; a number that an integer can hold."""
    kind = scalar_type(working)
    suffix = "f" if kind == "float" else ""
    half, one, two, zero = (literal(value, working) for value in (0.5, 1, 2, 0))
    last, size = f"({kind})(size - 1)", f"({kind})size"
    moved = f"(n + {one}) / {two} * {last}" if corners else f"((n + {one}) * {size} - {one}) / {two}"
    code.line(f"{kind} x = {f'nearbyint{suffix}({moved})' if nearest else moved};")
    low, high = (zero, last) if corners else (f"-{half}", f"{last} + {half}")
    if padding == "zeros":  # far outside is as good as infinitely far
        low, high = literal(-4, working), f"{size} + {literal(4, working)}"
        code.line(f"x = !(x > {low}) ? {low} : x > {high} ? {high} : x;")
    elif padding == "border":
        code.line(f"x = !(x >= {low}) ? {zero} : x > {high} ? {last} : x;")
    else:
        with code.block(f"if (!(x >= {low} && x <= {high}))"):
            code.line(f"const {kind} span = {high} - {low if corners else f'({low})'};")
            code.line(
                f"const {kind} past = fmod{suffix}(fabs{suffix}(x - {low if corners else f'({low})'}), {two} * span);"
            )
            code.line(f"x = {low} + (past <= span ? past : {two} * span - past);")
            code.line(f"x = x >= {low} && x <= {high} ? x : {zero};")


def _place_helper(padding: str, corners: bool, uses: Uses) -> str:
    """The function that moves the place of a tap inside; gives its name."""
    lines = {
        "zeros": ("return place < 0 || place >= size ? -1 : place;",),
        "border": ("return place < 0 ? 0 : place >= size ? size - 1 : place;",),
        "reflection": (
            f"const int32_t period = {'size > 1 ? 2 * (size - 1) : 1' if corners else '2 * size'};",
            "const int32_t past = (place % period + period) % period;",
            f"return past < size ? past : period - past{'' if corners else ' - 1'};",
        ),
    }[padding]
    name = f"host_grid_place_{padding}{'_corners' if corners and padding == 'reflection' else ''}"
    body = "\n".join(f"    {line}" for line in lines)
    return uses.helper(name, f"static inline int32_t {name}(int32_t place, int32_t size)\n{{\n{body}\n}}\n")


def _weights(taps: int, working: np.dtype[np.generic]) -> tuple[str, ...]:
    """C text of the weights at ``r`` behind the first tap (of two) or the second (of four)."""
    one = literal(1, working)
    if taps == 2:
        return f"{one} - r", "r"
    a, b, c = (literal(value, working) for value in (_CUBIC, _CUBIC + 2, _CUBIC + 3))
    five, eight, four = (literal(value, working) for value in (5, 8, 4))

    def near(d: str) -> str:
        return f"({b} * {d} - {c}) * {d} * {d} + {one}"

    def far(d: str) -> str:
        return f"{a} * ((({d} - {five}) * {d} + {eight}) * {d} - {four})"

    return far(f"(r + {one})"), near("r"), near(f"({one} - r)"), far(f"({literal(2, working)} - r)")


def build_affine_grid(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """AffineGrid: the maps of input 0 applied to all places of an image; its size is that of the result."""
    (node,), code = nodes, Code()
    out, dtype = shape_of(node.outputs[0]), dtype_of(node.inputs[0])
    own, space, corners = arithmetic(dtype), out[1:-1], bool(integer(node, "align_corners", 0))
    kind, axes, steps = scalar_type(own), len(out) - 2, row_major(out)
    names = "zyx"[3 - axes :]
    with code.loops([("n", out[0]), *((f"i{name}", size) for name, size in zip(names, space, strict=True))]) as used:
        n, *places = used
        for name, place, size in zip(names, places, space, strict=True):
            code.line(f"const {kind} {name} = {_coordinate(place, size, corners, own)};")
        with code.loop("j", axes) as j:
            theta = [(n, axes * (axes + 1)), (j, axes + 1)]

            def read(column: int, terms: list[tuple[str, int]] = theta) -> str:
                return loaded(f"in0[{affine(terms, column)}]", dtype)

            products = [f"{read(column)} * {name}" for column, name in enumerate(reversed(names))]
            target = affine([(n, steps[0]), *zip(places, steps[1:-1], strict=True), (j, 1)])
            code.line(f"out0[{target}] = {stored(' + '.join([*products, read(axes)]), dtype)};")
    work = (Work(memory=axes + 2, floating=2 * axes, steps=1) + moved_halves(dtype, axes + 2)).times(elements(out))
    return single(node, function, code.text, Uses(), work)


def _coordinate(place: str, size: int, corners: bool, own: np.dtype[np.generic]) -> str:
    """From -1 to 1: the centres of the first and last element where ``corners``, else the borders of the image."""
    one, two, kind = literal(1, own), literal(2, own), scalar_type(own)
    if not place:
        return f"-{one}" if corners else literal(0, own)
    count = literal(size - 1 if corners else size, own)
    return (
        f"{two} * ({kind}){place} / {count} - {one}"
        if corners
        else f"({two} * ({kind}){place} + {one}) / {count} - {one}"
    )
