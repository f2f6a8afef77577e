"""Convolutions and dense layers as the library takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant
from match_host.graph import dtype_of, elements, values_of
from match_host.kernels.products.conv_shape import conv_shape
from match_host.kernels.products.dense_shape import dense_shape
from match_host.kernels.window import Window

from match_cmsisnn.rounding import Requant, Scale, requant_of, scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Sizes are 16-bit numbers in the library.
MOST_SIZE = 65_535
_MOST_SUM = (1 << 31) - 1


@dataclass(frozen=True)
class Layer:
    """``weight``: int8 [outputs, rows, columns, inputs], or [1, rows, columns, channels] of a depthwise layer.
    ``fill``: the value of padding, which the library subtracts from the input; ``bias``: what it adds to the sums."""

    source: gs.Tensor
    product: gs.Node
    y: Window
    x: Window
    weight: NDArray[np.int8]
    depthwise: bool
    fill: int
    requant: Requant
    scale: Scale
    bias: NDArray[np.int32]

    @property
    def inputs(self) -> int:
        """Channels of the input."""
        return int(self.weight.shape[3])

    @property
    def outputs(self) -> int:
        """Channels of the result."""
        return len(self.bias)

    @property
    def positions(self) -> int:
        """Positions of the result."""
        return self.y.out * self.x.out

    @property
    def macs(self) -> int:
        """Multiply-accumulates, with those of padding."""
        return self.positions * self.weight.size


def layer_of(nodes: Sequence[gs.Node], depthwise: bool = False) -> Layer | str:
    """The layer of [Pad] convolution or product, Requant; or why the library does not compute it as the graph does."""
    product = next(node for node in nodes if node.op in ("ConvInteger", "MatMulInteger"))
    requant = nodes[list(nodes).index(product) + 1]
    if any(optional_input(product, index) is not None for index in (2, 3)):
        return "it has zero points"
    if not is_constant(product.inputs[1]) or dtype_of(product.inputs[1]) != np.int8:
        return "the weights are computed or not int8"
    found = _dense(product) if product.op == "MatMulInteger" else _convolution(nodes, product, depthwise)
    if isinstance(found, str):
        return found
    source, y, x, weight, fill = found
    if dtype_of(source) != np.int8 or dtype_of(requant.outputs[0]) != np.int8:
        return f"activations are {dtype_of(source)} and {dtype_of(requant.outputs[0])}, not int8"
    if max(*weight.shape, y.size, x.size, y.out, x.out) > MOST_SIZE:
        return f"a size is above {MOST_SIZE}"
    channels = weight.shape[3] if depthwise else weight.shape[0]
    numbers = requant_of(requant, channels)
    if isinstance(numbers, str):
        return numbers
    constant = numbers.multiplier == 0  # the sums of such channels do not matter
    shown = constant if depthwise else constant[:, None, None, None]
    weight = np.where(shown, np.int8(0), weight)
    per_channel = (
        weight.astype(np.int64).reshape(-1, channels) if depthwise else weight.astype(np.int64).reshape(channels, -1).T
    )
    high = np.where(per_channel > 0, 127, -128) * per_channel
    low = np.where(per_channel > 0, -128, 127) * per_channel
    scale = scale_of(numbers, low.sum(axis=0), high.sum(axis=0))
    if isinstance(scale, str):
        return scale
    reach = int((np.abs(scale.bias) + 128 * np.abs(per_channel).sum(axis=0)).max())
    bias = scale.bias + fill * per_channel.sum(axis=0)
    if max(reach, int(np.abs(bias).max())) > _MOST_SUM >> 1:
        return f"sums reach {reach}"
    return Layer(source, product, y, x, weight, depthwise, fill, numbers, scale, bias.astype(np.int32))


_Found = tuple["gs.Tensor", Window, Window, "NDArray[np.int8]", int]


def _dense(product: gs.Node) -> _Found | str:
    shape = dense_shape(product)
    if len(shape_of(product.inputs[1])) != 2:
        return "the weights are not one matrix"
    weight = shape.columns_first().reshape(shape.columns, 1, 1, shape.depth).astype(np.int8)
    return product.inputs[0], point("y", 1), point("x", elements(shape.shape[:-1])), weight, 0


def point(name: str, size: int) -> Window:
    """An axis whose positions read themselves."""
    return Window(name, size, size, 1, 1, 1, 0, 0)


def _convolution(nodes: Sequence[gs.Node], product: gs.Node, depthwise: bool) -> _Found | str:
    conv = conv_shape(tuple(nodes))
    if qualified_op(product) != "match.nhwc::ConvInteger" or conv.batch != 1:
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
    if y.dilation != 1 or x.dilation != 1:
        return f"dilation is {y.dilation}x{x.dilation}"
    values = values_of(product.inputs[1]).astype(np.int8)
    weight = values.reshape(values.shape[0], values.shape[1], y.kernel, x.kernel)
    order = (1, 2, 3, 0) if depthwise else (0, 2, 3, 1)
    fill = conv.fill if y.leaves or x.leaves else 0
    return conv.source, y, x, np.ascontiguousarray(np.transpose(weight, order)), fill
