"""Kernel contexts of the Snitch cluster's kernels for rows and elements. Tensors are row-major bytes; R rows of C.

requant(x) = clip((x * multiplier + addend) >> shift, low, high). ``wide`` 0: everything fits 32 bits. ``wide`` 1: sums
have 64 bits (``addend_low``, ``addend_high``) and lose 32 + shift bits. ``flip``: 128 where a tensor is int8, 0 where
it is uint8. ``parameters``: int32 numbers of each channel, named in the kernel's comment.
"""

from __future__ import annotations

from match_core import KernelInterface
from match_core.lower.interfaces import BINARY, UNARY, Operands

_SCALED: Operands = (("input", "input"), ("parameters", "constant"), ("output", "output"))
_BOTH_SCALED: Operands = (
    ("input_a", "input"),
    ("input_b", "input"),
    ("parameters", "constant"),
    ("table", "constant"),
    ("output", "output"),
)
_MATRIX = ("R", "C")
_CLIP = ("low", "high")
#: What is left of a sum whose first product, with the addend, is in a table of every int8 from -128 on.
_SUM = ("multiplier_b",)

#: clip((a * multiplier_a + b * multiplier_b + addend) >> shift); ``flip`` of wide sums only, narrow a is int8. Narrow
#: sums have a ``table`` of a * multiplier_a + addend from a = -128 on, because the cores share one multiplier.
ADD = KernelInterface(
    "snitch_add",
    (("input_a", "input"), ("input_b", "input"), ("table", "constant"), ("output", "output")),
    _MATRIX,
    (),
    ("multiplier_a", "multiplier_b", "addend_low", "addend_high", "shift", *_CLIP, "wide", "flip_a", "flip_b"),
)
#: Per channel. Parameters: multiplier, addend; wide: multiplier, addend_low, addend_high.
REQUANT = KernelInterface("snitch_requant", _SCALED, _MATRIX, (), ("shift", *_CLIP, "wide", "flip"))
#: Per channel, twice. Parameters: multiplier, addend, second multiplier, second addend.
REQUANT_TWICE = KernelInterface("snitch_requant_twice", _SCALED, _MATRIX, (), ("shift", "second_shift", *_CLIP))
#: Behind a sum of two, which loses ``sum_shift`` bits and is not clipped: results have bounds of each channel instead.
#: Parameters: multiplier, addend, low, high.
ADD_REQUANT = KernelInterface("snitch_add_requant", _BOTH_SCALED, _MATRIX, (), (*_SUM, "sum_shift", "shift"))
#: A sum of two, clipped, and two steps.
ADD_REQUANT_TWICE = KernelInterface(
    "snitch_add_requant_twice", _BOTH_SCALED, _MATRIX, (), (*_SUM, "sum_shift", "shift", "second_shift", *_CLIP)
)
#: One multiplier, an addend for each element.
OFFSET_EACH = KernelInterface(
    "snitch_offset_each",
    (("input", "input"), ("addend", "constant"), ("output", "output")),
    _MATRIX,
    (),
    ("multiplier", "shift", *_CLIP),
)
#: output = table[input as uint8].
LUT = KernelInterface("snitch_lut", (("input", "input"), ("table", "constant"), ("output", "output")), _MATRIX)
#: output [O][S][C] = requant(sum over N of input [O][N][S][C]).
SUM = KernelInterface("snitch_sum", UNARY, ("O", "N", "S", "C"), (), ("multiplier", "addend", "shift", *_CLIP))
#: The same with O = 1, and clip((sum * multiplier_a + b * multiplier_b + add_addend) >> add_shift) behind it.
SUM_ADD = KernelInterface(
    "snitch_sum_add",
    (("input", "input"), ("input_b", "input"), ("output", "output")),
    ("N", "S", "C"),
    (),
    ("multiplier", "addend", "shift", "multiplier_a", "multiplier_b", "add_addend", "add_shift", *_CLIP),
)
#: output = requant(a + b + c).
SUM_THREE = KernelInterface(
    "snitch_sum_three",
    (("input_a", "input"), ("input_b", "input"), ("input_c", "input"), ("output", "output")),
    _MATRIX,
    (),
    ("multiplier", "addend", "shift", *_CLIP),
)
#: match.arith::LayerNormRequant. Parameters: multiplier, addend. ``table``: C times each value of the input's type from
#: the lowest on, then their squares in 16 bits, because the cores share one multiplier.
LAYERNORM = KernelInterface(
    "snitch_layernorm",
    (("input", "input"), ("parameters", "constant"), ("table", "constant"), ("output", "output")),
    _MATRIX,
    (),
    ("epsilon_low", "epsilon_high", "shift", *_CLIP, "flip"),
)
#: match.arith::LayerNormI8 (``centred`` 1) and RmsNormI8. Parameters: weight, bias.
INTEGER_NORM = KernelInterface("snitch_integer_norm", _SCALED, _MATRIX, (), ("centred", "shift", *_CLIP, "flip"))
#: output = input ^ flip, bytes in another order: the input's axes state where they lie.
COPY = KernelInterface("snitch_copy", UNARY, ("O", "P", "A", "B", "C"), (), ("flip",))
#: output [P][A][C][R] = input [P][A][R][C].
TRANSPOSE = KernelInterface("snitch_transpose", UNARY, ("P", "A", "R", "C"))
#: output [N][C] = input [index[n]][C].
GATHER = KernelInterface(
    "snitch_gather", (("input", "input"), ("index", "constant"), ("output", "output")), ("N", "V", "C")
)
#: output [T][K][C] = input [t * stride + k * dilation][C], ``pad_value`` where that is padding.
WINDOWS = KernelInterface(
    "snitch_windows", UNARY, ("T", "K", "C"), (("input", "v"),), ("stride", "dilation", "pad_value")
)
#: output [O][before + size + after][I], the input [O][size][I] between ``pad_value``.
PAD = KernelInterface("snitch_pad", UNARY, ("O", "I"), (), ("before", "size", "after", "pad_value"))
#: output [O][size_a + size_b][I] of [O][size_a][I] and [O][size_b][I].
CONCAT = KernelInterface("snitch_concat", BINARY, ("O", "I"), (), ("size_a", "size_b"))
CONCAT_CONSTANT = KernelInterface(
    "snitch_concat",
    (("input_a", "constant"), ("input_b", "input"), ("output", "output")),
    ("O", "I"),
    (),
    ("size_a", "size_b"),
)
CONCAT_THREE = KernelInterface(
    "snitch_concat_three",
    (("input_a", "input"), ("input_b", "input"), ("input_c", "input"), ("output", "output")),
    ("O", "I"),
    (),
    ("size_a", "size_b", "size_c"),
)
INTERFACES = (
    ADD, REQUANT, REQUANT_TWICE, ADD_REQUANT, ADD_REQUANT_TWICE, OFFSET_EACH, LUT, SUM, SUM_ADD, SUM_THREE, LAYERNORM,
    INTEGER_NORM, COPY, TRANSPOSE, GATHER, WINDOWS, PAD, CONCAT, CONCAT_THREE,
)  # fmt: skip
