"""Computes nodes that depend on constants only."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.contract.model import IR_VERSION, OPSET, Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.reader import constant, shape_of
from match_core.load.without_program import RANDOM

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: The program computes larger results (as constants they would only bloat it), unless the inputs are as large.
_MAX_ELEMENTS = 1 << 20
#: Dequantised weights, which integerisation reads, are kept too.
_NEVER = RANDOM | {"DequantizeLinear"}


def run(model: Model, context: PassContext) -> Model:
    """Fold in one walk from inputs to outputs. Shape and Size fold too, as all shapes are static."""
    if not any(_shape(node) or evaluate_node(node) for node in model.graph.nodes):
        return model
    editor = Editor(model)
    sort_nodes(editor.graph)
    for node in list(editor.graph.nodes):
        results = _shape(node) or evaluate_node(node)
        for tensor, values in zip(node.outputs, results or (), strict=False):
            editor.replace(tensor, editor.constant(tensor.name, values))
    return editor.finish()


def _shape(node: gs.Node) -> list[NDArray[np.generic]] | None:
    if node.op not in ("Shape", "Size") or (node.domain or "") not in ("", "ai.onnx"):
        return None
    shape = shape_of(node.inputs[0])
    if node.op == "Size":
        return [np.array(prod(shape), np.int64)]
    return [np.array(shape[node.attrs.get("start", 0) : node.attrs.get("end")], np.int64)]


def evaluate_node(node: gs.Node) -> list[NDArray[np.generic]] | None:
    """What ONNX's reference implementation computes of constants; None if it cannot, or it is no such node."""
    values = [constant(tensor) for tensor in node.inputs if not tensor.is_empty()]
    if (node.domain or "") not in ("", "ai.onnx") or node.op in _NEVER or any(v is None for v in values):
        return None
    if any(tensor.shape is None or tensor.is_empty() for tensor in node.outputs):
        return None
    largest = max((v.size for v in values if v is not None), default=0)
    if any(prod(shape_of(tensor)) > max(_MAX_ELEMENTS, largest) for tensor in node.outputs):
        return None
    import onnx_graphsurgeon as gs
    from onnx.reference import ReferenceEvaluator

    outputs = [gs.Variable(f"y{i}", dtype=t.dtype, shape=t.shape) for i, t in enumerate(node.outputs)]
    inputs = [
        gs.Variable.empty() if t.is_empty() else gs.Constant(f"x{i}", np.asarray(constant(t)))
        for i, t in enumerate(node.inputs)
    ]
    single = gs.Graph([gs.Node(node.op, "n", dict(node.attrs), inputs, outputs)], [], outputs, opset=OPSET)
    try:
        results = ReferenceEvaluator(gs.export_onnx(single, ir_version=IR_VERSION)).run(None, {})
    except (NotImplementedError, RuntimeError, TypeError, ValueError):
        return None  # the program computes operators without a reference implementation
    arrays = [np.asarray(result) for result in results]
    pairs = zip(arrays, node.outputs, strict=True)
    fits = all(array.dtype == np.dtype(t.dtype) and array.shape == shape_of(t) for array, t in pairs)
    return arrays if fits else None


FOLD_CONSTANTS = Pass(
    "fold_constants", Phase.CLEAN, run, "nodes that depend on constants only are computed at compile time", exact=False
)
