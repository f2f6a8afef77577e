"""The independent judge of a requantisation: exact bounds and the exact largest error, by evaluating both functions
at every accumulator where either of them can change. Shares nothing with the code that chooses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


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


def largest_error(
    real_multiplier: Reals,
    real_offset: Reals,
    multiplier: Ints,
    addend: Ints,
    shift: int,
    acc_min: Ints,
    acc_max: Ints,
    lo: int,
    hi: int,
) -> int:
    """The largest ``|clip(floor((acc*M + B) / 2^S)) - clip(round(m*acc + c))|`` over all integers acc in
    [acc_min, acc_max], all channels.

    Both are step functions of acc that do not decrease, so their difference can only change where one of them steps.
    For each of the ``hi - lo`` steps the accumulator before, at and after it is evaluated, and both ends.
    """
    if multiplier.size == 0:
        return 0
    levels = np.arange(lo + 1, hi + 1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        real_steps = (levels[None, :] - 0.5 - real_offset[:, None]) / real_multiplier[:, None]
        integer_steps = (levels[None, :] * 2.0**shift - addend[:, None]) / multiplier[:, None].astype(np.float64)
    around = np.concatenate(
        [np.floor(steps) + d for steps in (real_steps, integer_steps) for d in (-1, 0, 1, 2)], axis=1
    )
    low, high = acc_min[:, None].astype(np.float64), acc_max[:, None].astype(np.float64)
    around = np.where(np.isfinite(around), around, low)
    points = np.concatenate((np.clip(around, low, high), low, high), axis=1).astype(np.int64)
    sums = points * multiplier[:, None] + addend[:, None]
    integer = np.clip(sums >> shift, lo, hi)
    real = np.clip(np.floor(real_multiplier[:, None] * points + real_offset[:, None] + 0.5), lo, hi)
    return int(np.max(np.abs(integer - real)))
