"""Writes attention for ITA into the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, shape_of
from match_quant.linear.layers import LinearLayer, is_private, linear_layer, requant_constants, set_weight

from match_ita.functions import ATTENTION, function_protos
from match_ita.ita.limits import BLOCK
from match_ita.passes.attention_match import Heads, Projection
from match_ita.passes.attention_numbers import Design, ItaMax
from match_ita.passes.attention_symmetric import Symmetric
from match_ita.passes.attention_trace import trace
from match_ita.passes.nodes import Label, Origin, padded, product, reshaped, sliced, transposed

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def project(editor: Editor, projection: Projection, new: Symmetric) -> gs.Variable:
    """A linear layer with these numbers: int8 [rows, K]."""
    layer, name = projection.layer, projection.layer.name
    origin = editor.origin(*projection.nodes)
    x = reshaped(editor, layer.x, (projection.rows, layer.weight.shape[0]), f"{name}_input", origin)
    weight = editor.constant(f"{name}_weight", new.weight.astype(np.int8))
    requant = str(layer.requant.name)
    bounds = (new.lo, new.hi)
    constants = requant_constants(editor, requant, 2, new.multiplier, new.addend, new.shift, bounds)
    return product(editor, x, weight, constants, Label(name, origin), Label(requant, origin))


def turned(editor: Editor, v: gs.Tensor, name: str, origin: Origin) -> gs.Tensor:
    """v [T, HP] as [HP, Tp]: rows and columns change places, columns are filled up to whole blocks with zeros."""
    vt = transposed(editor, v, (1, 0), f"{name}_turned", origin)
    return padded(editor, vt, 1, (0, -shape_of(v)[0] % BLOCK), f"{name}_padded", origin)


def attention(editor: Editor, heads: Heads, design: Design, softmax: ItaMax) -> None:
    """Replace heads by linear layers and an Attention node."""
    projections = zip((heads.q, heads.k, heads.v), (design.q, design.k, design.v), strict=True)
    q, k, v = (project(editor, projection, numbers) for projection, numbers in projections)
    name, origin = heads.softmax.name, editor.origin(*heads.inner_nodes)
    vt = turned(editor, v, f"{name}_v", editor.origin(*heads.v.nodes))
    numbers = (*design.qk.requant, softmax.numerator, *design.av.requant)
    hints = ("Mqk", "Bqk", "Dqk", "N", "Mav", "Bav", "Dav")
    given = [
        editor.constant(f"{name}_{hint}", np.array(value, np.int64)) for hint, value in zip(hints, numbers, strict=True)
    ]
    editor.define(function_protos())
    attrs = {"heads": heads.count, "shift": softmax.shift, "group": softmax.group}
    result = editor.node(ATTENTION, [q, k, vt, *given], np.int8, shape_of(q), name=name, origin=origin, attrs=attrs)
    connect(editor, heads, result)


def connect(editor: Editor, heads: Heads, result: gs.Tensor) -> None:
    """Let everything that read the heads' output read ``result`` [S, HP']: a linear layer directly, with its rows of
    weights in the order of the heads; anything else through a tensor of the old shape."""
    layer = _reader(heads.output, editor)
    if layer is not None and _merge(editor, heads, result, layer):
        return
    count, rows = heads.count, heads.q.rows
    wide = shape_of(result)[1] // count
    name, origin = f"{heads.softmax.name}_heads", editor.origin(*heads.inner_nodes)
    split = reshaped(editor, result, (1, rows, count, wide), f"{name}_split", origin)
    value = transposed(editor, split, (0, 2, 1, 3), name, origin)
    if wide != heads.size:
        value = sliced(editor, value, 0, heads.size, f"{name}_cut", origin)
    editor.replace(heads.output, reshaped(editor, value, shape_of(heads.output), f"{name}_shaped", origin))


def _reader(tensor: gs.Tensor, editor: Editor) -> LinearLayer | None:
    """The linear layer that alone reads a tensor, perhaps moved."""
    while is_private(tensor, editor.graph.outputs):
        node = tensor.outputs[0]
        if node.op == "MatMulInteger":
            readers = node.outputs[0].outputs
            return linear_layer(readers[0], editor.graph.outputs) if len(readers) == 1 else None
        if node.op not in ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Identity") or node.domain:
            return None
        tensor = node.outputs[0]
    return None


def _merge(editor: Editor, heads: Heads, result: gs.Tensor, layer: LinearLayer) -> bool:
    """Give the linear layer ``result`` as input, with its weights' rows where the heads' columns are."""
    index = trace(layer.x, heads.output).index
    count, rows, size = heads.count, heads.q.rows, heads.size
    index = index.reshape(-1, layer.weight.shape[0])
    head, row, column = np.unravel_index(index, (count, rows, size))
    if index.shape != (rows, count * size) or np.any(row != np.arange(rows)[:, None]):
        return False
    if np.any(head != head[:1]) or np.any(column != column[:1]):
        return False
    wide = shape_of(result)[1]
    weight = np.zeros((wide, layer.weight.shape[1]), np.int64)
    weight[head[0] * (wide // count) + column[0]] = layer.weight
    if not np.array_equal(weight, np.asarray(constant(layer.matmul.inputs[1]))):
        set_weight(editor, layer, weight)
    shape = (*shape_of(layer.x)[:-1], wide)
    origin = editor.origin(*heads.inner_nodes)
    layer.matmul.inputs[0] = reshaped(editor, result, shape, f"{layer.name}_input", origin)
    return True
