"""Convolutions and dense layers as the kernels see them: an image, a window, weights [outputs, rows, columns, inputs],
and the requantisation of the sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant
from match_host.graph import dtype_of, elements, values_of
from match_host.kernels.products.conv_shape import conv_shape, flattened
from match_host.kernels.products.dense_shape import dense_shape
from match_host.kernels.window import Window

from match_cortexm.kernels.requant import Requant, extend_of, requant_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Layer:
    """One layer with the image ``y`` by ``x``; ``weight`` is int8 [outputs, taps of y, taps of x, inputs]; ``fill`` the
    value of padding; ``other``: the tensor that is added to the result, scaled by ``second``."""

    source: gs.Tensor
    node: gs.Node
    y: Window
    x: Window
    inputs: int
    weight: NDArray[np.int8]
    fill: int
    first: Requant

    @property
    def outputs(self) -> int:
        """Channels of the result."""
        return int(self.weight.shape[0])

    @property
    def most(self) -> NDArray[np.int64]:
        """The largest absolute value of the sums, per output."""
        sums = np.abs(self.weight.astype(np.int64)).reshape(self.outputs, -1).sum(axis=1)
        most: NDArray[np.int64] = extend_of(self.source)[1] * sums
        return most

    @property
    def positions(self) -> int:
        """Positions of the result."""
        return self.y.out * self.x.out

    @property
    def macs(self) -> int:
        """Multiply-accumulates, with those of padding."""
        return self.positions * self.weight.size


def layer_of(nodes: Sequence[gs.Node]) -> Layer | str:
    """The layer of [Pad] convolution or product, Requant; or why it is none."""
    product = next(node for node in nodes if node.op in ("ConvInteger", "MatMulInteger"))
    requant = nodes[list(nodes).index(product) + 1]
    if any(optional_input(product, index) is not None for index in (2, 3)):
        return "it has zero points"
    if not is_constant(product.inputs[1]) or dtype_of(product.inputs[1]) != np.int8:
        return "the weights are computed or not int8"
    found = _dense(product) if product.op == "MatMulInteger" else _convolution(nodes, product)
    if isinstance(found, str):
        return found
    source, y, x, weight, fill = found
    most = extend_of(source)[1] * int(np.abs(weight.astype(np.int64)).reshape(len(weight), -1).sum(axis=1).max())
    if most >= 1 << 31:
        return f"sums reach {most}"
    numbers = requant_of(requant, len(weight), most)
    if isinstance(numbers, str):
        return numbers
    # The sums of channels with the multiplier 0 do not matter.
    weight = np.where((numbers.multipliers[0] == 0)[:, None, None, None], np.int8(0), weight)
    return Layer(source, product, y, x, weight.shape[3], weight, fill, numbers)


_Found = tuple["gs.Tensor", Window, Window, "NDArray[np.int8]", int]


def _dense(product: gs.Node) -> _Found | str:
    shape = dense_shape(product)
    if len(shape_of(product.inputs[1])) != 2:
        return "the weights are not one matrix"
    weight = shape.columns_first().reshape(shape.columns, 1, 1, shape.depth).astype(np.int8)
    rows = elements(shape.shape[:-1])
    return product.inputs[0], _point("y", 1), _point("x", rows), weight, 0


def _point(name: str, size: int) -> Window:
    return Window(name, size, size, 1, 1, 1, 0, 0)


def _convolution(nodes: Sequence[gs.Node], product: gs.Node) -> _Found | str:
    conv = flattened(conv_shape(tuple(nodes)), ())
    if qualified_op(product) != "match.nhwc::ConvInteger" or conv.batch != 1:
        return "channels are not last"
    if conv.groups != 1:
        return f"it has {conv.groups} groups"
    if any(window.dilation != 1 for window in conv.windows) or any(w.before < 0 or w.after < 0 for w in conv.windows):
        return "it has dilations, or padding crops the input"
    values = values_of(product.inputs[1]).astype(np.int8)
    *outer, x = conv.windows
    if len(outer) > 1:
        return f"it has {len(conv.windows)} spatial axes"
    weight = values.reshape(values.shape[0], values.shape[1], outer[0].kernel if outer else 1, x.kernel)
    return conv.source, outer[0] if outer else _point("y", 1), x, np.transpose(weight, (0, 2, 3, 1)), conv.fill
