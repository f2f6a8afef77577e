"""Convolutions and dense layers of the integer graph: an image, a window, int8 weights, and the numbers of the
requantisation of their sums. Public: packages with other kernels for these layers read them too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import constant_at, dtype_of, elements, values_of
from match_host.kernels.products.conv_shape import conv_shape, flattened
from match_host.kernels.products.dense_shape import dense_shape
from match_host.kernels.window import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Product:
    """The node, the tensor it reads, the image ``y`` by ``x`` and its windows, ``fill`` the value of padding.
    ``weight``: int8 [outputs, taps of y, taps of x, inputs], or [1, taps of y, taps of x, channels] if depthwise."""

    source: gs.Tensor
    node: gs.Node
    y: Window
    x: Window
    weight: NDArray[np.int8]
    fill: int

    @property
    def dilation(self) -> tuple[int, int]:
        """How far taps are apart, along y and x."""
        return self.y.dilation, self.x.dilation


@dataclass(frozen=True)
class Factors:
    """``clip((values . M + B) >> exponent, low, high)`` as the graph has it: ``multipliers`` [values, channels] of one
    or two summands and ``addend`` [channels] in Python's integers."""

    multipliers: NDArray[np.object_]
    addend: NDArray[np.object_]
    exponent: int
    low: int
    high: int


def product_of(
    nodes: Sequence[gs.Node], depthwise: bool = False, flat: bool = False, dilated: bool = False
) -> Product | str:
    """The layer of [Pad] convolution or product, Requant; or why it is none. ``flat``: images whose windows are single
    positions become one row; ``dilated``: taps of windows may be apart."""
    node = next(node for node in nodes if "ConvInteger" in node.op or "MatMulInteger" in node.op)
    if any(optional_input(node, index) is not None for index in (2, 3)):
        return "it has zero points"
    if not is_constant(node.inputs[1]) or dtype_of(node.inputs[1]) != np.int8:
        return "the weights are computed or not int8"
    found = _dense(node) if "MatMulInteger" in node.op else _convolution(nodes, node, depthwise, flat)
    if isinstance(found, Product) and not dilated and found.dilation != (1, 1):
        return f"dilation is {found.dilation[0]}x{found.dilation[1]}"
    return found


def _dense(node: gs.Node) -> Product | str:
    shape = dense_shape(node)
    if len(shape_of(node.inputs[1])) != 2:
        return "the weights are not one matrix"
    weight = shape.columns_first().reshape(shape.columns, 1, 1, shape.depth).astype(np.int8)
    return Product(node.inputs[0], node, point("y", 1), point("x", elements(shape.shape[:-1])), weight, 0)


def point(name: str, size: int) -> Window:
    """An axis whose positions read themselves."""
    return Window(name, size, size, 1, 1, 1, 0, 0)


def _convolution(nodes: Sequence[gs.Node], node: gs.Node, depthwise: bool, flat: bool) -> Product | str:
    conv = conv_shape(tuple(nodes))
    conv = flattened(conv, ()) if flat else conv
    if node.domain != "match.nhwc" or conv.batch != 1:
        return "channels are not last, or there are several samples"
    if len(conv.windows) > 2:
        return f"it has {len(conv.windows)} spatial axes"
    if depthwise and (conv.groups == 1 or conv.inputs != 1 or conv.outputs != 1):
        return f"it is not depthwise: {conv.groups} groups of {conv.inputs} to {conv.outputs} channels"
    if not depthwise and conv.groups != 1:
        return f"it has {conv.groups} groups"
    y, x = conv.windows if len(conv.windows) == 2 else (point("y", 1), conv.windows[0])
    if any(window.before < 0 or window.after < 0 for window in (y, x)):
        return "padding crops the input"
    values = values_of(node.inputs[1]).astype(np.int8)
    weight = values.reshape(values.shape[0], values.shape[1], y.kernel, x.kernel)
    order = (1, 2, 3, 0) if depthwise else (0, 2, 3, 1)
    return Product(conv.source, node, y, x, np.ascontiguousarray(np.transpose(weight, order)), conv.fill)


def factors_of(node: gs.Node, channels: int) -> Factors | str:
    """The numbers of a Requant or AddRequant of ``channels``, or why they are not one per channel."""
    values = [constant_at(node, index) for index in range(len(node.inputs)) if is_constant(node.inputs[index])]
    known = [value for value in values if value is not None]
    if len(known) < 5:
        return "a number of the requantisation is missing"
    *factors, addend, divisor, low, high = known
    exponent = int(divisor.reshape(-1)[0]).bit_length() - 1
    if divisor.size != 1 or int(divisor.reshape(-1)[0]) != 1 << exponent:
        return f"the divisor is {divisor.reshape(-1)[:4].tolist()}"
    if low.size != 1 or high.size != 1 or any(value.size not in (1, channels) for value in (*factors, addend)):
        return "factors or bounds differ between positions"
    multipliers = np.stack([np.broadcast_to(factor.reshape(-1), channels) for factor in factors]).astype(object)
    total = np.broadcast_to(addend.reshape(-1), channels).astype(object)
    return Factors(multipliers, total, exponent, int(low.reshape(-1)[0]), int(high.reshape(-1)[0]))
