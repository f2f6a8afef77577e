"""Reads nodes and tensors of the graph: attributes, optional inputs, shapes, constant values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import optional_input
from match_core.ir.topology import is_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray


def dtype_of(tensor: gs.Tensor) -> np.dtype[np.generic]:
    """The element type. ValueError if it is unknown."""
    if tensor.dtype is None:
        raise ValueError(f"tensor {tensor.name!r} has no element type")
    dtype: np.dtype[np.generic] = np.dtype(tensor.dtype)
    return dtype


def values_of(tensor: gs.Tensor) -> NDArray[np.generic]:
    """The values of a constant tensor."""
    values: NDArray[np.generic] = np.asarray(tensor.values)
    return values


def elements(shape: tuple[int, ...]) -> int:
    """The number of elements of a tensor with this shape."""
    count = 1
    for size in shape:
        count *= size
    return count


def constant_at(node: gs.Node, index: int) -> NDArray[np.generic] | None:
    """The values of a constant input, None if it is omitted. ValueError if it is not constant."""
    tensor = optional_input(node, index)
    if tensor is None:
        return None
    if not is_constant(tensor):
        raise ValueError(f"input {index} of {node.op} is not constant")
    return values_of(tensor)


def integers_at(node: gs.Node, index: int) -> tuple[int, ...] | None:
    """A constant input as integers, None if it is omitted."""
    values = constant_at(node, index)
    return None if values is None else tuple(int(value) for value in values.reshape(-1).tolist())


def attribute(node: gs.Node, name: str, default: object) -> object:
    """An attribute's value or the default."""
    value = node.attrs.get(name)
    return default if value is None else value


def integer(node: gs.Node, name: str, default: int) -> int:
    """An integer attribute."""
    value = attribute(node, name, default)
    return int(value)  # type: ignore[call-overload, no-any-return]  # attributes are objects


def number(node: gs.Node, name: str, default: float) -> float:
    """A floating-point attribute."""
    value = attribute(node, name, default)
    return float(value)  # type: ignore[arg-type]  # attributes are objects


def text(node: gs.Node, name: str, default: str) -> str:
    """A string attribute."""
    value = attribute(node, name, default)
    return value.decode() if isinstance(value, bytes) else str(value)


def integers(node: gs.Node, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    """An attribute that is a list of integers."""
    value = attribute(node, name, default)
    return tuple(int(item) for item in value)  # type: ignore[attr-defined]  # attributes are objects


def numbers(node: gs.Node, name: str) -> list[float]:
    """An attribute that is a list or a tensor of numbers; empty if it is absent."""
    values = attribute(node, name, ())
    values = getattr(values, "values", values)
    return [float(value) for value in np.asarray(values).reshape(-1)]


def axis_of(node: gs.Node, default: int, rank: int) -> int:
    """The attribute ``axis`` as a non-negative number. ValueError if it is outside the rank."""
    axis = integer(node, "axis", default)
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"axis {axis} is outside rank {rank}")
    return axis % rank if rank else 0
