"""Independent check of a requantisation: exact bounds and the exact largest error, from both functions at every
accumulator where either can change. It shares no code with the choice of the integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]

#: Channels that are checked together: few enough for the processor's cache, which makes it four times as fast.
_ROWS = 64
#: Accumulators that are evaluated for each step of the results.
_STEP_POINTS = 4
#: Numbers below this have rounding errors in float64 that are far below the margin.
_EXACT_END, _MARGIN = 2.0**40, 2.0**-8
#: More than the rounding error of a step's position: positions of interest are below 2^32, their error below 2^-19.
_NEAR = 2.0**-12


def overflows(multiplier: Ints, addend: Ints, acc_min: Ints, acc_max: Ints, limit: int) -> bool:
    """Whether acc * M, or acc * M + B, or B leaves [-limit, limit) for a reachable accumulator.

    Products are linear in acc, so the two ends of its range (and 0, where a sum may start) decide. Python integers.
    """
    rows = zip(multiplier.tolist(), addend.tolist(), acc_min.tolist(), acc_max.tolist(), strict=True)
    for m, b, low, high in rows:
        for acc in (low, high, 0):
            values = (acc * m, acc * m + b, b)
            if min(values) < -limit or max(values) >= limit:
                return True
    return False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two functions of the accumulators acc in [``acc_min``, ``acc_max``]: ``floor(m*acc + c + 1/2)`` in real numbers,
    and ``floor((acc*M + B) / 2^S)`` in integers. All but the shift S have one number for each channel."""

    real_multiplier: Reals
    real_offset: Reals
    multiplier: Ints
    addend: Ints
    shift: int
    acc_min: Ints
    acc_max: Ints

    def is_certainly_near(self) -> bool:
        """Whether both differ by less than 1 before they are rounded, for all accumulators, so that the results differ
        by at most 1. The difference is linear in acc, so both ends decide. False also where float64 cannot tell."""
        worst = largest = 0.0
        for acc in (self.acc_min, self.acc_max):
            integer = (acc * self.multiplier + self.addend) / 2.0**self.shift
            real = self.real_multiplier * acc + self.real_offset + 0.5
            largest = max(largest, float(np.abs(integer).max(initial=0.0)), float(np.abs(real).max(initial=0.0)))
            worst = max(worst, float(np.abs(integer - real).max(initial=0.0)))
        return worst < 1 - _MARGIN and largest < _EXACT_END

    def largest_error(self, lo: int, hi: int) -> int:
        """The largest difference of the results, clipped to [``lo``, ``hi``], over all accumulators and channels.

        Both are monotonic step functions of acc, so their difference changes only where one of them steps. For each of
        the ``hi - lo`` steps it evaluates the first accumulator behind it, and both ends; or all accumulators if those
        are fewer.
        """
        worst = 0
        for first in range(0, self.multiplier.size, _ROWS):
            part = slice(first, first + _ROWS)
            m, b, low, high = (
                values[part, None] for values in (self.multiplier, self.addend, self.acc_min, self.acc_max)
            )
            real_m, real_b = self.real_multiplier[part, None], self.real_offset[part, None]
            span = int(np.max(high - low))
            if span <= _STEP_POINTS * (hi - lo):
                points = np.minimum(low + np.arange(span + 1, dtype=np.int64), high)
            else:
                points = _behind_steps(real_m, real_b, m, b, self.shift, low, high, lo, hi)
            integer = points * m
            integer += b
            integer >>= self.shift
            real = real_m * points
            real += real_b
            real += 0.5
            np.floor(real, out=real)
            np.clip(real, lo, hi, out=real)
            real -= np.clip(integer, lo, hi, out=integer)
            worst = max(worst, int(real.max()), -int(real.min()))
        return worst


def _behind_steps(
    real_m: Reals, real_b: Reals, m: Ints, b: Ints, shift: int, low: Ints, high: Ints, lo: int, hi: int
) -> Ints:
    """The first accumulators behind all steps of both functions, and both ends; one row per channel. Rounding moves a
    step by less than ``_NEAR``, so the first one behind it is one of two."""
    levels = np.arange(lo + 1, hi + 1, dtype=np.float64)[None, :]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        real_steps = (levels - 0.5 - real_b) / real_m
        integer_steps = (levels * 2.0**shift - b) / m.astype(np.float64)
    steps = np.concatenate((real_steps, integer_steps), axis=1)
    steps = np.floor(np.where(np.isfinite(steps), steps, low) + _NEAR)
    return np.concatenate((np.clip(steps, low, high), np.clip(steps + 1, low, high), low, high), axis=1).astype(
        np.int64
    )
