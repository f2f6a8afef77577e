"""Stores int8 results of requantisation as uint8 if the units prefer it: u = q + 128.

Readers either include the offset (convolutions and products with constant weights in the requantisation after them,
sums, tables, moves) or get the int8 values back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model, qualified_op
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.reader import constant, shape_of

from match_quant.integer_graph import activation_type
from match_quant.integer_moves import takes_nearest
from match_quant.unsigned_sums import add, requantise
from match_quant.unsigned_tensors import OFFSET, UnsignedTensors

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Rule = Callable[[UnsignedTensors, "gs.Node"], "gs.Variable | None"]

_MOVES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "MaxPool", "Slice", "Expand", "Tile", "Gather")
#: Operators that depend only on differences along an axis.
_DIFFERENCES = ("match.arith::SoftmaxFloorU8", "match.arith::ShiftSoftmaxU8")


def run(model: Model, context: PassContext) -> Model:
    """Change the type of every such tensor and of the operators that move its values."""
    if activation_type(context.units) != np.dtype(np.uint8):
        return model
    editor = Editor(model)
    sort_nodes(editor.graph)
    state = UnsignedTensors(editor)
    for node in list(editor.graph.nodes):
        rule = _RULES.get(qualified_op(node))
        new = rule(state, node) if rule is not None else None
        if new is not None:
            state.replace(node, new)
    return editor.finish() if state.changed else model


def _table(state: UnsignedTensors, node: gs.Node) -> gs.Variable | None:
    """Tables are indexed by u = q + 128 already; int8 results become uint8."""
    table, stored = constant(node.inputs[1]), state.get(node.inputs[0])
    signed = table is not None and table.dtype == np.int8
    if table is None or (stored is None and not signed):
        return None
    values = (table.astype(np.int64) + OFFSET).astype(np.uint8) if signed else table
    x = stored if stored is not None else node.inputs[0]
    op = "match.arith::LutU8" if np.dtype(x.dtype) == np.uint8 else "match.arith::LutI8"
    inputs = [x, state.editor.constant(f"{node.name}_table", values)]
    origin, shape = state.editor.origin(node), shape_of(node.outputs[0])
    return state.editor.node(op, inputs, values.dtype, shape, name=node.name, origin=origin)


def _product(state: UnsignedTensors, node: gs.Node) -> gs.Variable | None:
    """A product of two computed tensors: the offset of each becomes its zero point."""
    if len(node.inputs) != 2 or any(constant(tensor) is not None for tensor in node.inputs):
        return None
    stored = [state.get(tensor) for tensor in node.inputs]
    if all(new is None for new in stored):
        return None
    data = [new if new is not None else old for new, old in zip(stored, node.inputs, strict=True)]
    zeros = [
        state.editor.constant(f"{node.name}_zero_{side}", np.array(OFFSET if new is not None else 0, old.dtype))
        for side, new, old in zip("ab", stored, data, strict=True)
    ]
    origin = state.editor.origin(node)
    shape = shape_of(node.outputs[0])
    return state.editor.node("MatMulInteger", [*data, *zeros], np.int32, shape, name=node.name, origin=origin)


def _move(state: UnsignedTensors, node: gs.Node) -> gs.Variable | None:
    """A move, only if its input is stored as uint8 already."""
    stored = state.get(node.inputs[0])
    if stored is None or len(node.outputs) != 1:
        return None
    return _copy(state, node, [stored, *node.inputs[1:]], np.dtype(np.uint8))


def _resize(state: UnsignedTensors, node: gs.Node) -> gs.Variable | None:
    return _move(state, node) if takes_nearest(node) else None


def _difference(state: UnsignedTensors, node: gs.Node) -> gs.Variable | None:
    stored = state.get(node.inputs[0])
    if stored is None:
        return None
    return _copy(state, node, [stored, *node.inputs[1:]], np.dtype(node.outputs[0].dtype))


def _copy(state: UnsignedTensors, node: gs.Node, inputs: list[gs.Tensor], dtype: np.dtype[np.generic]) -> gs.Variable:
    return state.editor.node(
        qualified_op(node),
        inputs,
        dtype,
        shape_of(node.outputs[0]),
        name=node.name,
        origin=state.editor.origin(node),
        attrs=dict(node.attrs),
    )


_RULES: dict[str, Rule] = {
    "match.arith::RequantI8": requantise,
    "match.arith::RequantU8": requantise,
    "match.arith::AddRequantI8": add,
    "match.arith::AddRequantU8": add,
    "match.arith::LutI8": _table,
    "match.arith::LutU8": _table,
    "MatMulInteger": _product,
    **dict.fromkeys(_MOVES, _move),
    "Resize": _resize,
    **dict.fromkeys(_DIFFERENCES, _difference),
}

UNSIGNED_ACTIVATIONS = Pass(
    "unsigned_activations",
    Phase.INTEGER,
    run,
    "int8 results of requantisation are stored as uint8 if the units prefer it",
    after=("integerise", "narrow_integers"),
    optional=True,
)
