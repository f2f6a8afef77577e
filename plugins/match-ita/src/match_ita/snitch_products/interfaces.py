"""Kernel contexts of products, softmax and convolutions on the Snitch cores.

Requantisation is clip(floor((sum * multiplier + addend) / 2^S), low, high). ``wide`` 0: 32-bit products, ``shift`` = S;
``wide`` 1: 64-bit products, both constants prepared so that S = 32 + ``shift``. Multipliers are int32, addends int64.
8-bit operands are int8 unless an ``.._unsigned`` field is 1.
"""

from __future__ import annotations

from match_core import KernelInterface
from match_core.lower.interfaces import UNARY, WEIGHTED, WINDOW

_REQUANT = ("wide", "shift", "low", "high")

#: input [N][C], weight [K][C], output [N][K]; of unsigned inputs 128 is taken off, which the addends make good.
LINEAR = KernelInterface("snitch_linear", WEIGHTED, ("N", "K", "C"), (), (*_REQUANT, "input_unsigned"))
#: The same turned: output [K][64 N1 or N0] with the rows of the input along; 0 behind the last row of the input.
LINEAR_TURNED = KernelInterface(
    "snitch_linear_turned",
    WEIGHTED,
    ("N1", "N0", "K", "C"),
    (("input", "n"),),
    (*_REQUANT, "input_unsigned"),
)
#: H products of two activations: a [H][M][C], b [H][N][C] where ``b_rows`` is 1, else [H][C][N]; multiplier and addend
#: [H]; output [H][M][N].
MATMUL = KernelInterface(
    "snitch_matmul",
    (("a", "input"), ("b", "input"), ("multiplier", "constant"), ("addend", "constant"), ("output", "output")),
    ("H", "M", "N", "C"),
    (),
    ("b_rows", "a_zero", "b_zero", "a_unsigned", "b_unsigned", *_REQUANT),
)
#: match.ita::Attention: q [H][S][P], k [H][T][P], vt [H][P][TP], output [H][S][P]; addends in two words.
ATTENTION = KernelInterface(
    "snitch_attention",
    (("q", "input"), ("k", "input"), ("vt", "input"), ("output", "output")),
    ("H", "S", "T", "TP", "P"),
    (),
    (
        "group",
        "qk_wide",
        "av_wide",
        "softmax_shift",
        "numerator",
        *(f"qk_{name}" for name in ("multiplier", "addend_low", "addend_high", "shift")),
        *(f"av_{name}" for name in ("multiplier", "addend_low", "addend_high", "shift")),
    ),
)
#: Rows of softmax by table: floor((2 N t + rounded * s) / (2 s)) + zero, clipped; t = table[max - x], s = sum of t.
SOFTMAX = KernelInterface(
    "snitch_softmax",
    (("table", "constant"), ("input", "input"), ("output", "output")),
    ("R", "C"),
    (),
    ("input_unsigned", "numerator", "rounded", "zero", "low", "high"),
)
#: Rows of softmax in powers of two.
SHIFT_SOFTMAX = KernelInterface(
    "snitch_shift_softmax",
    UNARY,
    ("R", "C"),
    (),
    ("group", "input_unsigned", "softmax_shift", "numerator"),
)
#: input [C][y][x], weight [K][C][FY][FX], output [K][OY][OX].
CONV2D = KernelInterface(
    "snitch_conv2d",
    WEIGHTED,
    ("OY", "OX", "K", "C", "FY", "FX"),
    WINDOW,
    ("stride_y", "stride_x", "dilation_y", "dilation_x", *_REQUANT, "pad_value", "input_unsigned"),
)
#: input [C][y][x], output [C][OY][OX].
MAXPOOL2D = KernelInterface(
    "snitch_maxpool2d",
    UNARY,
    ("C", "OY", "OX", "FY", "FX"),
    WINDOW,
    ("stride_y", "stride_x", "dilation_y", "dilation_x", "input_unsigned"),
)

INTERFACES = (LINEAR, LINEAR_TURNED, MATMUL, ATTENTION, SOFTMAX, SHIFT_SOFTMAX, CONV2D, MAXPOOL2D)
