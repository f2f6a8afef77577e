"""Second pass of fern_q: channels last inside the region. Only the border is transposed, behind the quantisers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core import Model, PassContext

_LAST, _FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
_OPERATORS = {"ConvInteger": "match.nhwc::ConvInteger", "MaxPool": "match.nhwc::MaxPool", "Relu": "Relu"}


def channels_last(model: Model, context: PassContext) -> Model:
    """The same numbers in another order: NCHW becomes NHWC between QuantizeLinear and DequantizeLinear."""
    editor = Editor(model)
    last: dict[str, gs.Tensor] = {}

    def transposed(tensor: gs.Tensor, order: tuple[int, ...], node: gs.Node) -> gs.Variable:
        shape = [tensor.shape[axis] for axis in order]
        name, origin, attrs = f"{tensor.name}_order", editor.origin(node), {"perm": list(order)}
        return editor.node("Transpose", [tensor], np.int8, shape, name=name, origin=origin, attrs=attrs)

    for node in list(editor.graph.nodes):
        made = node.outputs[0]
        if node.op == "QuantizeLinear":
            last[made.name] = transposed(made, _LAST, node)
        elif node.op == "DequantizeLinear":
            node.inputs[0] = transposed(last[node.inputs[0].name], _FIRST, node)
        else:
            op = _OPERATORS.get(node.op, f"{node.domain}::{node.op}")
            inputs = [last.get(t.name) or _constant(editor, node, t) for t in node.inputs]
            shape = [made.shape[axis] for axis in _LAST]
            origin = editor.origin(node)
            last[made.name] = editor.node(
                op, inputs, made.dtype, shape, name=node.name, origin=origin, attrs=node.attrs
            )
    return editor.finish()


def _constant(editor: Editor, node: gs.Node, tensor: gs.Tensor) -> gs.Tensor:
    """Parameters of channels lie along the last axis; weights of match.nhwc operators keep their order."""
    is_weight = node.op == "ConvInteger" or tensor.values.ndim == 0
    return tensor if is_weight else editor.constant(tensor.name, tensor.values.reshape(-1))
