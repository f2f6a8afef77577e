"""GridSample: an image at coordinates from -1 to 1.

Semantics of padding as in ONNX GridSample-22: coordinates outside are moved inside first, then taps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integer, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, literal
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Taps along an axis, by mode name of all versions.
TAPS = {"nearest": 1, "linear": 2, "bilinear": 2, "cubic": 4, "bicubic": 4}
PADDINGS = ("zeros", "border", "reflection")
#: Number of results whose places and weights are stored at the same time.
MOST_RESULTS = 64
#: The coefficient of the cubic kernel is fixed by the standard.
_CUBIC = -0.75


@dataclass(frozen=True, slots=True)
class Sampling:
    """``taps`` along each of the ``space`` axes, types of elements, of coordinates and of the
    computation, ``zeros``: elements outside count as zeros, and their place is -1."""

    space: tuple[int, ...]
    taps: int
    dtype: np.dtype[np.generic]
    grid: np.dtype[np.generic]
    working: np.dtype[np.generic]
    zeros: bool

    @property
    def elements(self) -> int:
        """The number of elements that a result depends on."""
        return int(self.taps ** len(self.space))

    @property
    def kind(self) -> str:
        """The C type of the computation."""
        return scalar_type(self.working)


def _sampling(node: gs.Node) -> Sampling:
    dtype, grid = dtype_of(node.inputs[0]), dtype_of(node.inputs[1])
    taps, working = TAPS[text(node, "mode", "linear")], arithmetic(grid)
    if taps > 1 and arithmetic(dtype).itemsize == 8:
        working = np.dtype(np.float64)
    zeros = text(node, "padding_mode", "zeros") == "zeros"
    return Sampling(shape_of(node.inputs[0])[2:], taps, dtype, grid, working, zeros)


def build_grid_sample(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel; places and weights of a block of results are computed once for all channels."""
    (node,), code, uses = nodes, Code(), Uses()
    item, shape, out = _sampling(node), shape_of(node.inputs[0]), shape_of(node.outputs[0])
    results, count = elements(out[2:]), item.elements
    block = min(MOST_RESULTS, results)
    helper = _axis_helper(node, item.working, uses)
    weights = block * count if item.taps > 1 else 0
    if weights:
        code.line(f"{item.kind} *const weights = scratch;")
    start = f"(int32_t *)(({item.kind} *)scratch + {weights})" if weights else "scratch"
    code.line(f"int32_t *const places = {start};")
    with code.loops([("n", out[0]), ("b", -(-results // block))]) as (n, b):
        bound = str(block)
        if results % block:
            bound = "many"
            code.line(f"const int32_t many = {results} - b * {block} < {block} ? {results} - b * {block} : {block};")
        with code.block(f"for (int32_t i = 0; i < {bound}; i++)"):
            at = affine([(n, results * len(item.space)), (b, block * len(item.space)), ("i", len(item.space))])
            code.line(f"const {c_type(item.grid)} *const point = &in1[{at}];")
            _write_places(item, helper, block, code)
        with code.loop("c", out[1]) as c:
            image = affine([(n, elements(shape[1:])), (c, elements(shape[2:]))])
            target = affine([(n, out[1] * results), (c, results), (b, block)])
            code.line(f"const {c_type(item.dtype)} *const image = &in0[{image}];")
            code.line(f"{c_type(item.dtype)} *const result = &out0[{target}];")
            with code.block(f"for (int32_t i = 0; i < {bound}; i++)"):
                _write_result(item, block, code)
    per_tap = Work(memory=3, floating=2) + moved_halves(item.dtype)
    work = per_tap.times(elements(out) * count) + Work(steps=1).times(elements(out))
    work += Work(memory=count, floating=12 * len(item.space)).times(out[0] * results)
    scratch = weights * item.working.itemsize + 4 * block * count
    return single(node, function, code.text, uses, work, (0, 1), scratch)


def _write_places(item: Sampling, helper: str, block: int, code: Code) -> None:
    """C that fills places and weights of result ``i`` of a block from its coordinates ``point``."""
    axes, last = range(len(item.space)), len(item.space) - 1
    for axis in axes:
        at = _as(loaded(f"point[{last - axis}]", item.grid), item.grid, item.working)
        if item.taps == 1:
            code.line(f"const int32_t at{axis} = {helper}({at}, {item.space[axis]});")
        else:
            code.line(f"int32_t at{axis}[{item.taps}];")
            code.line(f"{item.kind} w{axis}[{item.taps}];")
            code.line(f"{helper}({at}, {item.space[axis]}, at{axis}, w{axis});")
    with code.loops([(f"k{axis}", item.taps) for axis in axes]) as names:
        near = [f"at{axis}[{name}]" if name else f"at{axis}" for axis, name in enumerate(names)]
        place = affine(list(zip(near, row_major(item.space), strict=True)))
        if item.zeros:
            place = f"{' || '.join(f'{at} < 0' for at in near)} ? -1 : {place}"
        tap = affine([(name, item.taps ** (last - axis) * block) for axis, name in enumerate(names)] + [("i", 1)])
        code.line(f"places[{tap}] = {place};")
        if item.taps > 1:
            code.line(f"weights[{tap}] = {' * '.join(f'w{axis}[{name}]' for axis, name in enumerate(names))};")


def _write_result(item: Sampling, block: int, code: Code) -> None:
    """C of result ``i`` of a block in one channel."""
    if item.taps == 1:
        value = f"places[i] < 0 ? {_zero(item.dtype)} : image[places[i]]" if item.zeros else "image[places[i]]"
        code.line(f"result[i] = {value};")
        return
    code.line(f"{item.kind} sum = {literal(0, item.working)};")
    with code.block(f"for (int32_t k = 0; k < {item.elements}; k++)"):
        code.line(f"const int32_t place = places[k * {block} + i];")
        value = _as(loaded("image[place]", item.dtype), item.dtype, item.working)
        if item.zeros:
            value = f"(place < 0 ? {literal(0, item.working)} : {value})"
        code.line(f"sum += weights[k * {block} + i] * {value};")
    code.line(f"result[i] = {stored(_as('sum', item.working, arithmetic(item.dtype)), item.dtype)};")


def _zero(dtype: np.dtype[np.generic]) -> str:
    return "0" if dtype.kind == "b" else stored(literal(0, arithmetic(dtype)), dtype)


def _as(value: str, dtype: np.dtype[np.generic], wanted: np.dtype[np.generic]) -> str:
    """A value of one type in the arithmetic of another."""
    return value if arithmetic(dtype) == wanted else f"({scalar_type(wanted)}){value}"


def _axis_helper(node: gs.Node, working: np.dtype[np.generic], uses: Uses) -> str:
    """The name of the function that computes the place or the taps along an axis."""
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
    """Declare ``x``, the element position of coordinate ``n``, moved inside, in the range of an integer."""
    kind = scalar_type(working)
    suffix = "f" if kind == "float" else ""
    half, one, two, zero = (literal(value, working) for value in (0.5, 1, 2, 0))
    last, size = f"({kind})(size - 1)", f"({kind})size"
    moved = f"(n + {one}) / {two} * {last}" if corners else f"((n + {one}) * {size} - {one}) / {two}"
    code.line(f"{kind} x = {f'nearbyint{suffix}({moved})' if nearest else moved};")
    low, high = (zero, last) if corners else (f"-{half}", f"{last} + {half}")
    if padding == "zeros":  # positions far outside are equivalent
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
    """The name of the function that moves the place of a tap inside."""
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
    """C text of the weights at distance ``r`` after the first tap (of two) or the second (of four)."""
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
