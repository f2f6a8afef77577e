"""Structures of the integer graph that the kernels for rows and elements implement, and the parameters of their
matches."""

from __future__ import annotations

from math import prod

import numpy as np
from match_core import Any, Const, Match, Op
from match_core.patterns.captures import number, shift
from match_core.patterns.structures import OFFSET as OFFSET
from match_core.patterns.structures import added, arithmetic, constants, requantised
from numpy.typing import NDArray

from match_ita.snitch_rows.exact import Affine, Sum

_TYPES = ("I8", "U8")


_PAIR = added(Any("input_a"), Any("input_b"), *_TYPES, prefix="sum_")
_TOTAL = Op("ReduceSum", "reduce", (Op("Cast", "cast", (Any("input"),)), Const("axes")))

ADD = added(Any("input_a"), Any("input_b"), *_TYPES)
REQUANT = requantised(Any("input"), *_TYPES)
REQUANT_TWICE = requantised(requantised(Any("input"), *_TYPES), *_TYPES, prefix="second_")
ADD_REQUANT = requantised(_PAIR, *_TYPES)
ADD_REQUANT_TWICE = requantised(requantised(_PAIR, *_TYPES), *_TYPES, prefix="second_")
SUM = requantised(_TOTAL, *_TYPES)


def _joined_sum(*names: str) -> Op:
    """Parts that are joined to be summed."""
    joined = Op("Concat", "concat", tuple(Any(name) for name in names))
    return requantised(Op("ReduceSum", "reduce", (Op("Cast", "cast", (joined,)), Const("axes"))), *_TYPES)


SUM_TWO = _joined_sum("input_a", "input_b")
SUM_THREE = _joined_sum("input_a", "input_b", "input_c")
#: The residual is the second input of the sum, or the first.
SUM_ADD = added(requantised(_TOTAL, *_TYPES), Any("input_b"), *_TYPES, prefix="sum_")
ADD_SUM = added(Any("input_b"), requantised(_TOTAL, *_TYPES), *_TYPES, prefix="sum_")

LUT = Op(arithmetic("Lut", *_TYPES), "lut", (Any("input"), Const("table")))
GELU = Op(
    "match.ita::Gelu",
    "gelu",
    (Any("input"), *constants("gelu_b", "gelu_c", "multiplier", "addend", "divisor")),
)
LAYERNORM = Op(
    arithmetic("LayerNormRequant", *_TYPES),
    "norm",
    (Any("input"), *constants("multiplier", "addend", "divisor", "epsilon", "low", "high")),
)
INTEGER_LAYERNORM = Op(
    "match.arith::LayerNormI8",
    "norm",
    (Any("input"), *constants("weight", "bias", "divisor", "low", "high")),
)
RMSNORM = Op("match.arith::RmsNormI8", "norm", (Any("input"), *constants("weight", "divisor", "low", "high")))
TRANSPOSE = Op("Transpose", "transpose", (Any("input"),))
SLICE = Op("Slice", "slice", (Any("input"), Const("starts"), Const("ends")))
GATHER = Op("Gather", "gather", (Any("input"), Const("index")))
PAD = Op("Pad", "pad", (Any("input"), Const("pads")))
CONCAT = Op("Concat", "concat", (Any("input_a"), Any("input_b")))
CONCAT_CONSTANT = Op("Concat", "concat", (Const("input_a"), Any("input_b")))
CONCAT_THREE = Op("Concat", "concat", (Any("input_a"), Any("input_b"), Any("input_c")))


def kind(match: Match, capture: str) -> np.dtype[np.generic]:
    """The element type of a captured tensor."""
    found: np.dtype[np.generic] = np.dtype(match.tensor(capture).dtype)
    return found


def flip(match: Match, capture: str = "input") -> int:
    """128 where a captured tensor is signed."""
    return 128 if kind(match, capture) == np.int8 else 0


def matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of a tensor: all but the last axis, the last axis."""
    return prod(shape[:-1]), shape[-1] if shape else 1


def output_shape(match: Match) -> tuple[int, ...]:
    """The static shape of the result."""
    return tuple(int(size) for size in match.output.shape)


def spread(match: Match, capture: str) -> int:
    """How often a captured constant says the same: 0 for each element a number, 1 for each channel, 2 for all."""
    shape = match.const(capture).shape
    if prod(shape) == 1:
        return 2
    channels = output_shape(match)[-1]
    return 1 if prod(shape) == channels == shape[-1] else 0


def _values(match: Match, capture: str) -> NDArray[np.int64]:
    return match.const(capture).astype(np.int64).reshape(-1)


def affine(match: Match, ends: tuple[int, int], prefix: str = "") -> Affine:
    """The requantisation whose captures begin with ``prefix``, for values between ``ends``."""
    return Affine(
        _values(match, prefix + "multiplier"),
        _values(match, prefix + "addend"),
        shift(match, prefix + "divisor"),
        number(match, prefix + "low"),
        number(match, prefix + "high"),
        *ends,
    )


def pair_sum(match: Match, ranges: tuple[tuple[int, int], tuple[int, int]], prefix: str = "") -> Sum:
    """The sum of two whose captures begin with ``prefix``, for values in these ranges."""
    names = ("multiplier_a", "multiplier_b", "addend")
    numbers = [number(match, prefix + name) for name in names]
    clip = (number(match, prefix + "low"), number(match, prefix + "high"))
    return Sum(numbers[0], numbers[1], numbers[2], shift(match, prefix + "divisor"), *clip, *ranges)
