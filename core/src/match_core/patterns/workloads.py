"""Workloads of layers that kernels of several chips compute the same way.

``Kernels`` holds the common properties of a unit's kernels: its methods make the workload of a match, with the
package's layout of weights and its integers of the kernel's context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from match_core.contract.structure import Match
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.ir.geometry import channels_last
from match_core.patterns.captures import number, shift
from match_core.patterns.windows import window_node, window_of

#: Integers of a kernel's context by name.
Numbers = tuple[tuple[str, int], ...]
Scratch = tuple[tuple[tuple[str, ...], int], ...]
Axes = tuple[Axis, ...]


def axis(name: str, size: int, stride: int = 0) -> Axis:
    """An axis indexed by the dimension of the same name."""
    return Axis(name, size, ((name.upper(), 1),), stride=stride)


def whole(name: str, size: int) -> Dim:
    """A dimension that is not tiled."""
    return Dim(name, size, tileable=False)


def bounds(match: Match) -> Numbers:
    """Shift and bounds of a requantisation."""
    return (("shift", shift(match)), ("low", number(match, "low")), ("high", number(match, "high")))


def steps(match: Match) -> Numbers:
    """Strides (pixels between windows) and dilations (pixels between taps)."""
    (stride_y, stride_x), (dilation_y, dilation_x) = window_of(match).strides, window_of(match).dilations
    return (("stride_y", stride_y), ("stride_x", stride_x), ("dilation_y", dilation_y), ("dilation_x", dilation_x))


def window_axes(match: Match) -> tuple[Axis, Axis]:
    """y and x of the input of a convolution or a pooling: OY, OX and the taps FY, FX run over them."""
    sizes = match.shape("input")[1:3] if channels_last(window_node(match)) else match.shape("input")[2:]
    found = window_of(match)
    steps = (found.strides, found.dilations)
    y, x = (
        Axis(name, size, ((f"O{name.upper()}", stride), (f"F{name.upper()}", dilation)), pad)
        for name, size, stride, dilation, pad in zip("yx", sizes, *steps, found.pads[:2], strict=True)
    )
    return y, x


def pixel_axes(match: Match) -> tuple[Axis, Axis]:
    """y and x of the output of a convolution or a pooling."""
    shape = [int(size) for size in match.output.shape]
    oy, ox = shape[1:3] if channels_last(window_node(match)) else shape[2:]
    return Axis("y", oy, (("OY", 1),)), Axis("x", ox, (("OX", 1),))


def turned(size: tuple[int, int], kind: str, bits: int = 8, geometry: Numbers = ()) -> Workload:
    """The transposition of a matrix of that size: R, C."""
    r, c = axis("r", size[0]), axis("c", size[1])
    operands = (Operand("input", "input", (r, c), bits), Operand("output", "output", (c, r), bits))
    return Workload(kind, (Dim("R", r.size), Dim("C", c.size)), operands, 0, geometry)


@dataclass(frozen=True, slots=True)
class Kernels:
    """The common properties of a unit's kernels.

    ``bits``: of an element; ``parameters``: constants with one number per output channel, and their bits; ``channels``,
    ``columns``: granularity of tiles in output channels and columns; ``channels_first``: dimensions of channels come
    before those of pixels. Spatial operands have the layout of the operator's tensors (NHWC or NCHW).
    """

    bits: int = 8
    parameters: tuple[tuple[str, int], ...] = (("multiplier", 32), ("addend", 64))
    channels: int = 1
    columns: int = 1
    channels_first: bool = False

    def weighted(
        self, inputs: Axes, weight: Axes, outputs: Axes, channels: Axes, weight_bits: int = 0
    ) -> tuple[Operand, ...]:
        """Operands of a layer with weights; ``channels``: axes of the numbers for each output channel."""
        return (
            Operand("input", "input", inputs, self.bits),
            Operand("weight", "constant", weight, weight_bits or self.bits),
            *(Operand(name, "constant", channels, bits) for name, bits in self.parameters),
            Operand("output", "output", outputs, self.bits),
        )

    def spatial(
        self,
        match: Match,
        kind: str,
        dims: tuple[Dim, ...],
        axes: tuple[Axes, Axes, Axes],
        geometry: Numbers,
        scratch: Scratch = (),
        arithmetic: Numbers = (),
        weight_bits: int = 0,
    ) -> Workload:
        """A convolution of any kind. ``dims``: the dimensions of channels; ``axes``: of input channels, of weights, of
        output channels."""
        (oy, ox), (inputs, weight, outputs) = pixel_axes(match), axes
        rows, columns = window_axes(match), (oy, ox)
        fy, fx = window_of(match).kernel
        pixels = (Dim("OY", oy.size), Dim("OX", ox.size, granularity=self.columns))
        loops = (*dims, *pixels) if self.channels_first else (*pixels, *dims)
        loops = (*loops, whole("FY", fy), whole("FX", fx))
        last = channels_last(window_node(match))
        operands = self.weighted(
            (*rows, *inputs) if last else (*inputs, *rows),
            weight,
            (*columns, *outputs) if last else (*outputs, *columns),
            outputs,
            weight_bits,
        )
        macs = prod(dim.size for dim in loops)
        return Workload(kind, loops, operands, macs, geometry, scratch, arithmetic=arithmetic)

    def convolution(
        self, match: Match, kind: str, weight: Axes, geometry: Numbers, scratch: Scratch = (), arithmetic: Numbers = ()
    ) -> Workload:
        """A convolution with one group: K, C and pixels. ``weight``: axes of the weights."""
        outputs, inputs = match.shape("weight")[:2]
        dims = (Dim("K", outputs, granularity=self.channels), whole("C", inputs))
        axes = ((axis("c", inputs),), weight, (axis("k", outputs),))
        return self.spatial(match, kind, dims, axes, geometry, scratch, arithmetic)

    def depthwise(
        self, match: Match, kind: str, weight: Axes, geometry: Numbers, scratch: Scratch = (), weight_bits: int = 0
    ) -> Workload:
        """A depthwise convolution: K and pixels."""
        k = axis("k", match.shape("weight")[0])
        dims = (Dim("K", k.size, granularity=self.channels),)
        return self.spatial(match, kind, dims, ((k,), weight, (k,)), geometry, scratch, weight_bits=weight_bits)

    def dense(
        self, match: Match, kind: str, weight: Axes, geometry: Numbers, scratch: Scratch = (), arithmetic: Numbers = ()
    ) -> Workload:
        """A dense layer: N rows of C inputs, K outputs each."""
        c, k = axis("c", match.shape("input")[-1]), axis("k", int(match.output.shape[-1]))
        n = axis("n", prod(match.shape("input")[:-1]))
        dims = (Dim("N", n.size), Dim("K", k.size, granularity=self.channels), whole("C", c.size))
        operands = self.weighted((n, c), weight, (n, k), (k,))
        return Workload(kind, dims, operands, prod(d.size for d in dims), geometry, scratch, arithmetic=arithmetic)

    def pooling(
        self, match: Match, kind: str, geometry: Numbers, macs: bool = False, arithmetic: Numbers = ()
    ) -> Workload:
        """A pooling per channel: C and pixels; ``macs``: whether its operations count as multiply-accumulates."""
        last = channels_last(window_node(match))
        c, (oy, ox) = axis("c", int(match.output.shape[-1 if last else 1])), pixel_axes(match)
        pixels = (Dim("OY", oy.size), Dim("OX", ox.size))
        channels = Dim("C", c.size, granularity=self.channels)
        fy, fx = window_of(match).kernel
        loops = (channels, *pixels) if self.channels_first else (*pixels, channels)
        dims = (*loops, whole("FY", fy), whole("FX", fx))
        rows = window_axes(match)
        operands = (
            Operand("input", "input", (*rows, c) if last else (c, *rows), self.bits),
            Operand("output", "output", (oy, ox, c) if last else (c, oy, ox), self.bits),
        )
        count = prod(dim.size for dim in dims) if macs else 0
        return Workload(kind, dims, operands, count, geometry, arithmetic=arithmetic)

    def elements(self, match: Match, kind: str, inputs: Sequence[str], geometry: Numbers = ()) -> Workload:
        """An element-wise operator on tensors of one shape: Y, X, C are the last axes, Y with all earlier ones."""
        shape = [int(size) for size in match.output.shape]
        axes = tuple(map(axis, "yxc", (prod(shape[:-2]), *[1, 1, *shape][-2:])))
        operands = (
            *(Operand(name, "input", axes, self.bits) for name in inputs),
            Operand("output", "output", axes, self.bits),
        )
        dims = (*(Dim(a.name.upper(), a.size) for a in axes[:2]), Dim("C", axes[2].size, granularity=self.channels))
        return Workload(kind, dims, operands, 0, geometry)

    def rows(
        self,
        match: Match,
        kind: str,
        constants: tuple[Operand, ...] = (),
        geometry: Numbers = (),
        arithmetic: Numbers = (),
    ) -> Workload:
        """Rows of the last axis, which is not tiled: R, C."""
        shape = match.shape("input")
        r, c = axis("r", prod(shape[:-1])), axis("c", shape[-1])
        operands = (
            Operand("input", "input", (r, c), self.bits),
            *constants,
            Operand("output", "output", (r, c), self.bits),
        )
        return Workload(kind, (Dim("R", r.size), whole("C", c.size)), operands, 0, geometry, arithmetic=arithmetic)
