"""ITA's requantisation instead of a wider one: one 8-bit multiplier, a shift, a bias per column and one addend.

ITA computes ``clip8(floor((multiplier * (acc + bias) + 2^(shift-1)) / 2^shift) + add)`` (ita_requantizer.sv). Its slope
is off by up to 1 / 256, so the two lines are made to meet where the result is in the middle of its range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from match_ita.passes import requant_search
from match_ita.passes.linear_layers import INT8_MAX, INT8_MIN, Ints, LinearLayer
from match_ita.passes.requant_search import MULTIPLIER_MAX, SHIFT_MAX

#: Biases are signed; accumulators wrap.
BIAS_BITS, ACCUMULATOR_BITS = 24, 26
#: Sums of the wider requantisation must fit int64 when they are compared.
_WIDE_SHIFT_MAX = 52


@dataclass(frozen=True, slots=True)
class ItaRequant:
    """ITA's constants of one layer; ``bias`` [K]."""

    multiplier: int
    shift: int
    bias: Ints
    add: int

    @property
    def addend(self) -> Ints:
        """B of ``floor((acc * M + B) / D)``, [K]."""
        half = (1 << self.shift) >> 1
        return self.multiplier * self.bias + half + (self.add << self.shift)


def as_ita(layer: LinearLayer) -> ItaRequant | None:
    """The layer's own constants as ITA's, bit for bit; None where ITA cannot do them (or the layer has no columns)."""
    if layer.shift > SHIFT_MAX or layer.multiplier.size == 0 or np.any(layer.multiplier != layer.multiplier[0]):
        return None
    multiplier, half = int(layer.multiplier[0]), (1 << layer.shift) >> 1
    if not 0 < multiplier <= MULTIPLIER_MAX:
        return None
    rest = layer.addend - half
    for add in sorted(range(INT8_MIN, INT8_MAX + 1), key=abs):
        scaled = rest - (add << layer.shift)
        if np.any(scaled % multiplier):
            continue
        found = ItaRequant(multiplier, layer.shift, scaled // multiplier, add)
        if fits(layer, found):
            return found
    return None


def nearest(layer: LinearLayer, low: Ints, high: Ints) -> ItaRequant | None:
    """The closest constants for a layer with one multiplier (columns with multiplier 0 are constant); None where they
    do not fit the registers. ``low``, ``high``: the accumulators' range in each column."""
    moving = layer.multiplier > 0
    if not np.any(moving) or np.any(layer.multiplier[moving] != layer.multiplier[moving][0]):
        return None
    slope = float(layer.multiplier[moving][0]) / 2.0**layer.shift
    factor = requant_search.nearest(slope, 1)
    if factor is None:
        return None
    offset = layer.addend / 2.0**layer.shift - 0.5
    pivot = np.clip((0.5 * (layer.lo + layer.hi) - offset) / slope, low, high)
    pivot = np.where(moving, pivot, 0.0)
    result = np.where(moving, slope * pivot + offset, np.clip(np.floor(offset + 0.5), layer.lo, layer.hi))
    for add in (0, int(np.clip(np.rint(np.median(offset)), INT8_MIN, INT8_MAX))):
        bias = np.rint((result - add) / factor.slope - pivot).astype(np.int64)
        found = ItaRequant(factor.multiplier, factor.shift, bias, add)
        if fits(layer, found):
            return found
    return None


def eight_bits_above(slope: float) -> tuple[int, int] | None:
    """Multiplier and shift with the least quotient that is not below a positive slope; None where it is too large."""
    for shift in range(SHIFT_MAX, -1, -1):
        multiplier = math.ceil(slope * (1 << shift))
        if multiplier <= MULTIPLIER_MAX:
            return multiplier, shift
    return None


def largest_difference(layer: LinearLayer, ita: ItaRequant, low: Ints, high: Ints) -> int:
    """The largest difference of the two results over all accumulators in [low, high], all columns. Both are
    non-decreasing step functions, so it is enough to look at both sides of every step, and at the ends."""
    if layer.shift > _WIDE_SHIFT_MAX or int(np.abs(layer.addend).max(initial=0)) >= 1 << 61:
        return INT8_MAX - INT8_MIN
    before = (layer.multiplier, layer.addend, layer.shift, layer.lo, layer.hi)
    after = (np.full_like(layer.multiplier, ita.multiplier), ita.addend, ita.shift, layer.lo, layer.hi)
    points = [low[:, None], high[:, None]]
    for multiplier, addend, shift, least, most in (before, after):
        levels = np.arange(least + 1, most + 1, dtype=np.int64)[None, :]
        first = -((addend[:, None] - (levels << shift)) // np.maximum(multiplier, 1)[:, None])
        points += [np.clip(first, low[:, None], high[:, None]), np.clip(first - 1, low[:, None], high[:, None])]
    acc = np.concatenate(points, axis=1)
    return int(np.max(np.abs(_results(acc, *before) - _results(acc, *after)), initial=0))


def _results(acc: Ints, multiplier: Ints, addend: Ints, shift: int, lo: int, hi: int) -> Ints:
    sums = acc * multiplier[:, None] + addend[:, None]
    result: Ints = np.clip(sums >> shift, lo, hi)
    return result


def fits(layer: LinearLayer, ita: ItaRequant) -> bool:
    """Whether biases fit their 24 bits, and sums with any int8 input the accumulator."""
    bias_limit, limit = 1 << (BIAS_BITS - 1), 1 << (ACCUMULATOR_BITS - 1)
    most = 128 * np.abs(layer.weight).sum(axis=0) + np.abs(ita.bias)
    in_bits = bool(np.all(ita.bias >= -bias_limit)) and bool(np.all(ita.bias < bias_limit))
    return in_bits and int(most.max(initial=0)) < limit
