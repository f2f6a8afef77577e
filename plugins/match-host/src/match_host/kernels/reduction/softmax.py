"""Softmax and LogSoftmax over any axis, in floating point or on 8-bit values with a table."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import axis_of, dtype_of, elements, integers_at, values_of
from match_host.kernels.built import Built
from match_host.kernels.code import Uses, affine, inline_code, literal
from match_host.kernels.lanes import FEWEST_ACROSS, block_of, in_lanes, lane_maximum, lane_sum
from match_host.kernels.scalar import loaded, moved_halves, real_function, scalar_type, stored
from match_host.kernels.templates import render_body
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: The sum of this many exponentials, each at most 1, is a finite float16.
LARGEST_HALF = 65504


def axis_view(shape: tuple[int, ...], axis: int) -> dict[str, object]:
    """Values for templates that walk along one axis: ``start`` of line i and ``step`` of element k."""
    size, inner = shape[axis], elements(shape[axis + 1 :])
    outer = elements(shape[:axis])
    start = f"i * {size}" if inner == 1 else f"i / {inner} * {size * inner} + i % {inner}"
    if outer == 1 and inner > 1:
        start = "i"
    return {"size": size, "inner": inner, "outer": outer, "start": start, "step": affine([("k", inner)])}


def build_softmax(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """Softmax or LogSoftmax of floating point."""
    (node,), uses = nodes, Uses()
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    axis = axis_of(node, -1, len(shape))
    size, inner = shape[axis], elements(shape[axis + 1 :])
    functions = {
        "type": scalar_type(dtype),
        "exp": real_function("exp", dtype, uses),
        "log": real_function("log", dtype, uses) if node.op == "LogSoftmax" else "",
    }
    if inner == 1 and in_lanes(dtype, size):
        text = render_body(
            "softmax_lines",
            **functions,
            outer=elements(shape[:axis]),
            size=size,
            one=literal(1, dtype),
            maximum=lane_maximum(uses, dtype, "x", size),
            sum=lane_sum(uses, dtype, "y", size),
        )
        work = Work(memory=7, floating=4, special=1, steps=3).times(elements(shape))
        work += Work(floating_divide=1).times(elements(shape[:axis]))
    else:
        view = axis_view(shape, axis)
        across = inner >= FEWEST_ACROSS
        if across:
            block = block_of(inner)
            blocks = inner // block
            start = f"i / {blocks} * {size * inner} + i % {blocks} * {block}" if blocks > 1 else f"i * {size * inner}"
            view |= {"block": block, "start": start}
        total = "sum[c]" if across else "sum"
        halves = dtype == np.float16 and size <= LARGEST_HALF
        text = render_body(
            "softmax_across" if across else "softmax",
            **functions,
            **view,
            load=partial(loaded, dtype=dtype),
            store=partial(stored, dtype=dtype),
            rounded=loaded(stored(total, dtype), dtype) if halves else "",
            zero=literal(0, dtype),
        )
        work = Work(memory=6, floating=3, special=1, floating_divide=1, steps=3) + moved_halves(dtype, 6)
        work = work.times(elements(shape))
    arguments = (node.inputs[0],)
    comment = f"{node.op}: {'x'.join(map(str, shape))}"
    code = inline_code(function, comment, arguments, node.outputs, text, uses)
    return Built(arguments, code, work, told=_told(shape, axis))


def _told(shape: tuple[int, ...], axis: int) -> dict[str, int]:
    """Lines whose elements are no neighbours, and how far these are apart."""
    inner = elements(shape[axis + 1 :])
    return {"inner": inner, "rows": elements(shape[:axis]) * inner} if inner > 1 else {}


def build_integer_softmax(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """``match.arith::SoftmaxU8`` and ``SoftmaxI8``."""
    (node,) = nodes
    shape = shape_of(node.inputs[0])
    scale, zero, low, high = (_scalar(node, index) for index in range(2, 6))
    axis = axis_of(node, -1, len(shape))
    view, size = axis_view(shape, axis), shape[axis]
    table = values_of(node.inputs[1]).astype(np.int64).reshape(-1)
    largest = int(table.max())
    # The sum is at least the first entry: entries that are too small relative to it give 0.
    distances = int((table * (2 * scale) >= table[0]).sum()) if largest * scale < 2**62 else table.size
    long_lines = bool((np.diff(table) <= 0).all()) and distances < size
    text = render_body(
        "softmax_integer",
        **view,
        type=c_type(dtype_of(node.outputs[0])),
        sum_type="uint32_t" if size * largest < 2**32 else "int64_t",
        double_n=literal(2 * scale, np.dtype(np.int64)),
        zero=zero,
        low=low,
        high=high,
        long_lines=long_lines,
    )
    arguments, count = (node.inputs[0], node.inputs[1]), elements(shape)
    comment = f"{node.op}: {'x'.join(map(str, shape))}"
    constants = {1: table.astype(np.int32)} if largest < 2**31 else {}
    code = inline_code(function, comment, arguments, node.outputs, text, Uses(), constants)
    divided = Work(memory=1, wide=6, wide_multiply=1, wide_divide=1)
    each = Work(memory=6, integer=4, wide=int(size * largest >= 2**32), steps=3)
    if not long_lines:
        return Built(arguments, code, (each + divided).times(count), told=_told(shape, axis))
    line = divided.times(distances) + Work(memory=table.size - distances, steps=table.size)
    return Built(arguments, code, each.times(count) + line.times(count // size), told=_told(shape, axis))


def _scalar(node: gs.Node, index: int) -> int:
    values = integers_at(node, index)
    if not values:
        raise ValueError(f"input {index} of {node.op} is missing")
    return values[0]
