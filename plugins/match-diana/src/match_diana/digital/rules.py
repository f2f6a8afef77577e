"""The limits of the digital array as named constraints (sheet 2.2, 4, 5.1)."""

from __future__ import annotations

from math import prod

import numpy as np
from match_core import Match
from match_core.patterns.rule import rule
from match_core.patterns.rules_requant import bounds_are
from match_core.patterns.windows import window_of
from match_quant.powers.rules import shift_rules

from match_diana.digital import structures as s
from match_diana.digital.limits import COPY_BYTES, KERNEL_SIDES, LANES, SHIFT_UNIT
from match_diana.forms import ROWS


@rule("image", "the input is one image [1, C, H, W]")
def image(match: Match) -> str | None:
    shape = match.shape("input" if match.has("input") else "input_a")
    return None if len(shape) == 4 and shape[0] == 1 else f"its shape is {list(shape)}"


@rule("vector", "the input is one vector [1, C]")
def vector(match: Match) -> str | None:
    shape = match.shape("input")
    return None if len(shape) == 2 and shape[0] == 1 else f"its shape is {list(shape)}"


@rule("size", f"rows padded to {LANES}, the input has at least the {COPY_BYTES} bytes of a copy")
def size(match: Match) -> str | None:
    size = prod(ROWS.padded_shape(match.shape("input" if match.has("input") else "input_a")))
    return None if size >= COPY_BYTES else f"it has {size} bytes"


# ---- convolution -----------------------------------------------------------------------------------------------


@rule("kernel", f"sides of the kernel are among {', '.join(map(str, KERNEL_SIDES))}")
def kernel(match: Match) -> str | None:
    kernel = window_of(match).kernel
    return None if set(kernel) <= set(KERNEL_SIDES) else f"it is {kernel[0]}x{kernel[1]}"


@rule(
    "padding", "less than the kernel; as many columns on the right as on the left, or fewer if outputs do not read them"
)
def padding(match: Match) -> str | None:
    geometry = window_of(match)
    top, left, bottom, right = geometry.pads
    fy, fx = geometry.kernel
    if not (min(geometry.pads) >= 0 and max(top, bottom) < fy and max(left, right) < fx):
        return f"it is {top}, {left}, {bottom}, {right}"
    beyond = s.columns_beyond(match)
    return None if beyond <= left else f"{left} columns on the left, {beyond} on the right"


@rule("columns", f"output columns are a multiple of {LANES}")
def whole_lanes(match: Match) -> str | None:
    width = int(match.output.shape[3])
    return None if width % LANES == 0 else f"there are {width}"


# ---- arithmetic ------------------------------------------------------------------------------------------------


ARITHMETIC = requant, bounds, accumulator = shift_rules(SHIFT_UNIT)
signed = bounds_are("results are cut to -128..127: sums have no ReLU", (-128, 127))
positive = bounds_are("results are cut to 0..127", (0, 127))


# ---- sums ------------------------------------------------------------------------------------------------------


@rule("channels", f"channels are a multiple of {LANES}")
def whole_blocks(match: Match) -> str | None:
    channels = match.shape("input_a")[1]
    return None if channels % LANES == 0 else f"there are {channels}"


@rule("bias", "nothing is added to the sum, so it is rounded down")
def no_bias(match: Match) -> str | None:
    found = s.requant_of(match)
    if isinstance(found, str) or not np.any(found.bias):
        return None
    return f"{int(found.bias.reshape(-1)[0])} is added"
