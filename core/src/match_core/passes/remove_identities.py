"""Removes nodes that change nothing: Identity, Dropout, casts and reshapes without effect, empty padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, optional_input, shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_RESHAPES = frozenset(("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile"))
_ONE_INPUT = frozenset(("Concat", "Sum", "Max", "Min", "Mean"))


def run(model: Model, context: PassContext) -> Model:
    """Remove them, and all nodes that only they depend on."""
    if not any(is_identity(node) for node in model.graph.nodes):
        return model
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        if _other_outputs_unread(node, editor.graph) and is_identity(node) and not _is_copy(node, editor.graph):
            editor.replace(node.outputs[0], node.inputs[0])
            node.outputs.clear()
    return editor.finish()


def is_identity(node: gs.Node) -> bool:
    """Whether the first output always equals the first input."""
    if (node.domain or "") not in ("", "ai.onnx") or not node.inputs or node.inputs[0].is_empty():
        return False
    x, y = node.inputs[0], node.outputs[0]
    if x.shape is None or y.shape is None or shape_of(x) != shape_of(y) or np.dtype(x.dtype) != np.dtype(y.dtype):
        return False
    if node.op in ("Identity", "Cast", "CastLike") or node.op in _RESHAPES:
        return True
    if node.op in _ONE_INPUT:
        return len(node.inputs) == 1
    if node.op == "Dropout":
        training = optional_input(node, 2)
        values = constant(training) if training is not None else np.array(False)
        return values is not None and not bool(np.any(values))
    if node.op == "Transpose":
        moved = [axis for axis in node.attrs.get("perm", range(len(x.shape))[::-1]) if shape_of(x)[axis] != 1]
        return moved == sorted(moved)
    if node.op == "Pad":
        amounts = constant(node.inputs[1])
        return amounts is not None and not np.any(amounts)
    if node.op == "Slice":
        steps = constant(node.inputs[4]) if optional_input(node, 4) is not None else np.ones(1)
        return steps is not None and bool(np.all(np.asarray(steps) == 1))
    if node.op == "Clip":
        return optional_input(node, 1) is None and optional_input(node, 2) is None
    return False


def _other_outputs_unread(node: gs.Node, graph: gs.Graph) -> bool:
    """Whether no node reads the other outputs (the mask of a Dropout)."""
    return not any(t.outputs or any(t is output for output in graph.outputs) for t in node.outputs[1:])


def _is_copy(node: gs.Node, graph: gs.Graph) -> bool:
    """Whether a graph output requires this Identity, whose value is an input, a constant or another output."""
    x, y = node.inputs[0], node.outputs[0]
    if node.op != "Identity" or not any(y is output for output in graph.outputs):
        return False
    return not x.inputs or any(x is output for output in graph.outputs)


REMOVE_IDENTITIES = Pass(
    "remove_identities", Phase.CLEAN, run, "nodes that change nothing are removed", after=("fold_constants",)
)
