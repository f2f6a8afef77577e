"""Convolutions and dense layers as the library takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_host.graph import dtype_of
from match_host.kernels.products.int8_layer import product_of

from match_cmsisnn.rounding import Requant, Scale, requant_of, scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs
    from match_host.kernels.window import Window
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
    found = product_of(nodes, depthwise)
    if isinstance(found, str):
        return found
    source, y, x, weight = found.source, found.y, found.x, found.weight
    fill = found.fill if y.leaves or x.leaves else 0
    requant = nodes[list(nodes).index(found.node) + 1]
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
    return Layer(source, found.node, y, x, weight, depthwise, fill, numbers, scale, bias.astype(np.int32))
