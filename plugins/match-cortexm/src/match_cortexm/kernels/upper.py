"""Requantisation in 32-bit lanes: ``clip((((sum << left) + addend) * multiplier >> 32) >> right)``.

Vectors have no 64-bit sums, so the addend joins the sum before the product. Both forms never decrease with the sum:
they are equal if each result's threshold, the least sum that gives it, is equal. That is checked for all results; the
multiplier may change by a few units to make it so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_cortexm.kernels.requant import Requant

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Changes of the multiplier, and of the addend, that are tried.
_MULTIPLIERS = (0, *(sign * step for step in (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256) for sign in (1, -1)))
_ADDENDS = (0, 1, -1, 2, -2)
#: Shifts of the sum that are tried; results times 2^(32 + MOST_RIGHT) fit 63 bits.
MOST_LEFT, LEAST_LEFT, MOST_RIGHT = 15, 5, 23


@dataclass(frozen=True)
class Upper:
    """Numbers for one layer: int32 [channels] each, the shifts, the bounds."""

    multiplier: NDArray[np.int32]
    addend: NDArray[np.int32]
    left: int
    right: int
    low: int
    high: int


def upper_of(requant: Requant, most: NDArray[np.int64]) -> Upper | None:
    """The numbers that give the same results for all sums up to ``most`` in absolute value, per channel; None if there
    are none."""
    m, b = requant.multipliers[0], requant.addend
    varied = m != 0
    if bool((m < 0).any()) or requant.shift > MOST_RIGHT or bool((np.abs(b) >= 1 << 62).any()):
        return None
    results = np.arange(requant.low + 1, requant.high + 1, dtype=np.int64)
    exact = -((b[varied, None] - (results << (32 + requant.shift))) // m[varied, None])
    wanted = np.clip(exact, -most[varied, None], most[varied, None] + 1)
    for left in range(min(MOST_LEFT, MOST_RIGHT - requant.shift), LEAST_LEFT - 1, -1):
        right = requant.shift + left
        found = _search(m[varied], b[varied], wanted, results, right, left, most[varied])
        same = _same(b[~varied], requant, left, most[~varied]) if found is not None else None
        if found is None or same is None:
            continue
        multiplier, addend = np.zeros(len(m), np.int32), np.zeros(len(m), np.int32)
        multiplier[varied], addend[varied] = found
        multiplier[~varied], addend[~varied] = same
        return Upper(multiplier, addend, left, right, requant.low, requant.high)
    return None


#: The addend of channels with the multiplier 0, whose sums are 0.
_FAR = 1 << 30


def _same(
    b: NDArray[np.int64], requant: Requant, left: int, most: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int] | None:
    """Multipliers and addend of channels that always have one result; None if they exceed 32 bits."""
    value = np.clip(b >> (32 + requant.shift), requant.low, requant.high)
    multiplier = (2 * value + 1) << (requant.shift + left + 1)
    return None if bool((np.abs(multiplier) >= 1 << 31).any()) or bool(most.any()) else (multiplier, _FAR)


def _search(
    m: NDArray[np.int64],
    b: NDArray[np.int64],
    wanted: NDArray[np.int64],
    results: NDArray[np.int64],
    right: int,
    left: int,
    most: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """Multipliers and addends for one shift."""
    multiplier, addend = m.copy(), np.zeros_like(m)
    left_over = np.arange(len(m))
    for step in _MULTIPLIERS:
        middle = wanted[left_over, wanted.shape[1] // 2]  # where the two functions meet
        factor = m[left_over] + step
        start = _meeting(m[left_over], b[left_over], factor, middle, left)
        if start is None:
            return None
        done = (factor <= 0) | (factor >= 1 << 31)
        for move in () if done.any() else _ADDENDS:
            good = _equal(factor, start + move, wanted[left_over], results, right, left, most[left_over])
            if good is None:
                return None
            new = good & ~done
            multiplier[left_over[new]], addend[left_over[new]] = factor[new], start[new] + move
            done |= new
            if done.all():
                return multiplier.astype(np.int32), addend.astype(np.int32)
        left_over = left_over if (factor >= 1 << 31).any() else left_over[~done]
    return None


def _meeting(
    m: NDArray[np.int64], b: NDArray[np.int64], factor: NDArray[np.int64], middle: NDArray[np.int64], left: int
) -> NDArray[np.int64] | None:
    """The addends with which both functions agree at the sums ``middle``; None if some exceed 32 bits."""
    values = [
        ((int(y) + int(x) * int(f)) << left) // int(g) - (int(x) << left)
        for f, y, g, x in zip(m, b, factor, middle, strict=True)
    ]
    return None if any(abs(value) >= (1 << 31) - 2 for value in values) else np.array(values, np.int64)


def _equal(
    factor: NDArray[np.int64],
    addend: NDArray[np.int64],
    wanted: NDArray[np.int64],
    results: NDArray[np.int64],
    right: int,
    left: int,
    most: NDArray[np.int64],
) -> NDArray[np.bool_] | None:
    """Whether every threshold of a channel is the wanted one; None if sums before one saturate."""
    total = -(-(results[None, :] << (32 + right)) // factor[:, None])  # the least that gives the result
    need = total - addend[:, None]
    reached = (wanted > -most[:, None]) & (wanted <= most[:, None])
    wide = (np.abs(total) >= 1 << 31) | (np.abs(need) >= 1 << 31)
    if bool((reached & wide).any()):
        return None
    least = np.clip(-(-need >> left), -most[:, None], most[:, None] + 1)
    same: NDArray[np.bool_] = (least == wanted).all(axis=1)
    return same
