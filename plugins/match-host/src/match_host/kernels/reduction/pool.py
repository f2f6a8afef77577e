"""Pooling over windows: maximum (with indices), average and norm, NCHW or NHWC, and over the whole image."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements, integer, integers
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, as_vectors, literal
from match_host.kernels.nest import row_major
from match_host.kernels.reduction.powers import power, root
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_host.kernels.single import single
from match_host.kernels.window import SPATIAL, Window, told_windows, windows
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Bytes of contiguous channels that are pooled together in registers.
LANE_BYTES = 128


def lowest(dtype: np.dtype[np.generic]) -> str:
    """C text of the smallest value of the type."""
    own = arithmetic(dtype)
    return literal(float("-inf") if own.kind == "f" else int(np.iinfo(own.name).min), own)


def highest(dtype: np.dtype[np.generic]) -> str:
    """C text of the largest value of the type."""
    own = arithmetic(dtype)
    return literal(float("inf") if own.kind == "f" else int(np.iinfo(own.name).max), own)


@dataclass(frozen=True, slots=True)
class Pool:
    """A pooling: its operator's kind, windows outermost axis first, strides of the spatial axes of its input,
    ``counted``: the number of averaged elements differs between windows, ``with_pads``: padding counts."""

    node: gs.Node
    dtype: np.dtype[np.generic]
    found: tuple[Window, ...]
    steps: tuple[int, ...]
    counted: bool
    with_pads: bool

    @property
    def kind(self) -> str:
        """``max``, ``average`` or ``norm``."""
        op = self.node.op
        return "average" if "Average" in op else "norm" if "Lp" in op else "max"

    @property
    def places(self) -> bool:
        """Whether the indices of the maxima are a result."""
        return len(self.node.outputs) > 1 and not self.node.outputs[1].is_empty()

    @property
    def taps(self) -> int:
        """Elements of a window."""
        return elements(tuple(window.kernel for window in self.found))


def _pool(node: gs.Node) -> Pool:
    last = node.domain == "match.nhwc"
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    sizes, outs = (shape[1:-1], out[1:-1]) if last else (shape[2:], out[2:])
    if node.op.startswith("Global"):
        names = SPATIAL[len(SPATIAL) - len(sizes) :]
        found = tuple(Window(name, size, 1, size, 1, 1, 0, 0) for name, size in zip(names, sizes, strict=True))
    else:
        found = windows(node, sizes, outs, integers(node, "kernel_shape", (1,) * len(sizes)))
    steps = row_major(shape)
    with_pads = bool(integer(node, "count_include_pad", 0))
    counted = "Average" in node.op and any(w.leaves and (not with_pads or _overhangs(w)) for w in found)
    return Pool(node, dtype_of(node.inputs[0]), found, steps[1:-1] if last else steps[2:], counted, with_pads)


def _overhangs(window: Window) -> bool:
    """Whether a window extends beyond the padding (ceil_mode)."""
    reach = (window.out - 1) * window.stride + (window.kernel - 1) * window.dilation - window.before
    return reach >= window.size + window.after


def build_pool(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """MaxPool, AveragePool, LpPool and their global forms."""
    (node,), code, uses = nodes, Code(), Uses()
    pool = _pool(node)
    if arithmetic(pool.dtype).kind == "f":
        uses.include("math.h")
    if node.domain == "match.nhwc":
        _write_channels_last(pool, code, uses)
    else:
        _write_channels_first(pool, code, uses)
    results = elements(shape_of(node.outputs[0]))
    per_tap = Work(memory=1, steps=1, **({"floating": 1} if arithmetic(pool.dtype).kind == "f" else {"integer": 2}))
    work = (per_tap + moved_halves(pool.dtype)).times(results * pool.taps)
    work += Work(memory=1, steps=1, special=int(pool.kind == "norm")).times(results)
    block = {"block": _lanes(shape_of(node.inputs[0])[-1], pool.dtype)} if node.domain == "match.nhwc" else {}
    return replace(single(node, function, code.text, uses, work), told={**told_windows(pool.found), **block})


def _write_channels_first(pool: Pool, code: Code, uses: Uses) -> None:
    shape, out = shape_of(pool.node.inputs[0]), shape_of(pool.node.outputs[0])
    strides, target = row_major(shape), row_major(out)
    with code.loops([("c", shape[0] * shape[1]), *((w.name, w.out) for w in pool.found)]) as (c, *space):
        result = affine([(c, target[1]), *zip(space, target[2:], strict=True)])
        code.line(f"{scalar_type(pool.dtype)} acc = {_start(pool)};")
        _write_taps(pool, [(c, strides[1])], "", code, uses)
        code.line(f"out0[{result}] = {_finished(pool, 'acc', uses)};")
        if pool.places:
            plane = affine([(c, elements(shape[2:]))])
            code.line(f"out1[{result}] = {'' if plane == '0' else f'(int64_t){plane} + '}best;")


def _write_channels_last(pool: Pool, code: Code, uses: Uses) -> None:
    """Channels are contiguous, so a block of them is pooled together."""
    shape, out = shape_of(pool.node.inputs[0]), shape_of(pool.node.outputs[0])
    strides, target, channels = row_major(shape), row_major(out), shape[-1]
    lanes = _lanes(channels, pool.dtype)
    blocks = -(-channels // lanes)
    order = [("n", shape[0]), *((w.name, w.out) for w in pool.found), ("b", blocks)]
    with code.loops(order) as (n, *space, b):
        bound = str(lanes)
        if channels % lanes:
            bound = "lanes"
            code.line(f"const int32_t lanes = {channels} - b * {lanes} < {lanes} ? {channels} - b * {lanes} : {lanes};")
        code.line(f"{scalar_type(pool.dtype)} acc[{lanes}];")
        together = as_vectors(uses, lanes)
        code.lines(together)
        with code.block(f"for (int32_t c = 0; c < {bound}; c++)"):
            code.line(f"acc[c] = {_start(pool)};")
        _write_taps(pool, [(n, strides[0]), (b, lanes)], bound, code, uses)
        result = affine([(n, target[0]), *zip(space, target[1:-1], strict=True), (b, lanes), ("c", 1)])
        code.lines(together)
        with code.block(f"for (int32_t c = 0; c < {bound}; c++)"):
            code.line(f"out0[{result}] = {_finished(pool, 'acc[c]', uses)};")


def _lanes(channels: int, dtype: np.dtype[np.generic]) -> int:
    """Channels of a block: all of them, or a divisor of their number, or the most that are allowed."""
    most = LANE_BYTES // arithmetic(dtype).itemsize
    if channels <= most:
        return channels
    return next((size for size in range(most, 7, -1) if channels % size == 0), most)


def _start(pool: Pool) -> str:
    own = arithmetic(pool.dtype)
    if pool.kind == "max" and own.kind == "f":  # stays only if the window holds nothing else
        return literal(float("nan"), own)
    return lowest(pool.dtype) if pool.kind == "max" else literal(0, own)


def _finished(pool: Pool, acc: str, uses: Uses) -> str:
    """The stored value for the combined elements of a window."""
    own = arithmetic(pool.dtype)
    if pool.kind == "average":
        acc += f" / ({scalar_type(own)})count" if pool.counted else f" / {literal(pool.taps, own)}"
    elif pool.kind == "norm":
        acc = root(acc, integer(pool.node, "p", 2), own, uses)
    return stored(acc, pool.dtype)


def _write_taps(pool: Pool, base: list[tuple[str, int]], lanes: str, code: Code, uses: Uses) -> None:
    """Loops over a window that combine its elements; ``lanes``: number of contiguous channels, "" for one."""
    all_counted = pool.counted and pool.with_pads  # padding counts, elements beyond it do not
    if pool.counted:
        code.line("int32_t count = 0;")
    if pool.places:
        code.line("int32_t best = -1;")
    with ExitStack() as stack:
        for window in pool.found:
            if window.leaves:
                head = f"for (int32_t k{window.name} = 0; k{window.name} < {window.kernel}; k{window.name}++)"
                stack.enter_context(code.block(head))
                terms, offset = window.position
                code.line(f"const int32_t i{window.name} = {affine(terms, offset)};")
                if not all_counted:
                    _skip(window.outside, code)
            else:
                stack.enter_context(code.loop(f"k{window.name}", window.kernel))
        if all_counted:
            beyond = [f"i{w.name} >= {w.size + w.after}" for w in pool.found if w.leaves and _overhangs(w)]
            code.line(f"count += {' || '.join(beyond)} ? 0 : 1;")
            _skip(" || ".join(window.outside for window in pool.found if window.leaves), code)
        elif pool.counted:
            code.line("count++;")
        source, constant = _source(pool, pool.steps)
        if lanes:
            code.lines(as_vectors(uses, int(lanes)) if lanes.isdigit() else ())
            stack.enter_context(code.block(f"for (int32_t c = 0; c < {lanes}; c++)"))
        place = affine([*base, *source, *([("c", 1)] if lanes else [])], constant)
        _write_tap(pool, place, "acc[c]" if lanes else "acc", code, uses)


def _skip(outside: str, code: Code) -> None:
    with code.block(f"if ({outside})"):
        code.line("continue;")


def _source(pool: Pool, steps: tuple[int, ...]) -> tuple[list[tuple[str, int]], int]:
    """Terms and constant of a tap's index, given the element strides of the spatial axes."""
    terms = [term for window, step in zip(pool.found, steps, strict=True) for term in window.terms(step)]
    return terms, sum(window.offset * step for window, step in zip(pool.found, steps, strict=True))


def _write_tap(pool: Pool, place: str, acc: str, code: Code, uses: Uses) -> None:
    value, own = loaded(f"in0[{place}]", pool.dtype), arithmetic(pool.dtype)
    if pool.kind == "average":
        code.line(f"{acc} += {value};")
    elif pool.kind == "norm":
        code.line(f"const {scalar_type(own)} size = fabs{'f' if own.itemsize == 4 else ''}({value});")
        code.line(f"{acc} += {power('size', integer(pool.node, 'p', 2), own, uses)};")
    elif pool.places:
        sizes = tuple(window.size for window in pool.found)
        columns_first = integer(pool.node, "storage_order", 0) != 0
        order = row_major(sizes[::-1])[::-1] if columns_first else row_major(sizes)
        code.line(f"const {scalar_type(own)} value = {value};")
        with code.block("if (best < 0 || value > acc)"):
            code.line(f"best = {affine(*_source(pool, order))};")
            code.line("acc = value;")
    elif own.kind == "f":
        # The largest number, NaN if there is none. ONNX Runtime's own result for windows with NaN depends on the
        # stride and on the place of the window in a vector register.
        code.line(f"const {scalar_type(own)} value = {value};")
        code.line(f"{acc} = value > {acc} || {acc} != {acc} ? value : {acc};")
    else:
        code.line(f"{acc} = {value} > {acc} ? {value} : {acc};")
