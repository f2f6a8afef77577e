"""Requantisations with two roundings in patterns: their structure, rule and numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_core.contract.structure import Constraint, Match, Op, Structure
from match_core.patterns.captures import number
from match_core.patterns.rule import rule
from match_core.patterns.structures import arithmetic, constants
from numpy.typing import NDArray

_NUMBERS = ("multiplier", "addend", "divisor", "zero", "low", "high")


@dataclass(frozen=True, slots=True)
class Doubled:
    """``clip(round(round((sum + addend) * multiplier / 2^31) / 2^shift) + zero, low, high)``; arrays have a value for
    each channel."""

    multiplier: NDArray[np.int32]
    addend: NDArray[np.int32]
    shift: NDArray[np.int32]
    zero: int
    low: int
    high: int


def double_requantised(inner: Structure, *types: str) -> Op:
    """A tensor and its requantisation with two roundings to these types ("U8", "I8")."""
    return Op(arithmetic("RequantDouble", *types), "requant", (inner, *constants(*_NUMBERS)))


def doubled(match: Match, channels: int) -> Doubled:
    """The numbers of a match for its channels."""
    arrays = (match.const(name).reshape(-1) for name in ("multiplier", "addend", "divisor"))
    multiplier, addend, divisor = (np.broadcast_to(values, (channels,)) for values in arrays)
    shift = np.log2(divisor.astype(np.float64)).astype(np.int32)
    ends = (number(match, name) for name in ("zero", "low", "high"))
    return Doubled(multiplier.astype(np.int32), addend.astype(np.int32), shift, *ends)


def double_rule(shift_max: int) -> Constraint:
    """Shifts of the second rounding are within those of the unit."""

    @rule("requantisation", f"results are rounded twice, the second time by a shift of at most {shift_max} bits")
    def requant(match: Match) -> str | None:
        most = int(match.const("divisor").max()).bit_length() - 1
        return None if most <= shift_max else f"the shift is {most}"

    return requant
