"""Propagates shapes that the model states for its results backwards to tensors of unknown shape.

A model may let data give a size (axes of a reduction, the limit of a range) and still state the size of the result.
Then every valid run has that size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from match_core.load.static.values import Array

if TYPE_CHECKING:
    import onnx

Shape = tuple[int, ...]
#: Operators whose result has the shape of their first input.
SAME_SHAPE = (
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cast", "CastLike", "Ceil", "Clip", "Cos"),
    *("Cosh", "Elu", "Erf", "Exp", "Floor", "Identity", "LeakyRelu", "Log", "Neg", "Not", "Reciprocal", "Relu"),
    *("Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softmax", "Softplus", "Sqrt", "Tan", "Tanh"),
)
#: Operators of two inputs that broadcast.
_BROADCAST = frozenset(("Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Mod"))


def stated_shapes(
    nodes: Sequence[onnx.NodeProto], stated: Mapping[str, Shape], constants: Mapping[str, Array]
) -> dict[str, Shape]:
    """``stated``, and the shapes that follow for earlier tensors through operators that keep a shape."""
    result = dict(stated)
    if not result:
        return result
    for node in reversed(nodes):
        shape = result.get(node.output[0]) if node.output and node.input else None
        if shape is None or node.domain not in ("", "ai.onnx"):
            continue
        if node.op_type in SAME_SHAPE:
            result.setdefault(node.input[0], shape)
        elif node.op_type in _BROADCAST and len(node.input) == 2:
            for one, other in (node.input, tuple(node.input)[::-1]):
                if other in constants and constants[other].size == 1 and constants[other].ndim == 0:
                    result.setdefault(one, shape)
    return result
