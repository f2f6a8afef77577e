"""Convolutions and dense layers as the kernels see them: an image, a window, weights [outputs, rows, columns, inputs],
and the requantisation of the sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_host.graph import dtype_of
from match_host.kernels.products.int8_layer import product_of

from match_cortexm.kernels.requant import Requant, extend_of, requant_of, with_second

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs
    from match_host.kernels.window import Window
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Layer:
    """One layer with the image ``y`` by ``x``; ``weight`` is int8 [outputs, taps of y, taps of x, inputs]; ``fill`` the
    value of padding."""

    source: gs.Tensor
    node: gs.Node
    y: Window
    x: Window
    inputs: int
    weight: NDArray[np.int8]
    fill: int
    first: Requant

    @property
    def size(self) -> int:
        """Bytes of a value."""
        return dtype_of(self.source).itemsize

    @property
    def apart(self) -> bool:
        """Whether taps are no neighbours: kernels read copies of windows, tap by tap."""
        return any(window.kernel > 1 and window.dilation > 1 for window in (self.y, self.x))

    @property
    def step(self) -> int:
        """Bytes between the windows of two neighbouring positions, in the image or in a copy."""
        return (self.x.kernel if self.apart else self.x.stride) * self.inputs * self.size

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
    found = product_of(nodes, flat=True, dilated=True)
    if isinstance(found, str):
        return found
    source, weight = found.source, found.weight
    requant, *after = nodes[list(nodes).index(found.node) + 1 :]
    most = extend_of(source)[1] * int(np.abs(weight.astype(np.int64)).reshape(len(weight), -1).sum(axis=1).max())
    if most >= 1 << 31:
        return f"sums reach {most}"
    numbers = requant_of(requant, len(weight), most)
    if after and not isinstance(numbers, str):
        numbers = with_second(numbers, after[0])
    if isinstance(numbers, str):
        return numbers
    # The sums of channels with the multiplier 0 do not matter.
    weight = np.where((numbers.multipliers[0] == 0)[:, None, None, None], np.int8(0), weight)
    return Layer(source, found.node, found.y, found.x, weight.shape[3], weight, found.fill, numbers)
