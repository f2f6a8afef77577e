"""Weights of one layer for a requantisation by 2^-n: every channel's remaining factor goes into its weights.

With real factors ``ideal[k, c, t]``, results in LSB per LSB of the input, the unit computes
``floor((sum of w' * x + bias) / 2^n)`` with ``w' = round(ideal * 2^n)``. What rounding leaves,
``e = w' - ideal * 2^n``, adds ``sum of e * x / 2^n`` to the result. Neighbours in one window, and channels behind a
ReLU, are alike or have the same sign, so a sum of ``e`` near 0 matters more than single ones. Therefore some weights
are rounded the other way, those that lose least, until the errors of every window and then of every output add up to at
most a half (the idea of SQuant: Guo et al., ICLR 2022, which needs no data either). Ternary weights are left out: they
stay -a, 0 and a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from match_quant.expectation import Expectation

Ints: TypeAlias = "NDArray[np.int64]"
Reals: TypeAlias = "NDArray[np.float64]"
Flags: TypeAlias = "NDArray[np.bool_]"

#: Weights stay within -127 ... 127.
WEIGHT_MAX = 127
#: How many doublings of the scale are tried beyond the one at which no weight saturates.
_DOUBLINGS = 2


@dataclass(frozen=True, slots=True)
class RoundedWeights:
    """``values`` [outputs, inputs, taps] in -127 ... 127 for a division by 2^``shift``. In LSB of the result, before it
    is rounded: ``expected`` is the error that is expected of each output (root mean square), ``largest`` the largest
    that any input gives. ``saturated``: how many weights lie beyond 127."""

    values: Ints
    shift: int
    expected: Reals
    largest: float
    saturated: int

    @property
    def expected_rms(self) -> float:
        """The expected error over all outputs."""
        return float(np.sqrt(np.mean(np.square(self.expected))))


def rounded_weights(ideal: Reals, inputs: Expectation, zero: int, shift_max: int = 31) -> RoundedWeights | None:
    """The weights with the least expected error; None where even 127 cannot hold the largest at a shift of 0. Weights
    saturate where that loses less over all outputs, and no output more than the worst one did.

    ``ideal`` [outputs, inputs, taps]; ``inputs``: what is expected of the stored inputs (one entry for all, or one for
    each), which represent ``x - zero``; ``shift_max``: the largest shift of the unit."""
    largest = float(np.abs(ideal).max(initial=0.0))
    if not np.isfinite(largest) or largest >= WEIGHT_MAX + 0.5:
        return None
    fits = shift_max if largest == 0 else math.ceil(math.log2((WEIGHT_MAX + 0.5) / largest)) - 1
    first = min(fits, shift_max)
    best = _at_shift(ideal, inputs, zero, first)
    for shift in range(first + 1, min(first + _DOUBLINGS, shift_max) + 1):
        finer = _at_shift(ideal, inputs, zero, shift)
        if finer.expected_rms < best.expected_rms and finer.expected.max() <= best.expected.max():
            best = finer
    return best


def _at_shift(ideal: Reals, inputs: Expectation, zero: int, shift: int) -> RoundedWeights:
    wanted = np.ldexp(ideal, shift)
    beyond = np.abs(wanted) >= WEIGHT_MAX + 0.5
    values = np.clip(np.rint(wanted), -WEIGHT_MAX, WEIGHT_MAX)
    if not _one_size(ideal):
        values = _balanced(values, wanted, beyond)
    error = np.ldexp(values - wanted, -shift)
    return RoundedWeights(
        values.astype(np.int64),
        shift,
        _expected(error, inputs, zero),
        largest_error(error, inputs, zero),
        int(beyond.sum()),
    )


def _one_size(ideal: Reals) -> bool:
    """Whether every output has weights -a, 0 and a only. Then it keeps them: arrays of ternary cells take it."""
    sizes = np.abs(ideal).reshape(len(ideal), -1)
    return bool(np.all((sizes == 0) | (sizes == sizes.max(axis=1, initial=0)[:, None])))


def _balanced(values: Reals, wanted: Reals, beyond: Flags) -> Reals:
    """Errors of every window, and then of every output, add up to at most a half (where enough weights can move)."""
    outputs, inputs, taps = values.shape
    if taps > 1:
        rows = (outputs * inputs, taps)
        moved = _moves((values - wanted).reshape(rows), values.reshape(rows), beyond.reshape(rows))
        values = values + moved.reshape(values.shape)
    # One weight of a window at most: those that gain most, or lose least.
    error = np.where(beyond, 0.0, values - wanted)
    sign = np.sign(error.sum(axis=(1, 2)))[:, None, None]
    chosen = np.argmax(np.where(beyond, -np.inf, error * sign), axis=2)[:, :, None]
    single = np.take_along_axis(values, chosen, axis=2)[:, :, 0]
    fixed = np.take_along_axis(beyond, chosen, axis=2)[:, :, 0]
    own = np.take_along_axis(error, chosen, axis=2)[:, :, 0]
    rest = error.sum(axis=(1, 2)) - own.sum(axis=1)
    moved = np.zeros_like(values)
    np.put_along_axis(moved, chosen, _moves(own, single, fixed, rest)[:, :, None], axis=2)
    return values + moved


def _moves(error: Reals, values: Reals, beyond: Flags, rest: Reals | float = 0.0) -> Reals:
    """-1, 0 or 1 for every element, so that each row's errors plus ``rest`` add up to about 0. Elements move only
    against their own error."""
    error = np.where(beyond, 0.0, error)
    total = error.sum(axis=1) + rest
    sign = np.sign(total)[:, None]
    gain = error * sign
    free = ~beyond & (gain > 0) & (np.abs(values - sign) <= WEIGHT_MAX)
    order = np.argsort(np.where(free, -gain, np.inf), axis=1, kind="stable")
    rank = np.argsort(order, axis=1, kind="stable")
    wanted = np.rint(np.abs(total))[:, None]
    return np.where(free & (rank < wanted), -sign, 0.0)


def _expected(error: Reals, inputs: Expectation, zero: int) -> Reals:
    mean, sd = inputs.mean[None, :, None] - zero, inputs.sd[None, :]
    constant = (error * mean).sum(axis=(1, 2))
    together, single = np.square(error.sum(axis=2)), np.square(error).sum(axis=2)
    spread = inputs.neighbours * together + (1 - inputs.neighbours) * single
    variance = (spread * np.square(sd)).sum(axis=1)
    return np.asarray(np.sqrt(np.square(constant) + variance))


def largest_error(error: Reals, inputs: Expectation, zero: int) -> float:
    """The largest sum of errors of weights [outputs, inputs, taps], in LSB of the result per LSB of the input."""
    low, high = (bound[None, :, None] - zero for bound in (inputs.lo, inputs.hi))
    ends = (error * low, error * high)
    most = np.maximum(*ends).sum(axis=(1, 2)).max(initial=0.0)
    least = np.minimum(*ends).sum(axis=(1, 2)).min(initial=0.0)
    return float(max(most, -least))
