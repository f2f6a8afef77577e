"""QuantizeLinear moves before the moves, clips and joins behind a layer, so that the layer's own result is quantised.

Quantisation is monotonic and treats every value alone, so it commutes with them exactly: the maximum of quantised
values is the quantised maximum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.reader import clamp_bounds, is_private, producer, quant_of, shape_of

from match_quant.integer_moves import is_move
from match_quant.operators import has_operator

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Operators with an integer form that is better than the float operator.
_LAYERS = frozenset(("Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "AveragePool", "GlobalAveragePool"))
#: Operators of the largest group that is changed.
_LARGEST = 64


def run(model: Model, context: PassContext) -> Model:
    """Change every QuantizeLinear behind moves whose values a layer computes."""
    if not has_operator(model, "QuantizeLinear"):
        return model
    editor = Editor(model)
    sort_nodes(editor.graph)
    found = [node for node in editor.graph.nodes if node.op == "QuantizeLinear" and _behind_moves(editor, node)]
    for node in found:
        editor.replace(node.outputs[0], _quantised(editor, node, node.inputs[0], ()))
        node.outputs.clear()
    return editor.finish() if found else model


def _passes(editor: Editor, tensor: gs.Tensor) -> gs.Node | None:
    """The node of the tensor if quantisation commutes with it and nothing else reads the tensor."""
    node = producer(tensor)
    if node is None or (node.domain or "") not in ("", "ai.onnx") or not is_private(tensor, editor.graph.outputs):
        return None
    moves = is_move(node) and node.op not in ("Split", "Identity")
    return node if moves or node.op == "Concat" or clamp_bounds(node) is not None else None


def _sources(node: gs.Node) -> list[gs.Tensor]:
    return list(node.inputs) if node.op == "Concat" else list(node.inputs[:1])


def _behind_moves(editor: Editor, quantize: gs.Node) -> bool:
    if quant_of(quantize, quantize.outputs[0].dtype) is None:
        return False
    passed: list[gs.Node] = []
    waiting, ends = [quantize.inputs[0]], []
    while waiting:
        tensor = waiting.pop()
        node = _passes(editor, tensor)
        if node is None:
            ends.append(tensor)
            continue
        passed.append(node)
        waiting += _sources(node)
    makers = [producer(tensor) for tensor in ends]
    layers = any(
        maker is not None and maker.op in _LAYERS and is_private(tensor, editor.graph.outputs)
        for maker, tensor in zip(makers, ends, strict=True)
    )
    moves = any(clamp_bounds(node) is None for node in passed)
    return layers and moves and len(passed) <= _LARGEST and all(maker is not None for maker in makers)


def _quantised(editor: Editor, quantize: gs.Node, tensor: gs.Tensor, clamps: tuple[gs.Node, ...]) -> gs.Variable:
    """The quantised tensor, with these clips applied before."""
    node = _passes(editor, tensor)
    dtype = np.dtype(quantize.outputs[0].dtype)
    if node is not None and clamp_bounds(node) is not None:
        return _quantised(editor, quantize, node.inputs[0], (node, *clamps))
    if node is not None:
        inputs = [_quantised(editor, quantize, source, clamps) for source in _sources(node)]
        given = [*inputs, *node.inputs[len(inputs) :]]
        shape, origin = shape_of(tensor), editor.origin(node)
        return editor.node(node.op, given, dtype, shape, name=node.name, origin=origin, attrs=dict(node.attrs))
    for clamp in clamps:
        origin, attrs = editor.origin(clamp), dict(clamp.attrs)
        given, shape = [tensor, *clamp.inputs[1:]], shape_of(tensor)
        tensor = editor.node(clamp.op, given, tensor.dtype, shape, name=clamp.name, origin=origin, attrs=attrs)
    origin = editor.origin(quantize)
    given = [tensor, *quantize.inputs[1:]]
    return editor.node("QuantizeLinear", given, dtype, shape_of(tensor), name=quantize.name, origin=origin)


QUANTISE_BEFORE_MOVES = Pass(
    "quantise_before_moves",
    Phase.INTEGER,
    run,
    "QuantizeLinear behind moves, clips and joins of a layer's result moves to the layer",
    before=("integerise",),
    after=("qoperator_to_qdq", "narrow_integers"),
)
