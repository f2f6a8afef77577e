"""Operators on indices: the index of the extreme along an axis, and gathering."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import axis_of, dtype_of, elements, integer
from match_host.kernels.built import Built
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.reduction.softmax import axis_view
from match_host.kernels.scalar import loaded, moved_halves, scalar_type
from match_host.kernels.templates import render_body
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def build_arg_extreme(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """ArgMax and ArgMin: the first (or last) index of the extreme, as int64."""
    (node,) = nodes
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    axis = axis_of(node, 0, len(shape))
    better = ">" if node.op == "ArgMax" else "<"
    if integer(node, "select_last_index", 0):
        better += "="
    text = render_body(
        "arg_extreme",
        **axis_view(shape, axis),
        type=scalar_type(dtype),
        load=partial(loaded, dtype=dtype),
        better=better,
    )
    arguments = (node.inputs[0],)
    comment = f"{node.op}: {'x'.join(map(str, shape))} over axis {axis}"
    code = inline_code(function, comment, arguments, node.outputs, text, Uses())
    work = Work(memory=1, integer=2, steps=1) + moved_halves(dtype)
    return Built(arguments, code, work.times(elements(shape)))


def build_gather(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """Gather along an axis. Negative indices count from the end; indices outside the axis are clamped into it, so
    that input data cannot cause accesses outside the tensor (ONNX leaves them undefined)."""
    (node,), uses = nodes, Uses()
    uses.include("string.h")
    shape, indices = shape_of(node.inputs[0]), shape_of(node.inputs[1])
    axis, dtype = axis_of(node, 0, len(shape)), dtype_of(node.inputs[0])
    inner = elements(shape[axis + 1 :])
    text = render_body(
        "gather",
        outer=elements(shape[:axis]),
        count=elements(indices),
        size=shape[axis],
        inner=inner,
        type=c_type(dtype),
        index_type=c_type(dtype_of(node.inputs[1])),
    )
    arguments = (node.inputs[0], node.inputs[1])
    comment = f"Gather: {'x'.join(map(str, shape))}, {elements(indices)} indices along axis {axis}"
    code = inline_code(function, comment, arguments, node.outputs, text, uses)
    total = elements(shape_of(node.outputs[0]))
    return Built(arguments, code, Work(memory=2, steps=1).times(total) + Work(integer=6).times(total // inner))
