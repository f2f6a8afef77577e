"""Chooses integers M, B and S so that ``(acc * M + B) >> S`` approximates a real-valued requantisation.

The real function of channel c is ``t(acc) = multiplier[c] * acc + offset[c]``, its result ``clip(round(t), lo, hi)``.
M must keep ``acc * M`` within the unit's product width for every accumulator that the weights can reach, so it often
has only 9 to 12 bits. The slope error is then at most 2^-(S+1) per accumulator unit, and B decides where the error is
zero: at the median of the accumulators that are expected to give an unsaturated result. That halves the observed error
compared with an exact result at acc = 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from match_core.contract.hardware import RequantSpec, Unit
from numpy.typing import NDArray

from match_quant.requant_check import Pair, overflows

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Limits of ``(acc * M + B) >> S``: M in [0, multiplier_max], or from -multiplier_max on where ``signed``; products
    and sums signed ``product_bits`` wide."""

    multiplier_max: int
    product_bits: int
    shift_min: int
    shift_max: int
    signed: bool = True

    @property
    def limit(self) -> int:
        """Products and sums lie in [-limit, limit)."""
        return 1 << (self.product_bits - 1)


#: Exact multipliers of at least this size may be made larger by 1: the error stays below 256 / 2^16 of an LSB.
_TIE_MULTIPLIER = 1 << 16

#: 31-bit multipliers and 64-bit products: every host supports them, accelerators need not.
WIDE = Arithmetic((1 << 31) - 1, 64, 0, 62)


def shared_arithmetics(units: Iterable[Unit]) -> tuple[Arithmetic, ...]:
    """The arithmetic that every unit with limits supports fast and, if it is wider, the one that all support at all."""
    limited = [unit for unit in units if unit.requant is not None]
    fast = [_limits(unit.requant) for unit in limited if unit.requant is not None]
    most = [_limits(unit.exact_requant) if unit.exact_requant else own for unit, own in zip(limited, fast, strict=True)]
    return tuple(dict.fromkeys(reduce(_intersection, group) for group in (fast, most) if group))


def arithmetics(units: Sequence[Unit]) -> tuple[Arithmetic, ...]:
    """Candidates in order: arithmetic that all units share, wider arithmetic of single units (narrowest first),
    WIDE."""
    specs = [spec for unit in units for spec in (unit.requant, unit.exact_requant) if spec is not None]
    single = sorted(map(_limits, specs), key=lambda a: (a.product_bits, a.multiplier_max, a.shift_max))
    return tuple(dict.fromkeys((*shared_arithmetics(units), *single, WIDE)))


def _limits(spec: RequantSpec) -> Arithmetic:
    if spec.rounding == "double":  # the numbers are chosen as for 31 bits, and then written for two roundings
        return WIDE
    return Arithmetic(spec.multiplier_max, spec.product_bits, spec.shift_min, spec.shift_max, spec.multiplier_signed)


def _intersection(a: Arithmetic, b: Arithmetic) -> Arithmetic:
    return Arithmetic(
        min(a.multiplier_max, b.multiplier_max),
        min(a.product_bits, b.product_bits),
        max(a.shift_min, b.shift_min),
        min(a.shift_max, b.shift_max),
        a.signed and b.signed,
    )


@dataclass(frozen=True, slots=True)
class Target:
    """The real function per channel (arrays of shape (C,)), and its accumulators: ``acc_min``/``acc_max`` are reachable
    bounds, ``acc_mean``/``acc_sd`` describe an estimated normal distribution."""

    multiplier: Reals
    offset: Reals
    acc_min: Ints
    acc_max: Ints
    type_min: Ints
    type_max: Ints
    lo: int
    hi: int
    acc_mean: Reals
    acc_sd: Reals


@dataclass(frozen=True, slots=True)
class Requant:
    """The chosen integers and the ``arithmetic`` they fit. ``expected_mismatch``: share of results that differ from
    the real-valued rounding, if accumulators are distributed as the target estimates."""

    multiplier: Ints
    addend: Ints
    shift: int
    arithmetic: Arithmetic
    expected_mismatch: float


@dataclass(frozen=True, slots=True)
class _Expected:
    """The parts of a target that do not depend on the shift: channels with one reachable result (``fixed``) and that
    ``value``; sample points of the other channels' accumulators with their probabilities, and the ``pivot``, their
    median."""

    fixed: NDArray[np.bool_]
    value: Reals
    grid: Reals
    weight: Reals
    pivot: Ints


def _expected(target: Target) -> _Expected:
    fixed, value = _constant_channels(target)
    grid, weight = _expected_accumulators(target)
    return _Expected(fixed, value, grid, weight, np.where(fixed, 0, _median(grid, weight)))


def choose_requant(target: Target, choices: Sequence[Arithmetic], tolerated_mismatch: float) -> Requant:
    """The most precise M, B, S within the first of ``choices`` whose result is within 1 of the real-valued rounding
    for every reachable accumulator and whose expected share of differences is tolerated (the best of all if none
    is)."""
    expected = _expected(target)
    others: list[Requant] = []
    for limits in choices:
        best = _within(target, expected, limits)
        if best is not None and best.expected_mismatch > tolerated_mismatch:
            others.append(best)
        elif best is not None and _is_near(target, best):
            return best
    for best in sorted(others, key=lambda requant: requant.expected_mismatch):
        if _is_near(target, best):
            return best
    raise ValueError("no multiplier, addend and shift give the result within 1")


def _is_near(target: Target, found: Requant) -> bool:
    """Whether the result is within 1 everywhere. To look at every step takes longer than to choose the integers."""
    real, ends = (target.multiplier, target.offset), (target.acc_min, target.acc_max)
    pair = Pair(*real, found.multiplier, found.addend, found.shift, *ends)
    return pair.is_certainly_near() or pair.largest_error(target.lo, target.hi) <= 1


def _within(target: Target, expected: _Expected, limits: Arithmetic) -> Requant | None:
    """The best choice within ``limits``, None if something overflows with every shift."""
    largest = float(np.abs(np.where(expected.fixed, 0.0, target.multiplier)).max(initial=0.0))
    for shift in range(limits.shift_max, limits.shift_min - 1, -1):
        if largest * float(1 << shift) > limits.multiplier_max + 0.5:
            continue  # powers of two scale exactly
        candidate = _at_shift(target, expected, limits, shift)
        if candidate is not None:  # smaller shifts are less precise
            return candidate
    return None


def _at_shift(target: Target, expected: _Expected, limits: Arithmetic, shift: int) -> Requant | None:
    """The best choice with this shift, None if something overflows."""
    step = float(1 << shift)
    fixed, grid, weight, pivot = expected.fixed, expected.grid, expected.weight, expected.pivot
    scaled = np.where(fixed, 0.0, target.multiplier * step)
    if scaled.size and scaled.min() < 0 and not limits.signed:
        return None
    multiplier = np.rint(scaled).astype(np.int64)
    # An exact multiplier of few bits makes many exact ties (means over 64 values), which the original rounds to even.
    # A slope too large by 1 rounds them away from the median instead, which is unbiased, unlike rounding up or down.
    unbiased = multiplier + (~fixed & (multiplier == scaled) & (scaled >= _TIE_MULTIPLIER))
    if int(unbiased.max(initial=0)) <= limits.multiplier_max:
        multiplier = unbiased
    exact = np.where(fixed, expected.value, target.multiplier * pivot + target.offset + 0.5) * step
    if np.any(np.abs(exact) >= 2.0**62):
        return None
    addend = np.rint(exact).astype(np.int64) - multiplier * pivot
    if overflows(multiplier, addend, target.type_min, target.type_max, limits.limit):
        return None
    slope = multiplier / step - target.multiplier
    off = np.minimum(np.abs(slope[:, None] * (grid - pivot[:, None])), 1.0)
    mismatch = np.where(fixed, 0.0, np.sum(off * weight, axis=1))
    share = float(mismatch.mean()) if mismatch.size else 0.0
    return Requant(multiplier, addend, shift, limits, share)


def _constant_channels(target: Target) -> tuple[NDArray[np.bool_], Reals]:
    """Channels with one reachable result (the sum is constant, or everything saturates), and that result."""
    low = target.multiplier * target.acc_min + target.offset
    high = target.multiplier * target.acc_max + target.offset
    results = [np.clip(np.floor(t + 0.5), target.lo, target.hi) for t in (low, high)]
    return results[0] == results[1], results[0]


def _expected_accumulators(target: Target) -> tuple[Reals, Reals]:
    """Integer-valued sample points (C, G) inside the reachable, unsaturated range, with their probabilities (the rest
    of the probability is saturated)."""
    slope = np.where(target.multiplier == 0, 1.0, target.multiplier)  # with 0, the result is constant
    ends = [
        np.clip((result - target.offset) / slope, target.acc_min, target.acc_max)
        for result in (target.lo - 0.5, target.hi + 0.5)
    ]
    low, high = np.minimum(*ends), np.maximum(*ends)
    steps = np.linspace(0.0, 1.0, 257)
    grid = np.rint(low[:, None] + (high - low)[:, None] * steps)
    deviation = np.maximum(target.acc_sd, 0.5)[:, None]
    exponent = -0.5 * ((grid - target.acc_mean[:, None]) / deviation) ** 2
    spacing = np.maximum((high - low)[:, None] / 256, 1e-9)
    density = np.exp(exponent) * spacing / (deviation * np.sqrt(2 * np.pi))
    share = np.minimum(density.sum(axis=1, keepdims=True), 1.0)
    shape = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    return grid, shape / shape.sum(axis=1, keepdims=True) * share


def _median(grid: Reals, weight: Reals) -> Ints:
    """The weighted median of the grid points of each channel."""
    total = np.cumsum(weight, axis=1)
    index = np.argmax(total >= 0.5 * total[:, -1:], axis=1)
    return np.take_along_axis(grid, index[:, None], axis=1)[:, 0].astype(np.int64)
