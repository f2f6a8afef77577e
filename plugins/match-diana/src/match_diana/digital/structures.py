"""Structures of the integer graph that the digital array implements, and the parameters of their matches in its
terms."""

from __future__ import annotations

from functools import partial

from match_core import Any, Match
from match_core.patterns.structures import DENSE as PRODUCT
from match_core.patterns.structures import added, convolution, requantised
from match_core.patterns.windows import window_of
from match_quant.powers.rules import made_shift, shifted

from match_diana.digital.limits import SHIFT_MAX

CONV = requantised(convolution("ConvInteger", padded=False), "I8")
DENSE = requantised(PRODUCT, "I8")
ADD = added(Any("input_a"), Any("input_b"), "I8")


#: The requantisation of a match as a shift, or what the array cannot do; of one that the rules let pass.
requant_of = partial(shifted, shift_max=SHIFT_MAX)
made_requant = partial(made_shift, shift_max=SHIFT_MAX)


def columns_beyond(match: Match) -> int:
    """The number of columns beyond the right edge of the input that the last output column reads."""
    geometry, width = window_of(match), match.shape("input")[3]
    last = (int(match.output.shape[3]) - 1) * geometry.strides[1] + geometry.kernel[1] - geometry.pads[1]
    return max(0, last - width)
