"""Pads sizes of a linear layer to multiples of ITA's blocks: zeros in inputs and weights, a Slice of the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, optional_input, producer, shape_of
from match_quant.linear.layers import Ints, LinearLayer

from match_ita.passes.nodes import padded, sliced

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def pad(editor: Editor, layer: LinearLayer, block: int) -> None:
    """Pad a layer's weights, input and result where they are no multiples of ``block``. Weights of added inputs are 0,
    so what an added column of the input holds does not matter: a Slice takes more columns where there are some."""
    inputs, columns = layer.weight.shape
    more_inputs, more_columns = -inputs % block, -columns % block
    if not more_inputs and not more_columns:
        return
    before = 0
    if more_inputs:
        layer.matmul.inputs[0], before = _wider(editor, layer, inputs + more_inputs)
    stored = np.asarray(constant(layer.matmul.inputs[1]))
    weight = np.pad(stored, ((before, more_inputs - before), (0, more_columns)))
    layer.matmul.inputs[1] = editor.constant(f"{layer.name}_weight", weight)
    if more_columns:
        _widen(editor, layer, columns, columns + more_columns)


def _wider(editor: Editor, layer: LinearLayer, inputs: int) -> tuple[gs.Tensor, int]:
    """The layer's input with this many columns, and how many of the added ones are before the others."""
    x, origin = layer.x, editor.origin(layer.matmul)
    part = _columns(x)
    if part is not None and shape_of(part[0])[-1] >= inputs:
        source, start = part
        first = min(start, shape_of(source)[-1] - inputs)
        if shape_of(source)[-1] == inputs:
            return source, start
        return sliced(editor, source, first, first + inputs, f"{layer.name}_columns", origin), start - first
    added = inputs - int(x.shape[-1])
    return padded(editor, x, -1, (0, added), f"{layer.name}_pad", origin), 0


def _columns(x: gs.Tensor) -> tuple[gs.Tensor, int] | None:
    """The tensor that ``x`` holds some columns of, and the first column; None if it is not a Slice of only the last
    axis."""
    node = producer(x)
    if node is None or node.op != "Slice":
        return None
    source: gs.Tensor = node.inputs[0]
    if shape_of(source)[:-1] != shape_of(x)[:-1]:
        return None
    starts, _, axes, steps = (_values(node, position) for position in (1, 2, 3, 4))
    if starts is None or starts.size != 1 or (steps is not None and steps[0] != 1):
        return None
    if axes is None or int(axes[0]) % len(x.shape) != len(x.shape) - 1:
        return None
    start = int(starts[0])
    return source, start + shape_of(source)[-1] if start < 0 else start


def _values(node: gs.Node, position: int) -> Ints | None:
    tensor = optional_input(node, position)
    known = constant(tensor) if tensor is not None else None
    return None if known is None else np.asarray(known, np.int64).reshape(-1)


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
