"""Values that rules and workloads read from a match: numbers, element types, and sums of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from match_core.contract.structure import Match

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: The names of activations in structures.
ACTIVATIONS = ("input", "input_a", "input_b", "input_c", "left", "right", "q", "k", "vt", "a", "b")


def there(match: Match, *captures: str) -> tuple[str, ...]:
    """The captures that the match has."""
    return tuple(capture for capture in captures if match.has(capture))


def number(match: Match, capture: str) -> int:
    """The value of a captured constant of one number."""
    return int(match.const(capture).reshape(-1)[0])


def shift(match: Match, capture: str = "divisor") -> int:
    """S of a captured divisor 2**S."""
    return number(match, capture).bit_length() - 1


def words(value: int) -> tuple[int, int]:
    """The lower and the upper half of a 64-bit number as int32."""
    low = value & 0xFFFFFFFF
    return (low - (1 << 32) if low >> 31 else low), value >> 32


def type_name(tensor: gs.Tensor) -> str:
    """The element type as numpy spells it ("uint8")."""
    if isinstance(tensor.dtype, int):  # graphsurgeon represents types that numpy lacks by their ONNX numbers
        import onnx

        return str(onnx.TensorProto.DataType.Name(tensor.dtype)).lower()
    return "unknown" if tensor.dtype is None else str(np.dtype(tensor.dtype).name)


def is_type(match: Match, capture: str, name: str) -> bool:
    """Whether a captured tensor has that element type."""
    return type_name(match.tensor(capture)) == name


def value_range(match: Match, capture: str = "input") -> tuple[int, int]:
    """The smallest and the largest value of a captured tensor's integer type."""
    limits = np.iinfo(np.dtype(match.tensor(capture).dtype))
    return int(limits.min), int(limits.max)


def zero_points(match: Match, capture: str) -> bool:
    """Whether a captured ConvInteger or MatMulInteger has zero points that are not 0 or are unknown."""
    rest = [tensor for tensor in match.node(capture).inputs[2:] if not tensor.is_empty()]
    return any(not hasattr(tensor, "values") or bool(np.any(tensor.values)) for tensor in rest)


def per_channel(match: Match, capture: str, channels: int, dtype: str) -> NDArray[np.generic]:
    """A captured constant as [channels], from one number for all channels or one per channel."""
    return np.broadcast_to(match.const(capture).reshape(-1), (channels,)).astype(dtype)


def weight_rows(match: Match) -> NDArray[Any]:
    """Weights [K, taps] of a convolution (K, C, ...) or a dense layer (C, K), in their own type."""
    weight = match.const("weight")
    return weight.T if match.has("dense") else weight.reshape(len(weight), -1)


def sum_bounds(rows: NDArray[Any], least: int, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Smallest and largest sum [K] of integers ``rows`` [K, taps] for any inputs between ``least`` and ``most``."""
    negative = np.minimum(rows, 0).sum(1, dtype=np.int64)
    positive = rows.sum(1, dtype=np.int64) - negative
    return least * positive + most * negative, most * positive + least * negative


def largest(*arrays: NDArray[Any]) -> int:
    """The largest magnitude in all arrays."""
    return max(abs(int(end)) for array in arrays for end in (array.min(), array.max()))
