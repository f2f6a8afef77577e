"""The geometry of convolutions: their dimensions, and the positions of the elements that they read and write."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from match_core.contract.model import qualified_op
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant

from match_host.graph import elements, integer, integers_at
from match_host.kernels.nest import row_major
from match_host.kernels.window import Window, windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx_graphsurgeon as gs

CONV_OPS = (
    *("Conv", "match.nhwc::Conv", "ConvInteger", "match.nhwc::ConvInteger"),
    *("match.arith::ConvIntegerI16", "match.nhwc::ConvIntegerI16"),
)


@dataclass(frozen=True)
class ConvShape:
    """Geometry of one convolution. ``windows`` are its spatial axes, outermost first; ``fill`` is the value that
    a fused Pad puts around the input; ``inputs`` and ``outputs`` are channels per group."""

    node: gs.Node
    source: gs.Tensor
    channels_last: bool
    batch: int
    groups: int
    inputs: int
    outputs: int
    windows: tuple[Window, ...]
    fill: int

    @property
    def floating(self) -> bool:
        """Whether the operator is one of floating-point numbers."""
        return bool(self.node.op == "Conv")

    @property
    def result(self) -> gs.Tensor:
        """What the convolution computes."""
        return self.node.outputs[0]

    @property
    def taps(self) -> int:
        """Taps of a filter."""
        return elements(tuple(window.kernel for window in self.windows))

    @property
    def macs(self) -> int:
        """Multiply-accumulates, including those with padding."""
        positions = elements(tuple(window.out for window in self.windows))
        return self.batch * self.groups * self.outputs * positions * self.taps * self.inputs

    @property
    def strides(self) -> tuple[int, tuple[int, ...], int]:
        """Element strides of the input: batch, spatial axes, channel."""
        sizes = tuple(window.size for window in self.windows)
        depth = self.groups * self.inputs
        if self.channels_last:
            batch, *space, channel = row_major((self.batch, *sizes, depth))
            return batch, tuple(space), channel
        batch, channel, *space = row_major((self.batch, depth, *sizes))
        return batch, tuple(space), channel

    @property
    def run(self) -> int:
        """Contiguous elements that the taps of one line of a filter read, 1 if channels are not contiguous."""
        if self.strides[2] != 1:
            return 1
        return self.inputs * (self.windows[-1].kernel if self.merges_taps else 1)

    @property
    def merges_taps(self) -> bool:
        """Whether the taps of one line of a filter and their channels are contiguous, in the input and in packed
        weights."""
        packed = is_constant(self.node.inputs[1])
        return packed and self.channels_last and self.groups == 1 and self.windows[-1].dilation == 1

    def seen(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of a tensor of the result's rank over batch, ``windows`` and channels."""
        space = tuple(shape[1:-1] if self.channels_last else shape[2:])
        if len(space) != len(self.windows):
            space = (elements(space),)
        channel = shape[-1] if self.channels_last else shape[1]
        return (shape[0], *space, channel) if self.channels_last else (shape[0], channel, *space)


def conv_shape(nodes: tuple[gs.Node, ...]) -> ConvShape:
    """The geometry of [Pad] convolution [...]."""
    node = next(node for node in nodes if qualified_op(node) in CONV_OPS)
    last = node.domain == "match.nhwc"
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    weight = shape_of(node.inputs[1])
    spatial, outs = (shape[1:-1], out[1:-1]) if last else (shape[2:], out[2:])
    found = windows(node, spatial, outs, weight[2:])
    groups = integer(node, "group", 1)
    source, fill = node.inputs[0], 0
    if nodes[0].op == "Pad":
        source, fill = nodes[0].inputs[0], pad_fill(nodes[0])
        pads = integers_at(nodes[0], 1) or ()
        first = 1 if last else 2
        found = tuple(window.padded(pads[first + i], pads[first + i + len(shape)]) for i, window in enumerate(found))
    return ConvShape(node, source, last, shape[0], groups, weight[1], weight[0] // groups, found, fill)


def pad_fill(node: gs.Node) -> int:
    """The integer value that a constant Pad writes."""
    value = integers_at(node, 2)
    return value[0] if value else 0


def flattened(conv: ConvShape, others: Sequence[Sequence[int]]) -> ConvShape:
    """The geometry with all positions on one axis, if each output position reads only its own input position.
    ``others``: shapes of tensors combined with the result, which must have all of its positions or one."""
    space = [window.out for window in conv.windows]
    for shape in others:
        own = list(shape[1:-1] if conv.channels_last else shape[2:])
        if len(own) != len(space) or (elements(tuple(own)) != 1 and own != space):
            return conv
    if len(space) == 1 or not all(map(_is_point, conv.windows)):
        return conv
    total = elements(tuple(space))
    return replace(conv, windows=(replace(conv.windows[-1], size=total, out=total),))


def _is_point(window: Window) -> bool:
    """Whether every output position reads only its own input position."""
    return window == replace(window, size=window.out, kernel=1, stride=1, dilation=1, before=0, after=0)
