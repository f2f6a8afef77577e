"""Chooses the gain of the converters and the numbers of the stage after them for a layer, with the least error.

The weights, the requantisation to replace, ``floor(m * sum + b)`` clipped to 7 bits, and the range of the input are
known at compile time; the distribution of values is an estimate. Sums of ternary weights and many inputs are assumed to
be normally distributed. Their spread follows from the weights and from the range of the result, which calibration chose
around the values that occurred, as in the core's expectation. A few hundred sums of every output channel, at equal
steps of probability, are evaluated in both arithmetics for every gain and shift, and the pair with the least mean
square difference is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from match_diana.analog import limits
from match_diana.analog.arithmetic import Norm, converted

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]

#: Sums that are tried for each output channel.
_SAMPLES = 256
#: Expected root mean square of the error, in steps of 7 bits, up to which a layer becomes analog. Converters of 6 bits
#: are off by 0.6 where they do not saturate; more comes from large addends, which leave few bits to multipliers.
ERROR_MAX = 1.5
# Guesses about values of 7 bits, as shares of the range: inputs after a ReLU and others, results before clipping.
_RELU_MEAN, _RELU_SD, _LINEAR_SD, _RESULT_SD = 0.10, 0.15, 0.2, 0.5
#: Correlation of values under the same window.
_NEIGHBOURS = 0.5


@dataclass(frozen=True, slots=True)
class Wanted:
    """``floor(slope * sum + offset)`` of sums of ``cells`` [K, C, FY, FX], cut to ``low``..63; ``slope`` and ``offset``
    have a value for each output channel. ``positive``: inputs are not below 0."""

    cells: Ints
    slope: Reals
    offset: Reals
    low: int
    positive: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """The numbers; ``error``: expected root mean square difference from the requested result, in its steps;
    ``relative``: the same over the spread of the results."""

    norm: Norm
    error: float
    relative: float


def fit(wanted: Wanted) -> Fit:
    """The best gain, shift, multipliers and addends. Channels of zeros have no sum that a slope would matter for."""
    used = wanted.cells.reshape(wanted.cells.shape[0], -1).any(axis=1)
    wanted = replace(wanted, slope=np.where(used, wanted.slope, 0.0))
    sums = _sums(wanted)  # [G, K, samples]
    real = wanted.slope[:, None] * sums.sum(axis=0) + wanted.offset[:, None]
    goal = np.clip(np.floor(real), wanted.low, limits.OUTPUT_MAX)
    spread = float(np.sqrt(goal.var(axis=1).mean()))
    best: Fit | None = None
    for gain_shift in range(limits.GAIN_SHIFT_MAX + 1):
        gain = 1 << gain_shift
        codes = converted(sums, gain).sum(axis=0)
        for shift in range(limits.SHIFT_MAX + 1):
            norm = _norm(wanted, gain, shift, codes, real)
            if norm is None:
                break
            wide = (codes * norm.multiplier[:, None] + norm.addend[:, None]) >> shift
            off = np.clip(wide, wanted.low, limits.OUTPUT_MAX) - goal
            error = float(np.sqrt(np.square(off).mean()))
            if best is None or error < best.error:
                best = Fit(norm, error, error / max(spread, 1e-9))
    assert best is not None  # gain 1 and shift 0 give numbers of any size, cut to 8 bits
    return best


def _norm(wanted: Wanted, gain: int, shift: int, codes: Ints, real: Reals) -> Norm | None:
    """The numbers for a gain and a shift: a code counts ``gain``, and the addend takes what is left on average over
    the results that are not cut, so that no channel is off as a whole. (Rounding down takes half a step of the result
    from real values, half of the last bit less from those before the shift.) None where larger shifts only cut off more
    multipliers."""
    scale = wanted.slope * gain * (1 << shift)
    if shift and np.abs(scale).min(where=scale != 0, initial=np.inf) > limits.PARAMETER_MAX:
        return None
    multiplier = _eight_bits(scale)
    inside = (real > wanted.low) & (real < limits.OUTPUT_MAX)
    inside |= ~inside.any(axis=1, keepdims=True)
    addend = np.mean(real * (1 << shift) - codes * multiplier[:, None], axis=1, where=inside)
    return Norm(gain, multiplier, _eight_bits(addend - 0.5), shift, wanted.low == 0)


def _eight_bits(values: Reals) -> Ints:
    return np.clip(np.rint(values), limits.PARAMETER_MIN, limits.PARAMETER_MAX).astype(np.int64)


def _sums(wanted: Wanted) -> Ints:
    """Sums of every group of input channels that are expected, [G, K, samples]."""
    counts = limits.groups(wanted.cells.shape[1], wanted.cells.shape[2] * wanted.cells.shape[3])
    ends = np.cumsum((0, *counts))
    parts = [wanted.cells[:, first:last] for first, last in pairwise(ends)]
    span = limits.INPUT_MAX + 1
    mean, sd = (_RELU_MEAN * span, _RELU_SD * span) if wanted.positive else (0.0, _LINEAR_SD * 2 * span)
    moments = [_moments(part, mean, sd) for part in parts]
    total_sd = np.sqrt(sum(np.square(spread) for _, spread in moments))
    scale = _result_sd(wanted) / np.hypot(total_sd, _result_sd(wanted))
    steps = _normal_steps(len(parts))
    return np.stack(
        [
            np.rint((centre * scale)[:, None] + (spread * scale)[:, None] * step[None, :]).astype(np.int64)
            for (centre, spread), step in zip(moments, steps, strict=True)
        ]
    )


def _moments(cells: Ints, mean: float, sd: float) -> tuple[Reals, Reals]:
    """Guess of mean and standard deviation of sums; values of one channel under a window are alike."""
    taps = cells.reshape(*cells.shape[:2], -1)
    total, squares = taps.sum(axis=2).astype(np.float64), np.square(taps).sum(axis=2).astype(np.float64)
    variance = (_NEIGHBOURS * np.square(total) + (1 - _NEIGHBOURS) * squares).sum(axis=1) * sd * sd
    return total.sum(axis=1) * mean, np.sqrt(np.maximum(variance, 1.0))


def _result_sd(wanted: Wanted) -> Reals:
    """Spread of sums implied by the range of the result."""
    span = 2 * (limits.OUTPUT_MAX + 1)
    return _RESULT_SD * span / np.maximum(np.abs(wanted.slope), 1e-9)


@lru_cache(maxsize=8)
def _normal_steps(groups: int) -> tuple[Reals, ...]:
    """Quantiles of the normal distribution, for each group in another fixed order."""
    normal = NormalDist()
    middle = np.array([normal.inv_cdf((index + 0.5) / _SAMPLES) for index in range(_SAMPLES)])
    return tuple(np.random.default_rng(group).permutation(middle) for group in range(groups))
