"""Folds alpha, beta and transB of a Gemm into its constant weights and bias."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, optional_input, shape_of

from match_quant.operators import has_operator

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Rewrite each such Gemm to ``x @ B + C`` (transA does not change)."""
    if not has_operator(model, "Gemm"):
        return model
    editor = Editor(model)
    for node in editor.graph.nodes:
        if node.op == "Gemm" and (node.domain or "") in ("", "ai.onnx"):
            _normalise(editor, node)
    return editor.finish()


def _normalise(editor: Editor, node: gs.Node) -> None:
    weight = constant(node.inputs[1])
    bias_tensor = optional_input(node, 2)
    bias = constant(bias_tensor) if bias_tensor is not None else None
    alpha, beta = float(node.attrs.get("alpha", 1.0)), float(node.attrs.get("beta", 1.0))
    transposed = bool(node.attrs.get("transB", 0))
    if weight is None or (bias_tensor is not None and bias is None) or weight.dtype.kind != "f":
        return
    if transposed or alpha != 1.0:
        values = np.asarray(weight.T if transposed else weight, np.float64) * alpha
        node.inputs[1] = editor.constant(f"{node.name}_weight", values.astype(weight.dtype))
    if bias is not None and (beta != 1.0 or bias.ndim != 1):
        columns = shape_of(node.outputs[0])[1]
        values = np.asarray(bias, np.float64) * beta
        if values.size == 1 or values.shape[-1] == columns == values.size:
            values = np.broadcast_to(values.reshape(-1), (columns,))
        node.inputs[2] = editor.constant(f"{node.name}_bias", values.astype(bias.dtype))
    kept = {"transA": int(node.attrs["transA"])} if node.attrs.get("transA", 0) else {}
    node.attrs = kept


NORMALISE_GEMM = Pass(
    "normalise_gemm",
    Phase.FLOAT,
    run,
    "alpha, beta and transB of Gemm go into its constants",
    after=("fold_batch_norm",),
    exact=False,
)
