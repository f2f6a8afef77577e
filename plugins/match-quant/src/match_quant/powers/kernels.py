"""A unit that shifts its sums, as data: its requantisation and its kernels. A kernel with zero taps replaces one
with an even side, or with different paddings."""

from __future__ import annotations

from dataclasses import dataclass

from match_core.contract.hardware import RequantSpec
from match_core.ir.geometry import ConvGeometry


@dataclass(frozen=True, slots=True)
class Side:
    """One axis of a convolution: ``size`` of the input, ``kernel``, ``stride``, padding ``begin`` and ``end``."""

    size: int
    kernel: int
    stride: int
    begin: int
    end: int

    @property
    def outputs(self) -> int:
        """How many windows there are."""
        return (self.size + self.begin + self.end - self.kernel) // self.stride + 1


@dataclass(frozen=True, slots=True)
class WiderSide:
    """The axis with ``before`` and ``after`` zero taps added to the kernel."""

    side: Side
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class WiderKernel:
    """Rows and columns of a kernel with their zero taps."""

    rows: WiderSide
    columns: WiderSide

    @property
    def pads(self) -> tuple[int, int, int, int]:
        """Padding: top, left, bottom, right."""
        rows, columns = self.rows.side, self.columns.side
        return rows.begin, columns.begin, rows.end, columns.end


@dataclass(frozen=True, slots=True)
class ShiftUnit:
    """A unit without a multiplier behind its sums: ``y = clip((sum + bias) >> shift, low, 127)``, low -128 or 0 (ReLU).

    ``name`` begins the names of its passes. ``requant``: its numbers; ``shift_max`` bounds the shift. ``sides`` of its
    kernels, ``strides`` (the same both ways), and whether it has ``depthwise`` convolutions. ``folds``: kernels of
    stride 2 beyond its sides become kernels of stride 1 with half the sides. ``any_padding``: the sides of an image may
    have different paddings. ``ternary``: weights -a, 0 and a keep
    their form, for an array of ternary cells in the same chip.
    """

    name: str
    requant: RequantSpec
    sides: tuple[int, ...]
    strides: tuple[int, ...] = (1,)
    depthwise: bool = False
    folds: bool = False
    any_padding: bool = False
    ternary: bool = False

    def wider(self, geometry: ConvGeometry, size: tuple[int, int], channels: tuple[int, int]) -> WiderKernel | None:
        """The unit's kernel that computes the same for an input of ``size`` rows and columns, with ``channels`` of
        input and output; None where it has none: other groups, strides, dilations or sides than the unit's."""
        depthwise = self.depthwise and channels == (geometry.group, geometry.group)
        if len(geometry.kernel) != 2 or not (geometry.group == 1 or depthwise) or geometry.dilations != (1, 1):
            return None
        if geometry.strides[0] != geometry.strides[1] or geometry.strides[0] not in self.strides:
            return None
        old = [Side(size[a], geometry.kernel[a], geometry.strides[a], *geometry.pads[a::2]) for a in (0, 1)]
        if self.any_padding and set(geometry.kernel) <= set(self.sides):
            return WiderKernel(WiderSide(old[0], 0, 0), WiderSide(old[1], 0, 0))
        rows, columns = (widened(side, self.sides, leading=axis == 1) for axis, side in enumerate(old))
        return WiderKernel(rows, columns) if rows is not None and columns is not None else None


def widened(side: Side, sides: tuple[int, ...], leading: bool) -> WiderSide | None:
    """The axis with the smallest of a unit's kernel ``sides`` that computes the same, None where there is none.
    ``leading``: no more padding behind than in front, which is what units have for columns (it pads both ends alike;
    what is read behind beyond need is not).

    Zero taps in front move the start of the first window by as many elements, so the padding in front grows with them.
    Zero taps behind read elements that do not count, so the padding behind may be any that gives as many windows."""
    for kernel in sides:
        for before in range(kernel - side.kernel + 1):
            begin, after = side.begin + before, kernel - side.kernel - before
            own = side.end + after
            preferred = (own, begin) if kernel == side.kernel else (begin, own)
            for end in (*preferred, *range(kernel)):
                wide = Side(side.size, kernel, side.stride, begin, end)
                small = max(begin, end) < kernel and (end <= begin or not leading)
                if small and wide.outputs == side.outputs:
                    return WiderSide(wide, before, after)
    return None
