"""Pooling over windows: maximum and average, NCHW or NHWC, and over the whole image."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from match_core.host.graph import dtype_of, elements, integer, integers, shape_of
from match_core.host.kernels.built import Built
from match_core.host.kernels.code import Code, Uses, affine, inline_code, literal
from match_core.host.kernels.nest import row_major
from match_core.host.kernels.scalar import loaded, moved_halves, scalar_type, stored
from match_core.host.kernels.window import SPATIAL, Window, windows
from match_core.host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def lowest(dtype: np.dtype[np.generic]) -> str:
    """C text of the smallest value of the type."""
    if dtype.kind == "f":
        return literal(float("-inf"), dtype)
    return literal(int(np.iinfo(dtype.name).min), dtype)


def highest(dtype: np.dtype[np.generic]) -> str:
    """C text of the largest value of the type."""
    if dtype.kind == "f":
        return literal(float("inf"), dtype)
    return literal(int(np.iinfo(dtype.name).max), dtype)


def _windows(node: gs.Node, sizes: tuple[int, ...], outs: tuple[int, ...]) -> tuple[Window, ...]:
    if node.op.startswith("Global"):
        names = SPATIAL[len(SPATIAL) - len(sizes) :]
        return tuple(Window(name, size, 1, size, 1, 1, 0, 0) for name, size in zip(names, sizes, strict=True))
    return windows(node, sizes, outs, integers(node, "kernel_shape", (1,) * len(sizes)))


def build_pool(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """MaxPool, AveragePool and their global forms."""
    (node,), code, uses = nodes, Code(), Uses()
    last = node.domain == "match.nhwc"
    shape, out, dtype = shape_of(node.inputs[0]), shape_of(node.outputs[0]), dtype_of(node.inputs[0])
    found = _windows(node, shape[1:-1] if last else shape[2:], out[1:-1] if last else out[2:])
    space = [(window.name, window.out) for window in found]
    planes = [("n", shape[0]), ("c", shape[-1])] if last else [("c", shape[0] * shape[1])]
    order = [planes[0], *space, planes[1]] if last else [*planes, *space]
    steps, target = (row_major(shape), row_major(out))
    average = "Average" in node.op
    if dtype.kind == "f":
        uses.include("math.h")
    with code.loops(order) as names:
        at = dict(zip((name for name, _ in order), names, strict=True))
        plane = [(at["n"], steps[0]), (at["c"], 1)] if last else [(at["c"], steps[1])]
        space_steps = steps[1:-1] if last else steps[2:]
        code.line(f"{scalar_type(dtype)} acc = {literal(0, dtype) if average else lowest(dtype)};")
        counted = average and _counts(node, found)
        if counted:
            code.line("int32_t count = 0;")
        _taps(node, found, plane, space_steps, counted, dtype, code)
        result = [(at["n"], target[0]), (at["c"], 1)] if last else [(at["c"], target[1])]
        out_steps = target[1:-1] if last else target[2:]
        result += [(at[window.name], step) for window, step in zip(found, out_steps, strict=True)]
        taps = literal(elements(tuple(window.kernel for window in found)), dtype)
        divided = f" / {f'({scalar_type(dtype)})count' if counted else taps}" if average else ""
        code.line(f"out0[{affine(result)}] = {stored(f'acc{divided}', dtype)};")
    taps_total = elements(out) * elements(tuple(window.kernel for window in found))
    per_tap = Work(memory=1, steps=1, floating=1) if dtype.kind == "f" else Work(memory=1, steps=1, integer=2)
    per_tap += moved_halves(dtype)
    work = per_tap.times(taps_total) + Work(memory=1, steps=1).times(elements(out))
    kernel = "x".join(str(window.kernel) for window in found)
    comment = f"{node.op}: {'x'.join(map(str, shape))}, kernel {kernel}"
    arguments = (node.inputs[0],)
    outputs = node.outputs[:1]
    return Built(arguments, inline_code(function, comment, arguments, outputs, code.text, uses), work)


def _counts(node: gs.Node, found: tuple[Window, ...]) -> bool:
    """Whether the number of averaged elements differs from window to window."""
    if not any(window.leaves for window in found):
        return False
    if not integer(node, "count_include_pad", 0):
        return True
    return any(_overhangs(window) for window in found)


def _overhangs(window: Window) -> bool:
    """Whether a window reaches beyond the padding (ceil_mode)."""
    reach = (window.out - 1) * window.stride + (window.kernel - 1) * window.dilation - window.before
    return reach >= window.size + window.after


def _taps(
    node: gs.Node,
    found: tuple[Window, ...],
    plane: list[tuple[str, int]],
    steps: tuple[int, ...],
    counted: bool,
    dtype: np.dtype[np.generic],
    code: Code,
) -> None:
    average = "Average" in node.op
    with_pads = bool(integer(node, "count_include_pad", 0))
    with ExitStack() as stack:
        for window in found:
            if window.leaves:
                head = f"for (int32_t k{window.name} = 0; k{window.name} < {window.kernel}; k{window.name}++)"
                stack.enter_context(code.block(head))
                terms, offset = window.position
                code.line(f"const int32_t i{window.name} = {affine(terms, offset)};")
            else:
                stack.enter_context(code.loop(f"k{window.name}", window.kernel))
        beyond = [f"i{w.name} >= {w.size + w.after}" for w in found if w.leaves and _overhangs(w)]
        if counted and with_pads:
            code.line(f"count += {' || '.join(beyond)} ? 0 : 1;")
        outside = " || ".join(window.outside for window in found if window.leaves)
        if outside:
            with code.block(f"if ({outside})"):
                code.line("continue;")
        source, offset = list(plane), 0
        for window, step in zip(found, steps, strict=True):
            source += window.terms(step)
            offset += window.offset * step
        value = loaded(f"in0[{affine(source, offset)}]", dtype)
        if average:
            code.line(f"acc += {value};")
            if counted and not with_pads:
                code.line("count++;")
        else:
            code.line(f"acc = {value} > acc ? {value} : acc;")
