"""Structures of the integer graph that the digital array implements, and the parameters of their matches in its
terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_core import Any, Match
from match_core.patterns.captures import number
from match_core.patterns.structures import DENSE as PRODUCT
from match_core.patterns.structures import added, convolution, requantised
from match_core.patterns.windows import window_of
from numpy.typing import NDArray

from match_diana.digital.limits import SHIFT_MAX

CONV = requantised(convolution("ConvInteger", padded=False), "I8")
DENSE = requantised(PRODUCT, "I8")
ADD = added(Any("input_a"), Any("input_b"), "I8")


@dataclass(frozen=True, slots=True)
class DigitalRequant:
    """clip(floor((acc + bias) / 2^shift), -128, 127), or from 0 with ``relu``. ``bias``: one for all channels, or one
    for each."""

    shift: int
    bias: NDArray[np.int64]
    relu: bool


def power_of_two(value: int) -> int | None:
    """j where the value is 2^j."""
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def requant_of(match: Match) -> DigitalRequant | str:
    """The requantisation in the array's terms, or what it cannot do. (acc 2^j + B) / 2^S rounded down is
    (acc + floor(B / 2^j)) / 2^(S-j) rounded down, because acc is an integer."""
    names = [name for name in ("multiplier", "multiplier_a", "multiplier_b") if match.has(name)]
    multipliers = np.concatenate([match.const(name).astype(np.int64).reshape(-1) for name in names])
    exponent = power_of_two(int(multipliers[0]))
    if np.any(multipliers != multipliers[0]):
        return f"there are {len(set(multipliers.tolist()))} multipliers"
    if exponent is None:
        return f"the multiplier is {multipliers[0]}"
    divisor = number(match, "divisor")
    whole = power_of_two(divisor)
    if whole is None or match.const("divisor").size != 1:
        return f"the divisor is {divisor}"
    shift = whole - exponent
    if not 0 <= shift <= SHIFT_MAX:
        return f"the multiplier is 2^{exponent} and the divisor 2^{whole}"
    bias = match.const("addend").astype(np.int64).reshape(-1) >> exponent
    return DigitalRequant(shift, bias, relu=number(match, "low") == 0)


def made_requant(match: Match) -> DigitalRequant:
    """The requantisation of a match that the rules let pass."""
    found = requant_of(match)
    assert not isinstance(found, str)  # a rule says so
    return found


def columns_beyond(match: Match) -> int:
    """The number of columns beyond the right edge of the input that the last output column reads."""
    geometry, width = window_of(match), match.shape("input")[3]
    last = (int(match.output.shape[3]) - 1) * geometry.strides[1] + geometry.kernel[1] - geometry.pads[1]
    return max(0, last - width)


def channel_biases(found: DigitalRequant, channels: int) -> NDArray[np.int64]:
    """A bias for every channel."""
    return np.broadcast_to(found.bias, (channels,))
