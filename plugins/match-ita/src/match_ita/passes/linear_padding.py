"""Sizes of a linear layer become multiples of ITA's blocks: zeros in inputs and weights, a Slice of the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.transforms.quant import constant, producer, shape_of

from match_ita.passes.linear_layers import LinearLayer
from match_ita.passes.nodes import padded, sliced

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def pad(editor: Editor, layer: LinearLayer, block: int) -> None:
    """Pad a layer's weights, input and result where they are no multiples of ``block``. Weights of added inputs are 0,
    so what an added column of the input holds does not matter: a Slice in front of a Pad of the same size goes."""
    inputs, columns = layer.weight.shape
    more_inputs, more_columns = -inputs % block, -columns % block
    if not more_inputs and not more_columns:
        return
    stored = np.asarray(constant(layer.matmul.inputs[1]))
    weight = np.pad(stored, ((0, more_inputs), (0, more_columns)))
    layer.matmul.inputs[1] = editor.constant(f"{layer.name}_weight", weight)
    if more_inputs:
        layer.matmul.inputs[0] = _padded(editor, layer, inputs + more_inputs)
    if more_columns:
        _widen(editor, layer, columns, columns + more_columns)


def _padded(editor: Editor, layer: LinearLayer, inputs: int) -> gs.Tensor:
    """The layer's input with this many columns."""
    x = layer.x
    before = producer(x)
    if before is not None and before.op == "Slice" and shape_of(before.inputs[0]) == (*shape_of(x)[:-1], inputs):
        source: gs.Tensor = before.inputs[0]
        return source
    added = inputs - int(x.shape[-1])
    return padded(editor, x, -1, (0, added), f"{layer.name}_pad", editor.origin(layer.matmul))


def _widen(editor: Editor, layer: LinearLayer, columns: int, wide: int) -> None:
    """Let the layer compute ``wide`` columns, and its readers see the first ones."""
    for position in (1, 2):
        values = np.asarray(constant(layer.requant.inputs[position]))
        if values.size > 1:
            more = [(0, 0)] * (values.ndim - 1) + [(0, wide - columns)]
            hint = layer.requant.inputs[position].name
            layer.requant.inputs[position] = editor.constant(hint, np.pad(values, more, mode="edge"))
    acc, old, name = layer.matmul.outputs[0], layer.y, layer.requant.name
    acc.shape = [*acc.shape[:-1], wide]
    result = editor.variable(f"{name}_wide", np.int8, (*shape_of(old)[:-1], wide))
    layer.requant.outputs = [result]
    editor.replace(old, sliced(editor, result, 0, columns, f"{name}_slice", editor.origin(layer.requant)))
