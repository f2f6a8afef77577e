"""Structures of the integer graph that work on single bytes, and the numbers of their matches."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from match_core import Any, Const, Match, Maybe, Op
from match_core.patterns.captures import number
from match_core.patterns.structures import arithmetic, requantised

LUT = Op(arithmetic("Lut", "U8", "I8"), "lut", (Any("input"), Const("table")))
#: The bytes of a tensor as floats, at the graph's end.
DEQUANTIZE = Op("DequantizeLinear", "dequantize", (Any("input"), Const("scale")))
REQUANT = requantised(Any("input"), "U8")


def _factor(side: str) -> Maybe:
    """A tensor as int32 less its zero point, if that is not 0."""
    wide = Op("Cast", f"cast_{side}", (Any(f"input_{side}"),))
    return Maybe(Op("Sub", f"centred_{side}", (wide, Const(f"zero_{side}"))))


#: The product of two tensors, requantised (match_quant.integerise_product).
PRODUCT = requantised(Op("Mul", "product", (_factor("a"), _factor("b"))), "U8")


def zero(match: Match, side: str) -> int:
    """The zero point of one factor."""
    return number(match, f"zero_{side}") if match.has(f"zero_{side}") else 0


@dataclass(frozen=True, slots=True)
class Factors:
    """The sizes of a product: the first tensor is [blocks][rows][channels], the second [blocks][channels]."""

    blocks: int
    rows: int
    channels: int


def factors(match: Match) -> Factors | None:
    """The product as one of blocks that share factors; None if the second tensor varies otherwise, or the first is not
    of the result's shape."""
    whole, second = match.shape("input_a"), match.shape("input_b")
    if whole != tuple(match.output.shape):
        return None
    second = (1,) * (len(whole) - len(second)) + second
    alike = [size == other for size, other in zip(whole, second, strict=True)]
    if all(alike):
        return Factors(1, 1, prod(whole))
    single = [axis for axis, same in enumerate(alike) if not same or whole[axis] == 1]
    first, last = (axis for axis in (alike.index(False), len(alike) - 1 - alike[::-1].index(False)))
    if any(axis not in single for axis in range(first, last + 1)):
        return None
    return Factors(prod(whole[:first]), prod(whole[first : last + 1]), prod(whole[last + 1 :]))


def channels(match: Match) -> int | None:
    """Over how many elements the constants of a requantisation vary: those of the last axes; None if they vary
    otherwise."""
    shape = match.shape("input")
    rank = len(shape)
    seen = np.broadcast_shapes(*((1,) * rank, *(match.const(name).shape for name in ("multiplier", "addend"))))
    if len(seen) != rank:
        return None
    varying = [axis for axis in range(rank) if seen[axis] > 1]
    first = varying[0] if varying else rank
    same = all(seen[axis] == shape[axis] for axis in range(first, rank))
    return prod(shape[first:]) if same else None
