"""Limits of the analog array (sheet 2.3, 4.3, 5.3) and what follows from them for a convolution."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from match_core.ir.geometry import ConvGeometry

from match_diana.constants import values

_FIGURES = values()
ROWS, COLUMNS = _FIGURES["analog_rows"], _FIGURES["analog_columns"]
#: Activations lie in words of 64 channels of a pixel; the same number of the array's rows holds a filter tap.
CHANNEL_BLOCK = 64
#: Input channels of one instruction (DORY's tiler).
CHANNELS_MAX = 128
#: Sums of this many groups of channels, 6 bits each, fit the 8 bits in which partial sums are stored.
GROUPS_MAX = 4
#: Ranges of the array's converters and of the stage after them: 7 bits in, 6 bits of a sum, 7 bits out.
INPUT_MIN, INPUT_MAX = -64, 63
SUM_MIN, SUM_MAX = -32, 31
OUTPUT_MIN, OUTPUT_MAX = -64, 63
PARAMETER_MIN, PARAMETER_MAX = -128, 127
SHIFT_MAX = 15
#: log2 of the largest divisor that the pass considers: sums of 1152 products of 7 bits have 18 bits.
GAIN_SHIFT_MAX = 12
PADDING_MAX = 3
_UNROLLS = (4, 2, 1)


@dataclass(frozen=True, slots=True)
class Window:
    """Geometry of a convolution: input channels, output channels, kernel, stride, input and output size."""

    c: int
    k: int
    fy: int
    fx: int
    stride: int
    iy: int
    ix: int
    oy: int
    ox: int

    @property
    def taps(self) -> int:
        """Elements of the kernel."""
        return self.fy * self.fx


def group_channels(taps: int) -> int:
    """How many input channels one conversion can sum: what the rows hold, at most 128, in whole words of 64 channels so
    that a group begins where a word does; 0 where the kernel has too many taps."""
    return min(CHANNELS_MAX, ROWS // taps // CHANNEL_BLOCK * CHANNEL_BLOCK)


def groups(c: int, taps: int) -> tuple[int, ...]:
    """Input channels of each group, one instruction each. ``taps`` must leave room for a group."""
    each = group_channels(taps)
    return tuple(min(each, c - first) for first in range(0, c, each))


def has_form(c: int, k: int, geometry: ConvGeometry) -> bool:
    """Whether the array has such a convolution (the rules of rules.py say what is wrong with others)."""
    taps = prod(geometry.kernel)
    return (
        len(geometry.kernel) == 2
        and geometry.group == 1
        and geometry.strides in ((1, 1), (2, 2))
        and set(geometry.dilations) == {1}
        and max(geometry.pads) <= PADDING_MAX
        and group_channels(taps) > 0
        and k <= COLUMNS
        and len(groups(c, taps)) <= GROUPS_MAX
    )


def unroll(window: Window) -> int:
    """Output pixels in a row that are computed at once: the largest of 4, 2, 1 for which the copies of the weights have
    columns and the inputs of all of them have rows (sheet 2.3; with stride s the inputs are s apart), and that divides
    the output's width, because the instruction counts groups of pixels."""
    c = max(CHANNEL_BLOCK, min(window.c, group_channels(window.taps)))
    for pixels in _UNROLLS:
        rows = ((pixels - 1) * window.stride + window.fx) * c * window.fy
        if pixels == 1 or (pixels * window.k <= COLUMNS and rows <= ROWS and window.ox % pixels == 0):
            return pixels
    return 1


def padded(size: int, multiple: int) -> int:
    """``size`` rounded up."""
    return -(-size // multiple) * multiple


def cell_bytes(c: int, k: int, taps: int) -> int:
    """Bytes of the cells of one group as they lie in L2: rows padded to 288, columns to 128, two bits each."""
    return padded(c * taps, 288) * padded(k, 128) // 4


def least_tile_bytes(window: Window) -> int:
    """Bytes of L1 that the smallest tile takes: the input rows of one output row, for one group of channels, and that
    row for all output channels."""
    words = -(-min(window.c, group_channels(window.taps)) // CHANNEL_BLOCK)
    rows = words * min(window.fy, window.iy) * window.ix + -(-window.k // CHANNEL_BLOCK) * window.ox
    return CHANNEL_BLOCK * rows


def norm_bytes(k: int) -> int:
    """Bytes of the parameters after the converters: multipliers, then addends, a word each."""
    return 8 * k
