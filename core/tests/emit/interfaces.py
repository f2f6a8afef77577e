"""Kernel contexts of the tests' convolutions and sums."""

from __future__ import annotations

from typing import Literal

from match_core import KernelInterface

_Role = Literal["input", "constant", "output"]
_CONV_OPERANDS: tuple[tuple[str, _Role], ...] = (
    ("input", "input"),
    ("weight", "constant"),
    ("multiplier", "constant"),
    ("addend", "constant"),
    ("output", "output"),
)
_WINDOW = (("input", "y"), ("input", "x"))

#: Convolution, NHWC: output[oy][ox][k] = clip((multiplier[k] * sum + addend[k]) >> shift).
CONV2D = KernelInterface(
    "conv2d",
    _CONV_OPERANDS,
    ("K", "C", "OY", "OX", "FY", "FX"),
    _WINDOW,
    ("stride_y", "stride_x", "shift", "pad_value", "weight_bits"),
)
#: Element-wise sum of two tensors: clip((a * multiplier_a + b * multiplier_b + addend) >> shift).
ADD = KernelInterface(
    "add",
    (("input_a", "input"), ("input_b", "input"), ("output", "output")),
    ("Y", "X", "C"),
    (),
    ("multiplier_a", "multiplier_b", "addend", "shift"),
)
