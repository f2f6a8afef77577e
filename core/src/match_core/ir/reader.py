"""Reads QuantizeLinear and DequantizeLinear nodes: scales, zero points, and the operators between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


#: A numpy element type.
DType: TypeAlias = "np.dtype[Any]"

#: Values of a float graph input that holds integers: 8 bits, signed or unsigned (the file does not state which).
INPUT_LIMIT = 255

#: Element types of quantised tensors that every reader takes, and with those that readers of 16 bits take.
EIGHT_BITS: tuple[DType, ...] = (np.dtype(np.int8), np.dtype(np.uint8))
WITH_INT16: tuple[DType, ...] = (*EIGHT_BITS, np.dtype(np.int16))


@dataclass(frozen=True, slots=True)
class Quant:
    """real = (q - zero) * scale, per tensor. ``lo``/``hi``: the values that can occur (at most the type's range)."""

    scale: float
    zero: int
    dtype: DType
    lo: int
    hi: int

    def shifted(self, dtype: DType) -> Quant:
        """The same real values stored as another 8-bit type; int16 stays."""
        dtype = self.dtype if self.dtype.itemsize > 1 else dtype
        shift = int(np.iinfo(dtype).min) - int(np.iinfo(self.dtype).min)
        return replace(self, zero=self.zero + shift, dtype=np.dtype(dtype), lo=self.lo + shift, hi=self.hi + shift)

    def same_values(self, other: Quant) -> bool:
        """Whether equal integers mean equal reals."""
        return (self.scale, self.zero, self.dtype) == (other.scale, other.zero, other.dtype)

    def quantise(self, value: float) -> int:
        """The integer for a real value, as QuantizeLinear computes it (float32, half to even)."""
        if np.isnan(value):
            raise ValueError("NaN has no quantised value")
        limits = np.iinfo(self.dtype)
        scaled = np.float32(value) / np.float32(self.scale)
        return int(np.clip(np.rint(np.clip(scaled, -1e9, 1e9)) + self.zero, limits.min, limits.max))

    def quantise_all(self, values: NDArray[np.float64]) -> NDArray[np.generic]:
        """The stored integers for finite real values, clipped to the values that can occur."""
        limits = np.iinfo(self.dtype)
        scaled = np.clip(values.astype(np.float32) / np.float32(self.scale), -1e9, 1e9)
        whole = np.clip(np.rint(scaled) + self.zero, limits.min, limits.max)
        return np.asarray(np.clip(whole, self.lo, self.hi).astype(self.dtype))


def constant(tensor: gs.Tensor) -> NDArray[np.generic] | None:
    """The values of a constant tensor, else None."""
    import onnx_graphsurgeon as gs

    if not isinstance(tensor, gs.Constant):
        return None
    values: NDArray[np.generic] = np.asarray(tensor.values)
    return values


def optional_input(node: gs.Node, position: int) -> gs.Tensor | None:
    """The input at ``position``, or None if it is omitted."""
    if position >= len(node.inputs) or node.inputs[position].is_empty():
        return None
    return node.inputs[position]


def constant_input(node: gs.Node, position: int) -> NDArray[np.generic] | None:
    """The values of the input at ``position``; None if it is omitted or computed."""
    tensor = optional_input(node, position)
    return None if tensor is None else constant(tensor)


def producer(tensor: gs.Tensor) -> gs.Node | None:
    """The node that computes the tensor."""
    return tensor.inputs[0] if tensor.inputs else None


def shape_of(tensor: gs.Tensor) -> tuple[int, ...]:
    """The static shape. ValueError if it is unknown or symbolic."""
    if tensor.shape is not None and {*map(type, tensor.shape)} <= {int}:  # nearly always
        return tuple(tensor.shape)
    if tensor.shape is None or any(not isinstance(size, (int, np.integer)) for size in tensor.shape):
        raise ValueError(f"tensor {tensor.name!r} has no static shape")
    return tuple(int(size) for size in tensor.shape)


def attribute_text(node: gs.Node, name: str, default: str) -> str:
    """A text attribute."""
    value = node.attrs.get(name, default)
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def attribute_ints(node: gs.Node, name: str, default: Sequence[int]) -> list[int]:
    """An attribute that is a list of integers."""
    return [int(value) for value in node.attrs.get(name, default)]


def quant_of(node: gs.Node, tensor_dtype: DType, types: tuple[DType, ...] = EIGHT_BITS) -> Quant | None:
    """The per-tensor parameters of a QuantizeLinear or DequantizeLinear whose integer side has ``tensor_dtype``; None
    if they are not constant, per channel, blocked, of none of the ``types``, or of int16 with a zero point."""
    dtype = np.dtype(tensor_dtype)
    scale = constant(node.inputs[1])
    if dtype not in types or scale is None or scale.size != 1 or node.attrs.get("block_size"):
        return None
    value = float(np.asarray(scale, np.float64).reshape(-1)[0])
    if not np.isfinite(value) or value <= 0:
        return None
    zero = _zero_point(node, 1)
    if zero is None or (dtype.itemsize > 1 and zero[0]):
        return None
    limits = np.iinfo(dtype)
    return Quant(value, int(zero[0]), dtype, int(limits.min), int(limits.max))


def _zero_point(node: gs.Node, count: int) -> NDArray[np.int64] | None:
    tensor = optional_input(node, 2)
    if tensor is None:
        return np.zeros(count, np.int64)
    values = constant(tensor)
    return None if values is None else np.asarray(values).astype(np.int64).reshape(-1)


@dataclass(frozen=True, slots=True)
class QuantConstant:
    """A dequantised constant: integer ``values`` with the zero point subtracted; real = values * scale, where scale
    has shape () or the constant's rank (size 1 in all axes but one)."""

    values: NDArray[np.int64]
    scale: NDArray[np.float64]
    axis: int | None

    def real(self) -> NDArray[np.float64]:
        """The real values."""
        return np.asarray(self.values * self.scale, np.float64)


def quant_constant(tensor: gs.Tensor) -> QuantConstant | None:
    """The constant if ``tensor`` is DequantizeLinear(constant); None otherwise, and for blocked quantisation."""
    node = producer(tensor)
    if node is None or node.op != "DequantizeLinear" or node.attrs.get("block_size"):
        return None
    stored, scale = constant(node.inputs[0]), constant(node.inputs[1])
    if stored is None or scale is None:
        return None
    scales: NDArray[np.float64] = np.asarray(scale, np.float64)
    zero = _zero_point(node, scales.size)
    if zero is None:
        return None
    values = np.asarray(stored).astype(np.int64)
    if scales.size == 1:
        return QuantConstant(values - int(zero[0]), scales.reshape(()), None)
    axis = int(node.attrs.get("axis", 1)) % values.ndim
    if scales.shape != (values.shape[axis],) or zero.size not in (1, scales.size):
        return None
    shape = tuple(scales.size if i == axis else 1 for i in range(values.ndim))
    zeros = np.broadcast_to(zero, (scales.size,)).reshape(shape)
    return QuantConstant(values - zeros, scales.reshape(shape), axis)


@dataclass(frozen=True, slots=True)
class Site:
    """A QuantizeLinear and its producers: ``op`` is the operator before the ``clamps`` (Relu, Clip; in order),
    ``quant`` the output's parameters with ``lo``/``hi`` narrowed by the clamps."""

    quantize: gs.Node
    op: gs.Node
    clamps: tuple[gs.Node, ...]
    quant: Quant

    @property
    def nodes(self) -> tuple[gs.Node, ...]:
        """The operator, the clamps and the QuantizeLinear."""
        return (self.op, *self.clamps, self.quantize)

    @property
    def real_shape(self) -> tuple[int, ...]:
        """Shape of the result."""
        return shape_of(self.quantize.outputs[0])


def site_of(quantize: gs.Node, outputs: Sequence[gs.Tensor], types: tuple[DType, ...] = EIGHT_BITS) -> Site | None:
    """The site of a per-tensor QuantizeLinear to one of the ``types``; None if its parameters are not supported or no
    node computes its input. Values between the operator and it have no other readers, but dequantised ones may."""
    quant = quant_of(quantize, quantize.outputs[0].dtype, types)
    if quant is None:
        return None
    clamps: list[gs.Node] = []
    lo, hi = quant.lo, quant.hi
    tensor = quantize.inputs[0]
    while (node := producer(tensor)) is not None:
        bounds = clamp_bounds(node)
        if bounds is None or not is_private(tensor, outputs):
            break
        # Quantisation is monotonic, so clipping before it equals clipping to the quantised bounds after it.
        low, high = quant.quantise(bounds[0]), quant.quantise(bounds[1])
        lo, hi = min(max(lo, low), high), max(min(hi, high), low)
        clamps.insert(0, node)
        tensor = node.inputs[0]
    if node is None or (node.op != "DequantizeLinear" and not is_private(tensor, outputs)):
        return None
    return Site(quantize, node, tuple(clamps), replace(quant, lo=lo, hi=hi))


def clamp_bounds(node: gs.Node) -> tuple[float, float] | None:
    """The bounds of a Relu or Clip with constant bounds; None for other nodes."""
    if node.op == "Relu":
        return 0.0, np.inf
    if node.op != "Clip":
        return None
    bounds = [-np.inf, np.inf]
    for position in (1, 2):
        tensor = optional_input(node, position)
        if tensor is None:
            continue
        values = constant(tensor)
        if values is None or values.size != 1:
            return None
        bounds[position - 1] = float(np.asarray(values, np.float64).reshape(-1)[0])
    if np.isnan(bounds[0]) or np.isnan(bounds[1]) or bounds[0] > bounds[1]:
        return None
    return bounds[0], bounds[1]


def is_private(tensor: gs.Tensor, outputs: Sequence[gs.Tensor]) -> bool:
    """Whether the tensor has one consumer and is not a graph output."""
    return len(tensor.outputs) == 1 and not any(tensor is output for output in outputs)
