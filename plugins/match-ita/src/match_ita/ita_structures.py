"""Structures of the integer graph that ITA implements, and what a match of one says in ITA's terms."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from match_core import Any, Const, Match, Maybe, Op, Structure
from numpy.typing import NDArray

from match_ita.constants import values

Integers = NDArray[np.int64]

_REQUANT = ("multiplier", "addend", "divisor", "low", "high")


def _requantised(op: Structure) -> Op:
    return Op("match.arith::RequantI8", "requant", (op, *(Const(name) for name in _REQUANT)))


_DENSE = _requantised(Op("MatMulInteger", "dense", (Any("input"), Const("weight"))))

#: A linear layer, ReLU as its lower bound, the accelerator's GELU behind it.
LINEAR = Maybe(
    Op(
        "match.ita::Gelu",
        "gelu",
        (_DENSE, *(Const(name) for name in ("gelu_b", "gelu_c", "gelu_multiplier", "gelu_addend", "gelu_divisor"))),
    )
)
#: A linear layer whose result is turned, and its last axis filled up with zeros.
LINEAR_TURNED = Maybe(Op("Pad", "pad", (Op("Transpose", "turn", (_DENSE,)),)))
ATTENTION = Op(
    "match.ita::Attention",
    "attention",
    (
        Any("q"),
        Any("k"),
        Any("vt"),
        *(Const(name) for name in ("qk_multiplier", "qk_addend", "qk_divisor", "numerator")),
        *(Const(name) for name in ("av_multiplier", "av_addend", "av_divisor")),
    ),
)
#: A product of two activations, the second one turned.
MATMUL = _requantised(Op("MatMulInteger", "matmul", (Any("a"), Op("Transpose", "turn", (Any("b"),)))))


@dataclass(frozen=True, slots=True)
class Requant:
    """clip8(floor((multiplier * (acc + bias) + 2^(shift-1)) / 2^shift) + add): ``bias`` of each column (one for all
    where there is one), ITA's other numbers for all of them."""

    multiplier: int
    shift: int
    add: int
    bias: Integers


#: Ranges of ITA's registers (sheet ita-arithmetic 2.1, 2.6).
MULTIPLIER_MAX, SHIFT_MAX = 255, 33
ADD_MIN, ADD_MAX = -128, 127


def requant_of(match: Match, prefix: str = "", biased: bool = False) -> Requant | str:
    """The requantisation (x * M + B) / D of captured constants in ITA's terms, or what it cannot do. Without ``biased``
    there is no bias to carry what the addend has beyond ``add``."""
    multipliers = match.const(f"{prefix}multiplier").reshape(-1)
    addends = match.const(f"{prefix}addend").astype(object).reshape(-1)
    divisor, columns = number(match, f"{prefix}divisor"), int(match.output.shape[-1])
    if match.has("requant"):
        columns = int(match.node("requant").outputs[0].shape[-1])
    if {multipliers.size, addends.size} - {1, columns}:
        return f"there are {multipliers.size} multipliers and {addends.size} addends for {columns} columns"
    shift = divisor.bit_length() - 1
    if np.any(multipliers != multipliers[0]):
        return f"there are {len(set(multipliers.tolist()))} multipliers"
    multiplier = int(multipliers[0])
    if not 0 <= multiplier <= MULTIPLIER_MAX:
        return f"the multiplier is {multiplier}"
    if divisor != 1 << shift or shift > SHIFT_MAX:
        return f"the divisor is {divisor}"
    rest = addends - (divisor >> 1)
    found = _split(rest, multiplier if biased else 0, divisor)
    if found is None:
        return f"an addend is {addends[0]} with multiplier {multiplier} and divisor {divisor}"
    add, bias = found
    return Requant(multiplier, shift, add, bias)


def _split(rest: NDArray[np.object_], multiplier: int, divisor: int) -> tuple[int, Integers] | None:
    """(add, bias) with rest = multiplier * bias + add * divisor; the smallest ``add`` that there is."""
    bias_max = 1 << (values()["bias_bits"] - 1)
    for add in sorted(range(ADD_MIN, ADD_MAX + 1), key=abs):
        left = rest - add * divisor
        if not np.any(left):
            return add, np.zeros(rest.size, np.int64)
        if multiplier == 0 or np.any(left % multiplier):
            continue
        bias = left // multiplier
        if bias.min() >= -bias_max and bias.max() < bias_max:
            return add, bias.astype(np.int64)
    return None


def number(match: Match, capture: str) -> int:
    """The value of a captured constant of one number."""
    return int(match.const(capture).reshape(-1)[0])


def has_zero_point(match: Match, capture: str) -> bool:
    """Whether a product has zero points other than 0."""
    rest = [tensor for tensor in match.node(capture).inputs[2:] if not tensor.is_empty()]
    return any(not hasattr(tensor, "values") or bool(np.any(tensor.values)) for tensor in rest)


def rows_of(shape: tuple[int, ...]) -> int:
    """Rows of a tensor whose last axis are columns."""
    return prod(shape[:-1])


def turns_matrix(match: Match) -> bool:
    """Whether a permutation swaps the last two axes and leaves the others."""
    order = [int(axis) for axis in match.node("turn").attrs["perm"]]
    rank = len(order)
    return rank >= 2 and order == [*range(rank - 2), rank - 1, rank - 2]


def padding(match: Match) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Pad's amounts before and behind each axis, and its value. Amounts without axes; (-1,) where it has axes or is
    computed."""
    inputs = match.node("pad").inputs
    amounts = getattr(inputs[1], "values", None)
    named = [tensor for tensor in inputs[2:] if not tensor.is_empty()]
    if amounts is None or len(named) > 1 or any(not hasattr(tensor, "values") for tensor in named):
        return (-1,), (-1,), 0
    rank = len(match.output.shape)
    flat = [int(amount) for amount in amounts]
    return tuple(flat[:rank]), tuple(flat[rank:]), int(named[0].values.reshape(-1)[0]) if named else 0
