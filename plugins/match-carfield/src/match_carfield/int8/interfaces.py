"""Kernel contexts of the 8-bit kernels: 8-bit activations, int8 weights, requantisation with 64-bit products.

Results are clip((sum * multiplier[k] + addend[k]) >> shift) between ``low`` and ``high``, with a 32-bit multiplier and
a 64-bit addend per output channel; padding pixels hold ``pad_value``. Inputs are uint8, or int8 where ``input_signed``
is 1.
"""

from __future__ import annotations

from match_core import KernelInterface
from match_core.lower.interfaces import BINARY, UNARY, WEIGHTED, WINDOW

_BOUNDS = ("shift", "low", "high")
_SIGNED = "input_signed"
_CONV = ("stride_y", "stride_x", "dilation_y", "dilation_x", "pad_value", *_BOUNDS)

#: Convolution: weights [k][fy][fx][c], each row of a channel in whole words of 4 bytes. Scratch, if any, holds columns
#: of inputs: two for each core, as long as a row of weights; without it inputs are read where they are.
INT8_CONV2D = KernelInterface("int8_conv2d", WEIGHTED, ("OY", "OX", "K", "C", "FY", "FX"), WINDOW, (*_CONV, _SIGNED))
#: Dense layer: the same with N rows of C inputs.
INT8_LINEAR = KernelInterface("int8_linear", WEIGHTED, ("N", "K", "C"), (), (*_BOUNDS, _SIGNED))
#: Channel by channel: weights [k][fy][fx].
INT8_DEPTHWISE2D = KernelInterface("int8_depthwise2d", WEIGHTED, ("OY", "OX", "K", "FY", "FX"), WINDOW, _CONV)
#: clip((a * multiplier_a + b * multiplier_b + addend) >> shift); the addend's halves are 32 bits each.
INT8_ADD = KernelInterface(
    "int8_add",
    BINARY,
    ("Y", "X", "C"),
    (),
    ("multiplier_a", "multiplier_b", "addend_low", "addend_high", *_BOUNDS, _SIGNED),
)
#: ``average`` 1: the sum of the window / 2**shift, rounded to nearest, ties to even; 0: its largest pixel.
INT8_POOL2D = KernelInterface(
    "int8_pool2d", UNARY, ("OY", "OX", "C", "FY", "FX"), WINDOW, ("stride_y", "stride_x", "average", "shift")
)
#: output[c][r] = input[r][c] ^ flip.
INT8_TRANSPOSE = KernelInterface("int8_transpose", UNARY, ("R", "C"), (), ("flip",))

INT8_INTERFACES = (INT8_CONV2D, INT8_LINEAR, INT8_DEPTHWISE2D, INT8_ADD, INT8_POOL2D, INT8_TRANSPOSE)
