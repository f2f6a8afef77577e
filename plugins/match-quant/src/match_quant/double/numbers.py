"""Numbers of a requantisation with two roundings that is nearest to one with a single rounding.

Single: ``floor((sum * M + A) / 2^S)``, of the real function ``t = sum * M / 2^S + A / 2^S - 1/2``. Double: ``h =
floor(((sum + B) * N + 2^30) / 2^31)``, then ``h / D`` to the nearest integer, halves away from zero, plus ``zero``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = "NDArray[np.int64]"
Reals: TypeAlias = "NDArray[np.float64]"

#: Bits that the product loses first.
HIGH = 31
#: Addends and sums stay within 32 bits.
_WORD = 1 << 31
#: Sums on both sides of each step of the single rounding: the steps of the two differ by less than two sums.
_AROUND = np.arange(-3, 4)


@dataclass(frozen=True, slots=True)
class Single:
    """``clip(floor((sum * multiplier + addend) / 2^shift), low, high)``; arrays by channel, with the least and the
    largest sum of each."""

    multiplier: Ints
    addend: Ints
    shift: int
    low: int
    high: int
    least: Ints
    most: Ints


@dataclass(frozen=True, slots=True)
class Double:
    """The same with two roundings: arrays by channel, ``shift`` of the second one. ``differing``: of the sums whose
    results do not saturate, the share with another result, by one."""

    multiplier: Ints
    addend: Ints
    shift: Ints
    zero: int
    differing: float

    def result(self, sums: Ints, low: int, high: int) -> Ints:
        """Results for sums [channels, any], clipped."""
        product = (sums + self.addend[:, None]) * self.multiplier[:, None]
        first = (product + (1 << (HIGH - 1))) >> HIGH
        half = (np.int64(1) << self.shift)[:, None] >> 1
        moved = first + half - ((first < 0) & (half > 0))
        return np.asarray(np.clip((moved >> self.shift[:, None]) + self.zero, low, high))


def doubled_numbers(single: Single, shift_max: int) -> Double | str:
    """The nearest numbers, or why there are none whose results are within 1 of the single rounding for every sum."""
    still = single.multiplier == 0
    real = np.where(still, 0.5, np.ldexp(single.multiplier.astype(np.float64), -single.shift))
    if np.any(real <= 0) or np.any(real >= 1):
        return f"a factor is {real.min() if real.min() <= 0 else real.max():.3g}; it must be between 0 and 1"
    fraction, exponent = np.frexp(real)
    multiplier, shift = np.rint(np.ldexp(fraction, HIGH)).astype(np.int64), -exponent.astype(np.int64)
    above = multiplier == 1 << HIGH
    multiplier, shift = np.where(above, multiplier >> 1, multiplier), np.where(above, shift - 1, shift)
    offset = np.ldexp(single.addend.astype(np.float64), -single.shift) - 0.5
    zero, addend = _offsets(real, np.where(still, 0.0, offset), still, single.low, single.high)
    # Half of a sum that is much less than a step: such channels have one result.
    middle = (single.least + single.most) // 2
    steps = np.ceil(np.log2(np.maximum(single.most - middle, 1) + 1.0)).astype(np.int64)
    constant = np.clip(single.addend >> single.shift, single.low, single.high) - zero
    shift = np.where(still, steps, shift)
    addend = np.where(still, (constant << (steps + 1)) - middle, addend)
    if shift.min() < 0 or shift.max() > shift_max:
        return f"a factor of {real.min():.3g} needs a shift of {shift.max()} bits, the unit has {shift_max}"
    ends = np.abs(addend) + np.maximum(np.abs(single.least), np.abs(single.most))
    if ends.max() >= _WORD:
        return f"a sum reaches {int(ends.max())}"
    found = Double(multiplier, addend, shift, zero, 0.0)
    sums = _near_steps(single)
    off = np.abs(found.result(sums, single.low, single.high) - _single(single, sums))
    if off.max() > 1:
        return f"a result would differ by {int(off.max())}"
    near = off.mean(axis=1) * _AROUND.size * real  # a step is as far from the next as 1 / factor sums
    return Double(multiplier, addend, shift, zero, float(np.minimum(near, 1.0).mean()))


def _offsets(real: Reals, offset: Reals, still: NDArray[np.bool_], low: int, high: int) -> tuple[int, Ints]:
    """The zero point with which integers in front of the factors come nearest to the offsets, and these integers;
    channels that are ``still`` do not count."""
    zeros = np.arange(low, high + 1, dtype=np.float64)[:, None]
    exact = (offset[None, :] - zeros) / real[None, :]
    lost = np.where(still, 0.0, np.abs(exact - np.rint(exact)) * real).max(axis=1)
    ties = np.flatnonzero(lost <= lost.min() + 2.0**-12)
    best = ties[np.argmin(np.where(still, 0.0, np.abs(exact[ties])).max(axis=1))]
    return int(zeros[best, 0]), np.rint(exact[best]).astype(np.int64)


def _single(single: Single, sums: Ints) -> Ints:
    whole = (sums * single.multiplier[:, None] + single.addend[:, None]) >> single.shift
    return np.asarray(np.clip(whole, single.low, single.high))


def _near_steps(single: Single) -> Ints:
    """Sums [channels, any] around those from which on each result is reached, and the ends of the range."""
    levels = np.arange(single.low, single.high + 1, dtype=np.float64)[None, :]
    wanted = np.ldexp(levels, single.shift) - single.addend[:, None]
    first = np.ceil(wanted / np.maximum(single.multiplier, 1)[:, None]).astype(np.int64)
    around = (first[:, :, None] + _AROUND).reshape(len(first), -1)
    least, most = single.least[:, None], single.most[:, None]
    return np.concatenate((np.clip(around, least, most), least, most), axis=1)
