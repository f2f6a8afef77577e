"""Reading nodes and tensors of the graph: attributes, optional inputs, shapes, constant values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray


def is_constant(tensor: gs.Tensor) -> bool:
    """Whether the tensor's values are known when compiling."""
    import onnx_graphsurgeon as gs

    return isinstance(tensor, gs.Constant)


def shape_of(tensor: gs.Tensor) -> tuple[int, ...]:
    """The static shape. ValueError where it is unknown or symbolic."""
    if tensor.shape is None or any(not isinstance(size, (int, np.integer)) for size in tensor.shape):
        raise ValueError(f"tensor {tensor.name!r} has no static shape")
    return tuple(int(size) for size in tensor.shape)


def dtype_of(tensor: gs.Tensor) -> np.dtype[np.generic]:
    """The element type. ValueError where it is unknown."""
    if tensor.dtype is None:
        raise ValueError(f"tensor {tensor.name!r} has no element type")
    dtype: np.dtype[np.generic] = np.dtype(tensor.dtype)
    return dtype


def values_of(tensor: gs.Tensor) -> NDArray[np.generic]:
    """The values of a constant tensor."""
    values: NDArray[np.generic] = np.asarray(tensor.values)
    return values


def elements(shape: tuple[int, ...]) -> int:
    """How many elements a tensor of this shape has."""
    count = 1
    for size in shape:
        count *= size
    return count


def input_at(node: gs.Node, index: int) -> gs.Tensor | None:
    """The input at that place, None where it is left out."""
    if index >= len(node.inputs) or node.inputs[index].is_empty():
        return None
    return node.inputs[index]


def constant_at(node: gs.Node, index: int) -> NDArray[np.generic] | None:
    """The values of a constant input, None where it is left out. ValueError where it is not constant."""
    tensor = input_at(node, index)
    if tensor is None:
        return None
    if not is_constant(tensor):
        raise ValueError(f"input {index} of {node.op} is not constant")
    return values_of(tensor)


def integers_at(node: gs.Node, index: int) -> tuple[int, ...] | None:
    """A constant input as integers, None where it is left out."""
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
    """An attribute that lists numbers, or is a tensor of them; nothing where it is absent."""
    values = attribute(node, name, ())
    values = getattr(values, "values", values)
    return [float(value) for value in np.asarray(values).reshape(-1)]


def axis_of(node: gs.Node, default: int, rank: int) -> int:
    """The attribute ``axis`` counted from the front. ValueError where it is outside the rank."""
    axis = integer(node, "axis", default)
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"axis {axis} is outside rank {rank}")
    return axis % rank if rank else 0
