"""The depthwise convolutions that kernels/depthwise.py supports, and their geometry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, elements, integer, integers_at, values_of
from match_host.kernels.lanes import BLOCK, block_of
from match_host.kernels.nest import row_major
from match_host.kernels.window import Window, windows

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

    from match_host.kernels.elementwise.elementwise import Body

_OPS = ("match.nhwc::Conv", "match.nhwc::ConvInteger", "match.nhwc::ConvIntegerI16")
#: Compilers fully unroll loops of this many steps.
SHORT_LOOP = 16
#: Loops over a multiple of this many bytes are whole vectors on all known machines.
WHOLE_VECTORS = 32
#: More taps than this are added in a loop.
MOST_WRITTEN_TAPS = 16


def takes(nodes: tuple[gs.Node, ...]) -> bool:
    """Whether the nodes are a supported depthwise convolution with its fused operators."""
    node = next((node for node in nodes if qualified_op(node) in _OPS), None)
    if node is None or not is_constant(node.inputs[1]):
        return False
    channels, weight = shape_of(node.inputs[0])[-1], values_of(node.inputs[1])
    plain = integer(node, "group", 1) == channels == weight.shape[0] and weight.shape[1] == 1 and channels > 1
    if node.op == "Conv":  # a tap of padding adds zero
        return bool(plain and np.isfinite(weight.astype(np.float64)).all())
    return plain and optional_input(node, 2) is None and optional_input(node, 3) is None


@dataclass(frozen=True)
class Depthwise:
    """Geometry; ``fill`` is the value that a fused Pad puts around the input. ``weight`` is [taps, channels]; if all
    weights of an integer convolution have one value, ``factor``, they are not stored."""

    node: gs.Node
    source: gs.Tensor
    channels: int
    windows: tuple[Window, ...]
    fill: int
    weight: NDArray[np.generic]

    @property
    def floating(self) -> bool:
        """Whether sums are floating-point numbers."""
        return bool(self.node.op == "Conv")

    @property
    def result(self) -> gs.Tensor:
        """What the convolution computes."""
        return self.node.outputs[0]

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The element type of the result."""
        return dtype_of(self.result)

    @property
    def taps(self) -> int:
        """Taps of a filter."""
        return elements(tuple(window.kernel for window in self.windows))

    @property
    def written(self) -> bool:
        """Whether taps are unrolled."""
        return self.taps <= MOST_WRITTEN_TAPS

    @property
    def checked(self) -> bool:
        """Whether some taps lie outside the input."""
        return any(window.leaves for window in self.windows)

    @property
    def in_one_line(self) -> Depthwise:
        """The same with one loop over the taps of whole images, which are neighbours."""
        whole = all(window.kernel == window.size and window.dilation == 1 for window in self.windows)
        if self.written or self.checked or not whole:
            return self
        sizes = (*(1 for _ in self.windows[1:]), self.taps)
        lines = (replace(window, size=size, kernel=size) for window, size in zip(self.windows, sizes, strict=True))
        return replace(self, windows=tuple(lines))

    @property
    def factor(self) -> int | None:
        """The common value of all weights of an integer convolution, else None."""
        first = self.weight.flat[0]
        return int(first) if not self.floating and bool((self.weight == first).all()) else None

    @property
    def strides(self) -> tuple[int, ...]:
        """Element strides of the input: batch, spatial axes, channel."""
        sizes = tuple(window.size for window in self.windows)
        return row_major((shape_of(self.result)[0], *sizes, self.channels))

    @property
    def block(self) -> int:
        """Channels in a block: all of them if each sum is finished in a register."""
        if self.written and self.floating:
            return self.channels
        return block_of(self.channels)


def depthwise_shape(nodes: tuple[gs.Node, ...]) -> Depthwise:
    """The geometry of nodes that ``takes`` accepts."""
    node = next(node for node in nodes if qualified_op(node) in _OPS)
    shape, out, weight = shape_of(node.inputs[0]), shape_of(node.outputs[0]), values_of(node.inputs[1])
    found = windows(node, shape[1:-1], out[1:-1], weight.shape[2:])
    source, fill = node.inputs[0], 0
    if nodes[0].op == "Pad":
        source, value = nodes[0].inputs[0], integers_at(nodes[0], 2)
        fill, pads = value[0] if value else 0, integers_at(nodes[0], 1) or ()
        found = tuple(window.padded(pads[1 + i], pads[1 + i + len(shape)]) for i, window in enumerate(found))
    packed = np.ascontiguousarray(weight.reshape(weight.shape[0], -1).T)
    return Depthwise(node, source, shape[-1], found, fill, packed)


def tap_groups(conv: Depthwise) -> list[list[int]]:
    """Groups of taps, in order, whose integer products certainly fit a 16-bit sum, which is cheaper in vectors."""
    if conv.floating:
        return [[tap] for tap in range(conv.taps)]
    info = np.iinfo(dtype_of(conv.source).name)
    most = np.abs(conv.weight.astype(np.int64)) * max(-int(info.min), int(info.max))
    groups: list[list[int]] = []
    total = np.zeros(conv.channels, np.int64)
    for tap in range(conv.taps):
        if groups and bool((total + most[tap] < 2**15).all()):
            groups[-1].append(tap)
            total = total + most[tap]
        else:
            groups.append([tap])
            total = most[tap]
    return groups


def pixels(conv: Depthwise, epilogue: Body) -> int:
    """The number of output positions whose integer sums are finished together. Compilers unroll short loops before
    vectorisation, so a few channels of neighbouring positions form one line; values per channel are repeated."""
    if conv.floating or conv.channels > SHORT_LOOP:
        return 1
    width = conv.windows[-1].out
    for argument in epilogue.arguments:
        if argument.shape is None or argument.shape[-2:] == (width, conv.channels) or elements(argument.shape) == 1:
            continue
        if elements(argument.shape) != conv.channels or not is_constant(argument.tensor):
            return 1
    fitting = [
        count for count in range(2, width + 1) if width % count == 0 and SHORT_LOOP < count * conv.channels <= BLOCK
    ]
    return min(fitting, key=lambda count: (count * conv.channels % WHOLE_VECTORS != 0, count), default=1)
