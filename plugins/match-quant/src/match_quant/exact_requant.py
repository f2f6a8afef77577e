"""Finds ``clip((sum * M + B) >> S, lo, hi)`` that equals a step function for every sum.

A function of integers that never falls is known by its thresholds: the least sum that gives each result. For given M
and S, every threshold bounds B from below and the sum before it from above, so the existence of B is decided exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from match_quant.requant_check import overflows
from match_quant.sum_forms import Exact, Form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_quant.requant import Arithmetic


@dataclass(frozen=True, slots=True)
class Steps:
    """Results from ``lo`` to ``hi``: ``at[c][k]`` is the least sum of channel c whose result exceeds ``lo + k``.
    ``low``, ``high``: the smallest and largest sums; ``slope``: results per sum; ``turn``: the first result where a
    test of a sign is not negative, in most channels."""

    lo: int
    hi: int
    at: list[NDArray[np.int64]]
    low: list[int]
    high: list[int]
    slope: list[Fraction]
    turn: int

    def part(self, lo: int, hi: int) -> Steps:
        """The function clipped to other bounds inside of its own."""
        rows = [row[lo - self.lo : hi - self.lo] for row in self.at]
        return Steps(lo, hi, rows, self.low, self.high, self.slope, self.turn)


@dataclass(frozen=True, slots=True)
class Found:
    """Multipliers and addends per channel, and the shift."""

    multiplier: list[int]
    addend: list[int]
    shift: int


def steps_of(form: Form, sums: tuple[Exact, Exact], lo: int, hi: int) -> Steps | None:
    """The thresholds of a form with bounds; None if it falls somewhere."""
    levels = np.arange(lo + 1, hi + 1)
    at, slope, turns = [], [], []
    for c in range(len(sums[0])):
        high, low = ((int(line.m[c]), int(line.b[c]), int(line.d[c])) for line in (form.high, form.low))
        test = (int(form.test.m[c]), int(form.test.b[c])) if form.test is not None else (0, 0)
        if high[0] < 0 or low[0] < 0 or test[0] < 0:
            return None
        first, last = int(sums[0][c]), int(sums[1][c])
        # The first sum whose test is not negative.
        zero = -(test[1] // test[0]) if test[0] else (first if test[1] >= 0 else last + 1)
        if form.test is not None and first < zero <= last:
            before, after = _value(low, zero - 1), _value(high, zero)
            if min(max(before, lo), hi) > min(max(after, lo), hi):
                return None
        at.append(_thresholds(levels, low, high, zero if form.test is not None else None, first, last))
        turns.append(min(max(_value(high, zero), lo), hi))
        slope.append(Fraction(high[0], high[2]))
    turn = max(set(turns), key=turns.count, default=lo)
    return Steps(lo, hi, at, [int(v) for v in sums[0]], [int(v) for v in sums[1]], slope, turn)


def _value(line: tuple[int, int, int], total: int) -> int:
    m, b, d = line
    return (total * m + b) // d


def _thresholds(
    levels: NDArray[np.int64],
    low: tuple[int, int, int],
    high: tuple[int, int, int],
    zero: int | None,
    first: int,
    last: int,
) -> NDArray[np.int64]:
    """For each level the least sum in [first, last + 1] whose result is at least the level; last + 1 if none is.
    ``low`` counts below the sum ``zero``, ``high`` from there on; None: ``high`` everywhere."""

    def least(line: tuple[int, int, int]) -> NDArray[np.int64]:
        m, b, d = line
        if m == 0:
            return np.where(levels <= b // d, first, last + 1)
        exact = _exact(levels, abs(b) + d * int(np.abs(levels).max(initial=0)))
        found: NDArray[np.int64] = np.clip(-((b - exact * d) // m), first, last + 1).astype(np.int64)
        return found

    if zero is None:
        return least(high)
    found = np.maximum(least(high), zero) if zero <= last else np.full(levels.shape, last + 1)
    return np.where((before := least(low)) < zero, before, found) if first < zero else found


def _exact(values: NDArray[np.int64], largest: int) -> NDArray[Any]:
    """The values in an arithmetic that holds results up to ``largest``: 64 bits, or Python's integers."""
    return values if largest < 1 << 62 else values.astype(object)


def solve(steps: Steps, offset: list[int], limits: Arithmetic) -> Found | None:
    """Numbers within ``limits``; None if there are none. The kernel's sums are the function's sums plus ``offset``
    per channel."""
    most = max(steps.slope, default=Fraction(0))
    shifts = [s for s in range(limits.shift_max, limits.shift_min - 1, -1) if most * (1 << s) < limits.multiplier_max]
    for shift in shifts[:1]:
        found = [_channel(steps, c, shift, limits.multiplier_max) for c in range(len(steps.at))]
        if any(pair is None for pair in found):
            continue
        multiplier = [pair[0] for pair in found if pair is not None]
        addend = [pair[1] - pair[0] * off for pair, off in zip(found, offset, strict=True) if pair is not None]
        ends = [[end + off for end, off in zip(ends, offset, strict=True)] for ends in (steps.low, steps.high)]
        m, b, low, high = (np.array(values, object) for values in (multiplier, addend, *ends))
        if not overflows(m, b, low, high, limits.limit):
            return Found(multiplier, addend, shift)
    return None


def _channel(steps: Steps, c: int, shift: int, most: int) -> tuple[int, int] | None:
    """Multiplier and addend of a channel."""
    exact = steps.slope[c] * (1 << shift)
    near = round(exact)
    levels = np.arange(steps.lo + 1, steps.hi + 1)
    largest = (max(abs(steps.lo), abs(steps.hi)) << shift) + (near + 1) * max(abs(steps.low[c]), abs(steps.high[c]) + 1)
    at, levels = _exact(steps.at[c], largest), _exact(levels, largest) << shift
    for multiplier in (near, near + 1, near - 1):
        if not 0 <= multiplier <= most:
            continue
        above, below = at <= steps.high[c], at > steps.low[c]
        bounds = levels - multiplier * at
        least = int(bounds[above].max()) if above.any() else None
        most_addend = int(bounds[below].min()) + multiplier - 1 if below.any() else None
        if least is None or most_addend is None:
            return multiplier, (least if least is not None else most_addend if most_addend is not None else 0)
        if least <= most_addend:
            return multiplier, (least + most_addend) // 2
    return None
