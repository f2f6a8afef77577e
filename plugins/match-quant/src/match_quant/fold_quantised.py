"""Quantised tensors that depend on constants only are computed at compile time.

Weights stay as they are: a dequantised constant is no result, and what moves it is no QuantizeLinear. Networks that are
unrolled in time multiply a constant first state by weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.passes.fold_constants import evaluate_node

from match_quant.operators import has_operator
from match_quant.table_region import Values, constant_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Fold each QuantizeLinear of such a tensor, from inputs to outputs."""
    if not has_operator(model, "QuantizeLinear"):
        return model
    editor = Editor(model)
    sort_nodes(editor.graph)
    known: dict[int, Values] = {}
    changed = False
    for node in list(editor.graph.nodes):
        values = _computed(node, known)
        if values is None:
            continue
        known[id(node.outputs[0])] = values
        if node.op == "QuantizeLinear":
            editor.replace(node.outputs[0], editor.constant(node.outputs[0].name, values))
            changed = True
    return editor.finish() if changed else model


def _computed(node: gs.Node, known: dict[int, Values]) -> Values | None:
    """The only result of a node of constants, of dequantised ones too."""
    import onnx_graphsurgeon as gs

    if len(node.outputs) != 1 or not node.inputs or node.op == "DequantizeLinear":
        return None
    inputs = list(node.inputs)
    for place, tensor in enumerate(inputs):
        if tensor.is_empty():
            continue
        values = known.get(id(tensor), constant_of(tensor))
        if values is None:
            return None
        inputs[place] = gs.Constant(f"x{place}", values)
    result = node.outputs[0]
    made = evaluate_node(
        gs.Node(node.op, "", dict(node.attrs), inputs, [gs.Variable("y", result.dtype, result.shape)], node.domain)
    )
    return None if made is None else made[0]


FOLD_QUANTISED = Pass(
    "fold_quantised",
    Phase.INTEGER,
    run,
    "quantised tensors that depend on constants only are computed at compile time",
    before=("integerise", "quantise_before_moves"),
    after=("qoperator_to_qdq", "narrow_integers"),
    exact=False,
)
