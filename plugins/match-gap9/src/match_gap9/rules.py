"""Limits that only GAP9's kernels have."""

from __future__ import annotations

from match_core import Match
from match_core.patterns import rules_requant as requant
from match_core.patterns import rules_tensors as tensors
from match_core.patterns.rule import rule
from match_core.patterns.windows import window_of
from match_quant.reach import product_below

#: Of layers with weights whose requantisation fits 32 bits.
NARROW = (
    tensors.uint8_activations,
    tensors.int8_weights,
    requant.uint8_bounds,
    requant.shift_at_most(31),
    product_below(31),
    tensors.sizes_in_16_bits,
)


@rule("multiplier", "multipliers are not negative")
def unsigned_multiplier(match: Match) -> str | None:
    smallest = int(match.const("multiplier").min())
    return None if smallest >= 0 else f"the smallest is {smallest}"


#: pulp_nn_depthwise_generic: words of taps are counted in 8 bits; with one column a core overruns its buffer.
@rule("window", "the kernel has at most 1023 taps and is not a single column of 4 or more")
def depthwise_window(match: Match) -> str | None:
    fy, fx = match.shape("weight")[2:]
    if fy * fx > 1023:
        return f"there are {fy * fx} taps"
    return "the kernel is one column wide" if fx == 1 and fy >= 4 else None


@rule("stride", "stride is 1x1, or 2x2 with an even number of output channels")
def ne16_stride(match: Match) -> str | None:
    y, x = window_of(match).strides
    if (y, x) not in ((1, 1), (2, 2)):
        return f"stride is {y}x{x}"
    channels = match.shape("weight")[0]
    return f"stride 2 with {channels} output channels" if y == 2 and channels % 2 else None
