"""Changes constants of a linear operator, plain or quantised, together with the tensors that depend on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx_graphsurgeon as gs

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Linear:
    """A Conv, Gemm or MatMul with constant weights. ``out_axis`` and ``in_axis`` of the weights; ``quantiser`` is the
    DequantizeLinear node that computes them, None for plain weights."""

    node: gs.Node
    weights: gs.Constant
    quantiser: gs.Node | None
    out_axis: int
    in_axis: int

    @property
    def values(self) -> NDArray[np.generic]:
        """The stored weights."""
        values: NDArray[np.generic] = self.weights.values
        return values

    @property
    def group(self) -> int:
        """Groups of a convolution."""
        return int(self.node.attrs.get("group", 1))

    @property
    def out_channels(self) -> int:
        """The number of output channels."""
        return int(self.values.shape[self.out_axis])

    @property
    def in_channels(self) -> int:
        """The number of input channels of all groups."""
        return int(self.values.shape[self.in_axis]) * self.group

    @property
    def is_depthwise(self) -> bool:
        """Whether each output channel reads its own input channel."""
        return self.node.op == "Conv" and self.group > 1 and self.group == self.in_channels == self.out_channels


def linear_of(graph: gs.Graph) -> Linear | None:
    """The first operator of the graph with constant weights."""
    for node in graph.nodes:
        if node.op in ("Conv", "Gemm", "MatMul"):
            quantiser, weights = behind(node.inputs[1])
            if weights is None or weights.values.ndim < 2:
                continue
            if node.op == "Conv" or node.attrs.get("transB", 0):
                return Linear(node, weights, quantiser, 0, 1)
            return Linear(node, weights, quantiser, weights.values.ndim - 1, weights.values.ndim - 2)
    return None


def behind(tensor: gs.Tensor) -> tuple[gs.Node | None, gs.Constant | None]:
    """(the DequantizeLinear, the constant that it reads), or (None, the constant)."""
    if isinstance(tensor, gs.Constant):
        return None, tensor
    maker = tensor.inputs[0] if tensor.inputs else None
    if maker is not None and maker.op == "DequantizeLinear" and isinstance(maker.inputs[0], gs.Constant):
        return maker, maker.inputs[0]
    return None, None


def constant(graph: gs.Graph, name: str, values: NDArray[np.generic]) -> gs.Constant:
    """A new constant; its name changes if a tensor of the graph has the same name."""
    taken = graph.tensors()
    while name in taken:
        name += "_changed"
    return gs.Constant(name, values)


def resized(values: NDArray[np.generic], axis: int, size: int, fill: float = 0) -> NDArray[np.generic]:
    """The values with one axis truncated, or padded at its end."""
    have = values.shape[axis]
    if size <= have:
        return np.ascontiguousarray(np.take(values, np.arange(size), axis=axis))
    shape = tuple(size - have if index == axis else length for index, length in enumerate(values.shape))
    return np.concatenate([values, np.full(shape, fill, dtype=values.dtype)], axis=axis)


def set_out_channels(graph: gs.Graph, linear: Linear, size: int) -> None:
    """Resize the weights, their scales and the bias to ``size`` output channels; new channels are zero."""
    before = linear.out_channels
    linear.weights.values = resized(linear.values, linear.out_axis, size)
    if linear.quantiser is not None:
        _resize_scales(graph, linear.quantiser, before, size)
    if len(linear.node.inputs) > 2:
        quantiser, bias = behind(linear.node.inputs[2])
        if bias is not None and bias.values.shape[-1:] == (before,):
            bias.values = resized(bias.values, bias.values.ndim - 1, size)
        if quantiser is not None:
            _resize_scales(graph, quantiser, before, size)


def _resize_scales(graph: gs.Graph, quantiser: gs.Node, before: int, size: int) -> None:
    for index, tensor in enumerate(quantiser.inputs[1:3], start=1):
        if isinstance(tensor, gs.Constant) and tensor.values.shape == (before,):
            last = tensor.values[-1] if index == 1 else 0
            quantiser.inputs[index] = constant(graph, f"{tensor.name}_{size}", resized(tensor.values, 0, size, last))
