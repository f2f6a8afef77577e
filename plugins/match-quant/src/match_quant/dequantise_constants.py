"""Quantised constants that only float operators read become float constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import QuantConstant, constant, constant_input, quant_constant

from match_quant.operators import has_operator

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def run(model: Model, context: PassContext) -> Model:
    """Fold each DequantizeLinear of a constant that integerisation left."""
    if not has_operator(model, "DequantizeLinear"):
        return model
    editor = Editor(model)
    changed = False
    for node in list(editor.graph.nodes):
        if node.op != "DequantizeLinear":
            continue
        stored = quant_constant(node.outputs[0]) or _of_blocks(node)
        if stored is None:
            continue
        changed = True
        dtype = np.dtype(node.outputs[0].dtype)
        # One product in the result's own type, as DequantizeLinear computes it.
        values = stored.values.astype(dtype) * stored.scale.astype(dtype)
        editor.replace(node.outputs[0], editor.constant(node.outputs[0].name, values))
    return editor.finish() if changed else model


def _of_blocks(node: gs.Node) -> QuantConstant | None:
    """A constant with a scale for each block along an axis; the scale has the shape of the values."""
    values, scale, size = constant(node.inputs[0]), constant(node.inputs[1]), int(node.attrs.get("block_size", 0))
    if values is None or scale is None or not size:
        return None
    axis, zero = int(node.attrs.get("axis", 1)) % max(values.ndim, 1), constant_input(node, 2)
    blocks = tuple(-(-length // size) if i == axis else length for i, length in enumerate(values.shape))
    if size < 0 or scale.shape != blocks or (zero is not None and zero.shape != blocks):
        return None
    places = np.arange(values.shape[axis]) // size
    zeros = np.int64(0) if zero is None else np.take(zero.astype(np.int64), places, axis)
    return QuantConstant(values.astype(np.int64) - zeros, np.take(scale.astype(np.float64), places, axis), None)


DEQUANTISE_CONSTANTS = Pass(
    "dequantise_constants",
    Phase.INTEGER,
    run,
    "quantised weights of operators that stay float become float",
    after=("integerise",),
    exact=False,  # equal weights, but a runtime may sum products in another order if weights are constant
)
