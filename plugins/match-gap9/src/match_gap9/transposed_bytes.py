"""Transposes bytes instead of the floats that they become: DequantizeLinear and a Transpose after it change places.

The cluster transposes bytes only, and they are a quarter of the floats.
"""

from __future__ import annotations

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, is_private, producer, shape_of

_BYTES = (np.dtype(np.int8), np.dtype(np.uint8))


def run(model: Model, context: PassContext) -> Model:
    """Exchange every such pair with one scale."""
    if not any(node.op == "Transpose" for node in model.graph.nodes):
        return model
    editor = Editor(model)
    for node in list(editor.graph.nodes):
        real = node.inputs[0] if node.op == "Transpose" and not node.domain else None
        dequantize = producer(real) if real is not None else None
        if real is None or dequantize is None or dequantize.op != "DequantizeLinear":
            continue
        x, scale = dequantize.inputs[0], constant(dequantize.inputs[1])
        if scale is None or scale.size != 1 or x.dtype is None or np.dtype(x.dtype) not in _BYTES:
            continue
        if not is_private(real, editor.graph.outputs):
            continue
        old, shape, attrs = node.outputs[0], shape_of(node.outputs[0]), dict(node.attrs)
        turned = editor.node("Transpose", [x], x.dtype, shape, name=node.name, origin=editor.origin(node), attrs=attrs)
        inputs, origin = [turned, *dequantize.inputs[1:]], editor.origin(dequantize)
        result = editor.node("DequantizeLinear", inputs, old.dtype, shape, name=dequantize.name, origin=origin)
        editor.replace(old, result)
    return editor.finish()


TRANSPOSED_BYTES = Pass(
    "gap9_transposed_bytes",
    Phase.TARGET,
    run,
    "tensors of bytes are transposed before they become floats, not after",
)
