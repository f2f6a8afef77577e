"""Multipliers of few bits and shifts that approximate a real-valued factor, within the limits of a unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.hardware import RequantSpec


@dataclass(frozen=True, slots=True)
class NarrowFactor:
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


def nearest(slope: float, spec: RequantSpec) -> NarrowFactor | None:
    """The factor with the least error, of equal ones that with the larger multiplier; None where there is none
    (slope <= 0 or above the largest multiplier, or so small that it rounds to 0)."""
    best: NarrowFactor | None = None
    for shift in range(spec.shift_min, spec.shift_max + 1):
        multiplier = round(slope * (1 << shift))
        if not 1 <= multiplier <= spec.multiplier_max:
            continue
        found = NarrowFactor(multiplier, shift)
        if best is None or found.error(slope, 1) <= best.error(slope, 1):
            best = found
    return best


def above(slope: float, spec: RequantSpec) -> NarrowFactor | None:
    """The least factor that is not below a positive slope; None where that is too large."""
    return _finest(slope, spec, math.ceil)


def below(slope: float, spec: RequantSpec) -> NarrowFactor | None:
    """The largest factor that is not above a positive slope; None where that is too large, or rounds to 0."""
    found = _finest(slope, spec, math.floor)
    return found if found is not None and found.multiplier > 0 else None


def _finest(slope: float, spec: RequantSpec, rounded: Callable[[float], int]) -> NarrowFactor | None:
    """With the largest shift that leaves the multiplier its bits."""
    for shift in range(spec.shift_max, spec.shift_min - 1, -1):
        multiplier = rounded(slope * (1 << shift))
        if multiplier <= spec.multiplier_max:
            return NarrowFactor(multiplier, shift)
    return None
