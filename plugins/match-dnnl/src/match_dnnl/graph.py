"""Reading nodes: constants, shapes, attributes and the channel axis of operators on images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.model import qualified_op
from match_core.transforms.quant import constant, shape_of
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Values = NDArray[np.generic]

#: Operators whose channels are the last axis.
NHWC = "match.nhwc::"


def values(node: gs.Node, position: int) -> Values | None:
    """The values of a constant input; None where it is absent or computed."""
    tensor = optional(node, position)
    return None if tensor is None else constant(tensor)


def optional(node: gs.Node, position: int) -> gs.Tensor | None:
    """An input that may be absent."""
    if position >= len(node.inputs) or node.inputs[position].is_empty():
        return None
    return node.inputs[position]


def given(node: gs.Node) -> list[gs.Tensor]:
    """The inputs that are there."""
    return [tensor for tensor in node.inputs if not tensor.is_empty()]


def result(node: gs.Node) -> gs.Variable:
    """The first output."""
    return node.outputs[0]


def shape(tensor: gs.Tensor) -> tuple[int, ...]:
    """The static shape."""
    return tuple(int(size) for size in shape_of(tensor))


def channels_last(node: gs.Node) -> bool:
    """Whether the node is one of the core's operators on NHWC."""
    return qualified_op(node).startswith(NHWC)


def attribute_text(node: gs.Node, name: str, default: str) -> str:
    """A text attribute."""
    value = node.attrs.get(name, default)
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def attribute_ints(node: gs.Node, name: str, default: list[int]) -> list[int]:
    """A list of integers."""
    return [int(value) for value in node.attrs.get(name, default)]


def axis_of(node: gs.Node, name: str, default: int, rank: int) -> int:
    """An axis attribute, counted from the first axis."""
    return int(node.attrs.get(name, default)) % rank


def scalar(array: Values | None) -> float | None:
    """The only value of a constant, else None."""
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None
