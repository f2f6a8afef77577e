"""Reads nodes: constants, shapes, attributes and the channel axis of operators on images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Values = NDArray[np.generic]


def given(node: gs.Node) -> list[gs.Tensor]:
    """The inputs that are there."""
    return [tensor for tensor in node.inputs if not tensor.is_empty()]


def result(node: gs.Node) -> gs.Variable:
    """The first output."""
    return node.outputs[0]


def axis_of(node: gs.Node, name: str, default: int, rank: int) -> int:
    """An axis attribute, counted from the first axis."""
    return int(node.attrs.get(name, default)) % rank


def scalar(array: Values | None) -> float | None:
    """The only value of a constant, else None."""
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None
