"""Kernel contexts of both units' layers."""

from __future__ import annotations

from match_core import KernelInterface
from match_core.lower.interfaces import BINARY, UNARY, WEIGHTED, WINDOW

#: Convolution, NHWC: output[oy][ox][k] = clip((multiplier[k] * sum + addend[k]) >> shift).
CONV2D = KernelInterface(
    "conv2d",
    WEIGHTED,
    ("K", "C", "OY", "OX", "FY", "FX"),
    WINDOW,
    ("stride_y", "stride_x", "shift", "pad_value", "weight_bits"),
)
#: Depthwise convolution, NHWC: channel k of the output reads channel k of the input.
DEPTHWISE2D = KernelInterface(
    "depthwise2d",
    WEIGHTED,
    ("K", "OY", "OX", "FY", "FX"),
    WINDOW,
    ("stride_y", "stride_x", "shift", "pad_value", "weight_bits"),
)
#: Dense layer: N independent rows of C inputs, K outputs each.
LINEAR = KernelInterface("linear", WEIGHTED, ("N", "K", "C"), (), ("shift", "weight_bits"))
#: Element-wise sum of two tensors: clip((a * multiplier_a + b * multiplier_b + addend) >> shift).
ADD = KernelInterface(
    "add",
    BINARY,
    ("Y", "X", "C"),
    (),
    ("multiplier_a", "multiplier_b", "addend", "shift"),
)
#: Pooling, NHWC. Average: clip((sum * multiplier + addend) >> shift), or with ties_even sum / 2**shift rounded to
#: nearest with ties to even; maximum ignores the last four.
POOL2D = KernelInterface(
    "pool2d",
    UNARY,
    ("C", "OY", "OX", "FY", "FX"),
    WINDOW,
    ("stride_y", "stride_x", "multiplier", "addend", "shift", "ties_even"),
)
