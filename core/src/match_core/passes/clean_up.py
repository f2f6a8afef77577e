"""Last clean-up: chains of Reshape or Transpose become one, and identities are removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, producer, shape_of
from match_core.passes.remove_identities import run as remove_identities

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_RESHAPES = frozenset(("Reshape", "Flatten", "Squeeze", "Unsqueeze"))


def run(model: Model, context: PassContext) -> Model:
    """Merge from inputs to outputs, then remove identities and dead nodes."""
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        if (node.domain or "") not in ("", "ai.onnx"):
            continue
        if _takes_the_only(node):
            node.op, node.attrs = "Squeeze", {}
        if node.op in _RESHAPES:
            _merge_reshapes(editor, node)
        elif node.op == "Transpose":
            _merge_transposes(editor, node)
    return remove_identities(editor.finish(), context)


def _takes_the_only(node: gs.Node) -> bool:
    """Whether it is a Gather of the only index of an axis: the same elements in another shape."""
    if node.op != "Gather":
        return False
    index, shape = constant(node.inputs[1]), shape_of(node.inputs[0])
    return index is not None and index.size == 1 and shape[int(node.attrs.get("axis", 0))] == 1


def _merge_reshapes(editor: Editor, node: gs.Node) -> None:
    before = producer(node.inputs[0])
    merged = before is not None and before.op in _RESHAPES and (before.domain or "") in ("", "ai.onnx")
    if merged and before is not None:
        node.inputs[0] = before.inputs[0]
        editor.add_origin(node, before)
    if merged or node.op != "Reshape" or node.attrs.get("allowzero", 0):
        target = editor.constant(f"{node.name}_shape", np.array(shape_of(node.outputs[0]), np.int64))
        node.inputs = [node.inputs[0], target]
        node.op, node.attrs = "Reshape", {}


def _merge_transposes(editor: Editor, node: gs.Node) -> None:
    before = producer(node.inputs[0])
    if before is None or before.op != "Transpose" or (before.domain or "") not in ("", "ai.onnx"):
        return
    first, second = _order(before), _order(node)
    node.attrs["perm"] = [first[axis] for axis in second]
    node.inputs[0] = before.inputs[0]
    editor.add_origin(node, before)


def _order(node: gs.Node) -> list[int]:
    rank = len(node.inputs[0].shape)
    return [int(axis) for axis in node.attrs.get("perm", range(rank)[::-1])]


CLEAN_UP = Pass("clean_up", Phase.FINAL, run, "chains of Reshape and Transpose become one; identities are removed")
