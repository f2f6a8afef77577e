"""Constant nodes become constants of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Replace every Constant node whose value is a dense tensor of numbers."""
    if not any(node.op == "Constant" for node in model.graph.nodes):
        return model
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        values = _values(node) if node.op == "Constant" else None
        if values is not None:
            editor.replace(node.outputs[0], editor.constant(node.outputs[0].name, values))
    return editor.finish()


def _values(node: gs.Node) -> NDArray[np.generic] | None:
    attrs = node.attrs
    if "value" in attrs:
        return np.asarray(attrs["value"].values)
    for name, dtype in (("value_float", np.float32), ("value_floats", np.float32)):
        if name in attrs:
            return np.asarray(attrs[name], dtype)
    for name in ("value_int", "value_ints"):
        if name in attrs:
            return np.asarray(attrs[name], np.int64)
    return None


CONSTANT_NODES = Pass("constant_nodes", Phase.CLEAN, run, "Constant nodes become constants", before=("fold_constants",))
