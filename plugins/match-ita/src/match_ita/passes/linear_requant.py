"""Replaces wider requantisation with ITA's: one 8-bit multiplier, a shift, a bias per column and one addend.

ITA computes ``clip8(floor((multiplier * (acc + bias) + 2^(shift-1)) / 2^shift) + add)`` (ita_requantizer.sv). Its slope
is off by up to 1 / 256, so the constants make both agree where the result is in the middle of its range.
"""

from __future__ import annotations

import numpy as np
from match_quant import multipliers
from match_quant.expectation import Reals
from match_quant.linear.layers import INT8_MAX, INT8_MIN, Ints, LinearLayer
from match_quant.multipliers import NarrowFactor

from match_ita.ita.limits import MULTIPLIER_MAX, REQUANT, SHIFT_MAX
from match_ita.ita.requantisation import ItaRequant, biases_fit, largest_sums, sums_fit, with_addend

#: Sums of the wider requantisation must fit int64 when they are compared.
_WIDE_SHIFT_MAX = 52


def as_ita(layer: LinearLayer) -> ItaRequant | None:
    """The layer's own constants as ITA's, bit for bit; None where ITA cannot do them (or the layer has no columns)."""
    if layer.shift > SHIFT_MAX or layer.multiplier.size == 0 or np.any(layer.multiplier != layer.multiplier[0]):
        return None
    multiplier = int(layer.multiplier[0])
    if not 0 < multiplier <= MULTIPLIER_MAX:
        return None
    return with_addend(multiplier, layer.shift, layer.addend, largest_sums(layer.weight))


def nearest(layer: LinearLayer, low: Ints, high: Ints) -> ItaRequant | None:
    """The closest constants for a layer with one multiplier (columns with multiplier 0 are constant); None where they
    do not fit the registers. ``low``, ``high``: the accumulators' range in each column."""
    moving = layer.multiplier > 0
    if not np.any(moving) or np.any(layer.multiplier[moving] != layer.multiplier[moving][0]):
        return None
    slope = float(layer.multiplier[moving][0]) / 2.0**layer.shift
    factor = multipliers.nearest(slope, REQUANT)
    if factor is None:
        return None
    offset = layer.addend / 2.0**layer.shift - 0.5
    pivot = np.clip((0.5 * (layer.lo + layer.hi) - offset) / slope, low, high)
    pivot = np.where(moving, pivot, 0.0)
    result = np.where(moving, slope * pivot + offset, np.clip(np.floor(offset + 0.5), layer.lo, layer.hi))
    return through(factor, pivot, result, offset, layer.weight)


def through(factor: NarrowFactor, pivot: Reals, result: Reals, offset: Reals, weight: Ints) -> ItaRequant | None:
    """ITA's constants with this factor that give ``result`` [K] for the accumulators ``pivot`` [K]; None where biases
    do not fit, neither with no add nor with the middle of ``offset`` [K], the results for accumulators of 0."""
    sums = largest_sums(weight)
    # Not np.median, which imports numpy.ma: 45 ms.
    middle = np.sort(offset)[[(offset.size - 1) // 2, offset.size // 2]].mean()
    for add in (0, int(np.clip(np.rint(middle), INT8_MIN, INT8_MAX))):
        bias = np.rint((result - add) / factor.slope - pivot).astype(np.int64)
        if biases_fit(bias) and sums_fit(sums, bias):
            return ItaRequant(factor.multiplier, factor.shift, bias, add)
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
