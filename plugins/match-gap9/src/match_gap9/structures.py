"""Graph structures that both units implement, and the integers of a match that their kernels receive."""

from __future__ import annotations

from match_core import Any, Match
from match_core.patterns.captures import shift
from match_core.patterns.structures import DENSE as PRODUCT
from match_core.patterns.structures import added, convolution, requantised
from match_core.patterns.windows import pad_value, window_of
from match_core.patterns.workloads import Kernels, Numbers

#: NHWC convolution, its zero-point padding (if any) taken in.
CONV_PADDED = requantised(convolution("match.nhwc::ConvInteger", padded=True), "U8")
#: NHWC convolution whose padding, if any, is zero.
CONV = requantised(convolution("match.nhwc::ConvInteger", padded=False), "U8")
DENSE = requantised(PRODUCT, "U8")
ADD = added(Any("input_a"), Any("input_b"), "U8")


def weight_bits(match: Match) -> int:
    """The narrowest two's complement width, 2 to 8, that holds every weight."""
    values = match.const("weight")
    low, high = int(values.min()), int(values.max())
    return next(bits for bits in range(2, 9) if -(1 << (bits - 1)) <= low and high < 1 << (bits - 1))


def strides(match: Match) -> Numbers:
    """Stride in y and x."""
    y, x = window_of(match).strides
    return (("stride_y", y), ("stride_x", x))


def spatial_numbers(match: Match, bits: int = 8) -> Numbers:
    """Integers of a convolution of either kind with weights of ``bits`` bits."""
    return (*strides(match), ("shift", shift(match)), ("pad_value", pad_value(match)), ("weight_bits", bits))


def dense_numbers(match: Match, bits: int = 8) -> Numbers:
    """Integers of a dense layer with weights of ``bits`` bits."""
    return (("shift", shift(match)), ("weight_bits", bits))


def kernels(channels: int = 1, columns: int = 1) -> Kernels:
    """Kernels with addends of 32 bits that compute so many output channels and columns at once."""
    parameters = (("multiplier", 32), ("addend", 32))
    return Kernels(parameters=parameters, channels=channels, columns=columns, channels_first=True)
