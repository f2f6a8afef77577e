"""Structures of the integer graph that ITA implements, and the meaning of their matches in ITA's terms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from match_core import Any, Const, Match, Maybe, Op, Structure
from match_core.patterns.captures import number
from match_core.patterns.structures import constants, requantised

from match_ita.captures import rows_of
from match_ita.ita.limits import MULTIPLIER_MAX, SHIFT_MAX
from match_ita.ita.requantisation import Integers, ItaRequant, largest_sums, with_addend
from match_ita.snitch_rows.moves import sliced


def _dense(x: Structure) -> Op:
    return requantised(Op("MatMulInteger", "dense", (x, Const("weight"))), "I8")


def _activated(dense: Op) -> Structure:
    names = ("b", "c", "multiplier", "addend", "divisor")
    return Maybe(Op("match.ita::Gelu", "gelu", (dense, *constants(*names, prefix="gelu_"))))


_DENSE = _dense(Any("input"))

#: A linear layer, ReLU as its lower bound, the accelerator's GELU after it.
LINEAR = _activated(_DENSE)
#: The same of some rows or columns of a matrix.
LINEAR_PART = _activated(_dense(Op("Slice", "slice", (Any("input"), Const("starts"), Const("ends")))))
#: A linear layer whose result is transposed, with its last axis zero-padded.
LINEAR_TURNED = Maybe(Op("Pad", "pad", (Op("Transpose", "turn", (_DENSE,)),)))
ATTENTION = Op(
    "match.ita::Attention",
    "attention",
    (
        Any("q"),
        Any("k"),
        Any("vt"),
        *constants("qk_multiplier", "qk_addend", "qk_divisor", "numerator"),
        *constants("av_multiplier", "av_addend", "av_divisor"),
    ),
)
#: A product of two activations, the second one transposed.
MATMUL = requantised(Op("MatMulInteger", "matmul", (Any("a"), Op("Transpose", "turn", (Any("b"),)))), "I8")


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a matrix in memory: ``count`` of them, ``step`` elements apart, the first one at element ``base``."""

    count: int
    step: int
    base: int = 0


def input_rows(match: Match) -> Rows | None:
    """Where the rows of a linear layer's input lie; None where a Slice is not one of a matrix with columns that lie
    behind each other."""
    shape = match.shape("input")
    if not match.has("slice"):
        return Rows(rows_of(shape), shape[-1])
    found = sliced(match)
    if found is None or len(shape) < 2:
        return None
    (rows, step), (columns, inner) = found.axes[-2:]
    if inner != 1 or columns != match.shape("weight")[0] or any(size > 1 for size, _ in found.axes[:-2]):
        return None
    return Rows(rows, step, found.base)


def requant_of(match: Match, prefix: str = "") -> ItaRequant | str:
    """The requantisation (x * M + B) / D of captured constants in ITA's terms, or what it cannot do. Only sums with
    constant weights have biases, which carry what the addend has beyond ``add``."""
    multipliers = match.const(f"{prefix}multiplier").reshape(-1)
    addends = match.const(f"{prefix}addend").astype(np.int64).reshape(-1)
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
    found = _biased(match, multiplier, shift, addends) if not prefix and match.has("weight") else None
    if found is None:
        found = _unbiased(multiplier, shift, addends)
    return found or f"an addend is {addends[0]} with multiplier {multiplier} and divisor {divisor}"


def _biased(match: Match, multiplier: int, shift: int, addends: Integers) -> ItaRequant | None:
    """The same as the passes choose (``linear_requant.as_ita``); where sums are too large, which a rule of its own
    says, the nearest to that."""
    sums = largest_sums(match.const("weight").astype(np.int64))
    return with_addend(multiplier, shift, addends, sums) or with_addend(multiplier, shift, addends)


def _unbiased(multiplier: int, shift: int, addends: Integers) -> ItaRequant | None:
    found = with_addend(0, shift, addends)
    return replace(found, multiplier=multiplier) if found is not None else None
