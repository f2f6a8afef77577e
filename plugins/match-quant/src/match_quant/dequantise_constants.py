"""Quantised constants that only float operators read become float constants."""

from __future__ import annotations

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import quant_constant


def run(model: Model, context: PassContext) -> Model:
    """Fold each DequantizeLinear of a constant that integerisation left."""
    editor = Editor(model)
    changed = False
    for node in list(editor.graph.nodes):
        if node.op != "DequantizeLinear":
            continue
        stored = quant_constant(node.outputs[0])
        if stored is None:
            continue
        changed = True
        dtype = np.dtype(node.outputs[0].dtype)
        # One product in the result's own type, as DequantizeLinear computes it.
        values = stored.values.astype(dtype) * stored.scale.astype(dtype)
        editor.replace(node.outputs[0], editor.constant(node.outputs[0].name, values))
    return editor.finish() if changed else model


DEQUANTISE_CONSTANTS = Pass(
    "dequantise_constants",
    Phase.INTEGER,
    run,
    "quantised weights of operators that stay float become float",
    after=("integerise",),
    exact=False,  # equal weights, but a runtime may sum products in another order if weights are constant
)
