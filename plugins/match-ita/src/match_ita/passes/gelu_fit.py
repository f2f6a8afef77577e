"""Checks whether a table is a GELU: finds scales and zero points with ``table[q] = GELU((q - zero_x) scale_x) / scale_y
+ zero_y``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from match_quant.expectation import Reals
from numpy.typing import NDArray

_VALUES = np.arange(-128, 128)
#: Values less a zero point.
_LEAST, _OFFSETS = -255, np.arange(-255, 256)
#: Scales of the input that are tried.
_SCALE_MIN, _SCALE_MAX, _STEPS = 0.005, 0.25, 48
#: One in so many zero points is tried first, then all around the best ones: the error has few valleys (a test compares
#: this with all zero points).
_STRIDE, _TOPS = 4, 3
#: A GELU that is told from a ReLU or a straight line: its least value, -0.17, is at least 2 LSB below its zero, and the
#: table reaches from below x = -1 to above x = 1.
_SCALE_Y_MAX, _X_LEAST, _X_MOST = 0.085, -1.0, 1.0
#: Beyond this GELU is x or 0, within 2e-8.
_FAR = 5.6
_GRID = 1 << 14


@dataclass(frozen=True, slots=True)
class GeluTable:
    """``residual``: the largest difference of an entry from ``GELU(..) / scale_y + zero_y``, not rounded, in LSB;
    ``rms``: the root mean square of all."""

    scale_x: float
    zero_x: int
    scale_y: float
    zero_y: float
    residual: float
    rms: float

    @property
    def is_gelu(self) -> bool:
        """Whether the fitted part of the function shows its bend."""
        least, most = (-128 - self.zero_x) * self.scale_x, (127 - self.zero_x) * self.scale_x
        inside = -128.5 <= self.zero_y < 127.5 and self.scale_y <= _SCALE_Y_MAX
        return inside and least <= _X_LEAST and most >= _X_MOST


def gelu(x: Reals) -> Reals:
    """x * Phi(x), by linear interpolation (within 1e-7)."""
    grid, values = _samples()
    result: Reals = np.where(np.abs(x) < _FAR, np.interp(x, grid, values), np.maximum(x, 0.0))
    return result


def fit(table: NDArray[np.int8]) -> GeluTable | None:
    """The best fit of the 256 entries (least squares); None where none comes near, and for tables without the bend."""
    y = table.astype(np.float64).reshape(-1)
    if y.size != _VALUES.size or y.max() - y.min() < 8:
        return None
    if np.all(np.diff(y) >= 0):
        return None  # it never falls: no bend
    scales, curves = _coarse()
    zeros = _zeros(y)
    some = [found for zero in zeros[::_STRIDE] if (found := _best_of(y, zero, scales, curves))]
    tops = sorted(some, key=lambda found: found.rms)[:_TOPS]
    around = {zero for found in tops for zero in range(found.zero_x - _STRIDE + 1, found.zero_x + _STRIDE)}
    more = [_best_of(y, zero, scales, curves) for zero in zeros if zero in around]
    best = min((*some, *(found for found in more if found)), key=lambda found: found.rms, default=None)
    if best is None:
        return None
    step = scales[1] / scales[0]
    for _ in range(6):
        near = best.scale_x * np.geomspace(1 / step, step, 13)
        curves = gelu(_OFFSETS * near[:, None])
        beside = range(max(best.zero_x - 1, -128), min(best.zero_x + 1, 127) + 1)
        for candidate in [_best_of(y, zero, near, curves) for zero in beside]:
            best = candidate if candidate is not None and candidate.rms < best.rms else best
        step **= 0.3
    return best if best.is_gelu else None


@lru_cache(maxsize=1)
def _samples() -> tuple[Reals, Reals]:
    grid = np.linspace(-_FAR, _FAR, _GRID)
    return grid, np.array([0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in grid])


@lru_cache(maxsize=1)
def _coarse() -> tuple[Reals, Reals]:
    """Scales to try first, and GELU of all offsets at each of them: every table needs the same."""
    scales = np.geomspace(_SCALE_MIN, _SCALE_MAX, _STEPS)
    return scales, gelu(_OFFSETS * scales[:, None])


def _zeros(y: Reals) -> range:
    """Zero points to try: GELU is least at -0.75, a little below its zero."""
    last_least = int(np.flatnonzero(y == y.min())[-1]) - 128
    low, high = max(last_least - 8, -128), min(last_least + 160, 127)
    return range(low, high + 1)


def _best_of(y: Reals, zero: int, scales: Reals, curves: Reals) -> GeluTable | None:
    """The best of these scales of the input; ``curves``: GELU of all offsets at each. The two parameters of the result
    follow by least squares, from the entries that are not saturated."""
    free = (y > -128) & (y < 127)
    if np.count_nonzero(free) < 8:
        return None
    first = _VALUES[0] - zero - _LEAST
    g = curves[:, first : first + _VALUES.size]
    inside, target = g[:, free], y[free]
    centred = inside - inside.mean(axis=1, keepdims=True)
    factor = (centred @ (target - target.mean())) / np.maximum(np.square(centred).sum(axis=1), 1e-30)
    offset = target.mean() - factor * inside.mean(axis=1)
    error = np.clip(factor[:, None] * g + offset[:, None], -128, 127) - y
    rms = np.where(factor > 0, np.sqrt(np.square(error).mean(axis=1)), np.inf)
    index = int(np.argmin(rms))
    if not np.isfinite(rms[index]):
        return None
    residual = float(np.abs(error[index]).max())
    scale_x, scale_y = float(scales[index]), 1 / float(factor[index])
    return GeluTable(scale_x, zero, scale_y, float(offset[index]), residual, float(rms[index]))
