"""Choosing integers M, B and S so that ``(acc * M + B) >> S`` stands in for a real-valued requantisation.

The real function of channel c is ``t(acc) = multiplier[c] * acc + offset[c]``, its result ``clip(round(t), lo, hi)``.
M must leave ``acc * M`` inside the unit's product width for every accumulator that the weights can reach, so it often
has 9 to 12 bits only. The slope error is then at most 2^-(S+1) per accumulator unit; where it is zero is decided by B.
B is chosen so that the error vanishes at the median of the accumulators that are expected to give an unsaturated
result: that halves what a user sees compared with an exact result at acc = 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from match_core.hardware import Unit
from match_core.transforms.requant_check import largest_error, overflows

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Limits of ``(acc * M + B) >> S``: M in [0, multiplier_max], products and sums signed ``product_bits`` wide."""

    multiplier_max: int
    product_bits: int
    shift_min: int
    shift_max: int
    per_channel_multiplier: bool = True

    @property
    def limit(self) -> int:
        """Products and sums lie in [-limit, limit)."""
        return 1 << (self.product_bits - 1)


#: 31-bit multipliers and 64-bit products: any host does it, no accelerator need to.
WIDE = Arithmetic((1 << 31) - 1, 64, 0, 62)


def shared_arithmetic(units: Iterable[Unit]) -> Arithmetic:
    """What every unit with limits can do; WIDE if no unit states any."""
    specs = [unit.requant for unit in units if unit.requant is not None]
    if not specs:
        return WIDE
    return Arithmetic(
        multiplier_max=min(spec.multiplier_max for spec in specs),
        product_bits=min(spec.product_bits for spec in specs),
        shift_min=max(spec.shift_min for spec in specs),
        shift_max=min(spec.shift_max for spec in specs),
        per_channel_multiplier=all(spec.per_channel_multiplier for spec in specs),
    )


@dataclass(frozen=True, slots=True)
class Target:
    """The real function per channel (arrays of shape (C,)), the accumulators it may meet, and a guess of the usual
    ones: ``acc_min``/``acc_max`` are reachable bounds, ``acc_mean``/``acc_sd`` describe a normal distribution.
    ``product_factor``: a unit multiplies acc * M by this before it divides by it again (average pooling)."""

    multiplier: Reals
    offset: Reals
    acc_min: Ints
    acc_max: Ints
    lo: int
    hi: int
    acc_mean: Reals
    acc_sd: Reals
    product_factor: int = 1


@dataclass(frozen=True, slots=True)
class Requant:
    """The chosen integers; ``wide`` where WIDE was needed. ``expected_mismatch``: share of results that differ from
    the real-valued rounding, if accumulators are distributed as the target guessed."""

    multiplier: Ints
    addend: Ints
    shift: int
    wide: bool
    max_error: int
    expected_mismatch: float


def choose_requant(target: Target, arithmetic: Arithmetic) -> Requant:
    """The most precise M, B, S within ``arithmetic`` whose result is within 1 of the real-valued rounding for every
    reachable accumulator; with WIDE where ``arithmetic`` cannot do that."""
    for limits in dict.fromkeys((arithmetic, WIDE)):
        for shift in range(limits.shift_max, limits.shift_min - 1, -1):
            candidate = _at_shift(target, limits, shift)
            if candidate is None:
                continue
            if candidate.max_error <= 1:
                return candidate
            break  # smaller shifts are less precise
    raise ValueError("no multiplier, addend and shift give the result within 1")


def _at_shift(target: Target, limits: Arithmetic, shift: int) -> Requant | None:
    """The best choice with this shift, or None where something overflows."""
    step = float(1 << shift)
    fixed, value = _constant_channels(target)
    scaled = np.where(fixed, 0.0, target.multiplier * step)
    if scaled.size and float(scaled.max()) > limits.multiplier_max + 0.5:
        return None
    multiplier = np.rint(scaled).astype(np.int64)
    grid, weight = _expected_accumulators(target)
    pivot = np.where(fixed, 0, _median(grid, weight))
    exact = np.where(fixed, value, target.multiplier * pivot + target.offset + 0.5) * step
    if np.any(np.abs(exact) >= 2.0**62):
        return None
    addend = np.rint(exact).astype(np.int64) - multiplier * pivot
    factor = target.product_factor
    if overflows(multiplier, addend, target.acc_min, target.acc_max, limits.limit, factor):
        return None
    error = largest_error(
        target.multiplier,
        target.offset,
        multiplier,
        addend,
        shift,
        target.acc_min,
        target.acc_max,
        target.lo,
        target.hi,
    )
    slope = multiplier / step - target.multiplier
    off = np.minimum(np.abs(slope[:, None] * (grid - pivot[:, None])), 1.0)
    mismatch = np.where(fixed, 0.0, np.sum(off * weight, axis=1))
    expected = float(mismatch.mean()) if mismatch.size else 0.0
    return Requant(multiplier, addend, shift, limits == WIDE, error, expected)


def _constant_channels(target: Target) -> tuple[NDArray[np.bool_], Reals]:
    """Channels with one reachable result (the sum is constant, or everything saturates), and that result."""
    low = target.multiplier * target.acc_min + target.offset
    high = target.multiplier * target.acc_max + target.offset
    results = [np.clip(np.floor(t + 0.5), target.lo, target.hi) for t in (low, high)]
    return results[0] == results[1], results[0]


def _expected_accumulators(target: Target) -> tuple[Reals, Reals]:
    """Integer-valued sample points (C, G) inside the reachable, unsaturated range, with their probabilities (the rest
    of the probability is saturated)."""
    slope = np.maximum(target.multiplier, np.finfo(np.float64).tiny)
    low = np.clip((target.lo - 0.5 - target.offset) / slope, target.acc_min, target.acc_max)
    high = np.clip((target.hi + 0.5 - target.offset) / slope, target.acc_min, target.acc_max)
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
    """The grid point of each channel where half of the weight lies below."""
    total = np.cumsum(weight, axis=1)
    index = np.argmax(total >= 0.5 * total[:, -1:], axis=1)
    return np.take_along_axis(grid, index[:, None], axis=1)[:, 0].astype(np.int64)
