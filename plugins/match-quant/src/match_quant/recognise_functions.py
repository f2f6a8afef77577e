"""Replaces layer normalisation, RMS normalisation and GELU written in elementary operators with one operator each.

In real numbers the two forms are equal. One operator rounds once, the elementary form after every step; in float16 this
moves results by a few units in the last place towards the exact ones.
"""

from __future__ import annotations

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor

from match_quant.operators import has_operator
from match_quant.recognise_gelu import replace_gelu
from match_quant.recognise_norm import replace_norm, rms_function


def run(model: Model, context: PassContext) -> Model:
    """Check every node that may be the last of such a group."""
    if not has_operator(model, "Mul", "Div"):
        return model
    editor = Editor(model)
    editor.define([rms_function()])
    # The host alone has a kernel of RMS normalisation; units that run its elementary operators keep them.
    elsewhere = {name for unit in context.units if unit.name != context.soc.host for name in unit.spatial_types}
    for op in (("Mul", "Div"), ("Div", "Mul")):
        for node in list(editor.graph.nodes):
            if node.op not in op or node.domain not in (None, "", "ai.onnx") or not node.outputs:
                continue
            if op[0] == "Mul":
                replace_gelu(editor, node)
            else:
                replace_norm(editor, node, rms=np.dtype(node.outputs[0].dtype).name not in elsewhere)
    return editor.finish()


RECOGNISE_FUNCTIONS = Pass(
    "recognise_functions",
    Phase.FLOAT,
    run,
    "layer normalisation, RMS normalisation and GELU written in elementary operators become one operator",
    exact=False,
    optional=True,
)
