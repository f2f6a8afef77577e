"""8-bit multipliers and shifts of ITA that approximate a real-valued factor."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from match_ita.ita.limits import MULTIPLIER_MAX, SHIFT_MAX


@dataclass(frozen=True, slots=True)
class EightBit:
    """``multiplier`` / 2^``shift`` approximates a factor."""

    multiplier: int
    shift: int

    @property
    def slope(self) -> float:
        """The factor itself."""
        return self.multiplier / float(1 << self.shift)

    def error(self, slope: float, acc_bound: int) -> float:
        """How far a product is off before it is rounded where it should be one with ``slope``, in LSB of the result.
        ``acc_bound``: largest size of an accumulator whose result does not saturate."""
        return abs(self.slope - slope) * acc_bound


def nearest(slope: float) -> EightBit | None:
    """The factor with the least error, of equal ones that with the larger multiplier; None where there is none
    (slope <= 0 or above 255, or so small that it rounds to 0)."""
    best: EightBit | None = None
    for shift in range(SHIFT_MAX + 1):
        multiplier = round(slope * (1 << shift))
        if not 1 <= multiplier <= MULTIPLIER_MAX:
            continue
        found = EightBit(multiplier, shift)
        if best is None or found.error(slope, 1) <= best.error(slope, 1):
            best = found
    return best


def above(slope: float) -> EightBit | None:
    """The least factor that is not below a positive slope; None where that is too large."""
    return _finest(slope, math.ceil)


def below(slope: float) -> EightBit | None:
    """The largest factor that is not above a positive slope; None where that is too large, or rounds to 0."""
    found = _finest(slope, math.floor)
    return found if found is not None and found.multiplier > 0 else None


def _finest(slope: float, rounded: Callable[[float], int]) -> EightBit | None:
    """With the largest shift that leaves the multiplier 8 bits."""
    for shift in range(SHIFT_MAX, -1, -1):
        multiplier = rounded(slope * (1 << shift))
        if multiplier <= MULTIPLIER_MAX:
            return EightBit(multiplier, shift)
    return None
