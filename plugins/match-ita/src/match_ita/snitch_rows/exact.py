"""Requantisation in 32 bits: if a multiplier and an addend are too wide, searches smaller ones that give the same
result for every input.

An input of 8 bits has 256 values, so the addends that give the wanted results with a certain multiplier are an interval
that is computed exactly; for a multiplier near the scaled one it is seldom empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

_LIMIT = 2**31
_WIDE_LIMIT = 2**62
#: Multipliers next to the rounded one that are tried.
_NEIGHBOURS = (0, 1, -1, 2, -2, 3, -3)
_SHIFT_LEAST = 6
_TRIES = 6


@dataclass(frozen=True, slots=True)
class Affine:
    """clip((x * multiplier + addend) >> shift, low, high) with one multiplier and addend for each channel, or for all;
    x between ``first`` and ``last``."""

    multiplier: Integers
    addend: Integers
    shift: int
    low: int
    high: int
    first: int
    last: int

    def reach(self) -> int:
        """The largest magnitude of a product or a sum."""
        ends = [self.multiplier.astype(object) * end for end in (self.first, self.last)]
        values = [*ends, *(end + self.addend.astype(object) for end in ends)]
        return max(int(np.max(np.abs(value))) for value in values)

    def of(self, x: int) -> Integers:
        """The value at x, of each channel."""
        value: Integers = np.clip((x * self.multiplier + self.addend) >> self.shift, self.low, self.high)
        return value

    @property
    def fits(self) -> bool:
        """Whether 32 bits hold everything."""
        numbers = max(int(np.max(np.abs(values))) for values in (self.multiplier, self.addend))
        return max(self.reach(), numbers) < _LIMIT and self.shift < 32


def narrowed(affine: Affine) -> Affine | None:
    """The same function in 32 bits, None where none was found."""
    if affine.fits:
        return affine
    if affine.last - affine.first > 4096 or affine.shift >= 62 or affine.reach() >= _WIDE_LIMIT:
        return None
    return _search(
        affine.multiplier.tobytes(),
        affine.addend.tobytes(),
        affine.shift,
        (affine.low, affine.high, affine.first, affine.last),
    )


@lru_cache(maxsize=256)
def _search(multiplier: bytes, addend: bytes, shift: int, ends: tuple[int, int, int, int]) -> Affine | None:
    wide = Affine(np.frombuffer(multiplier, np.int64), np.frombuffer(addend, np.int64), shift, *ends)
    largest = min(shift, 30, 31 - max(1, wide.reach() >> shift).bit_length())
    for smaller in range(largest, max(_SHIFT_LEAST, largest - _TRIES), -1):
        found = _at_shift(wide, smaller)
        if found is not None:
            return found
    return None


def _at_shift(wide: Affine, shift: int) -> Affine | None:
    """Multipliers and addends of all channels for one shift."""
    scaled = np.rint(wide.multiplier / 2.0 ** (wide.shift - shift)).astype(np.int64)
    multiplier, addend = np.broadcast_arrays(scaled, wide.addend)
    multiplier, addend = multiplier.copy(), addend.copy()
    open_channels = np.arange(multiplier.size)
    for neighbour in _NEIGHBOURS:
        tried = multiplier[open_channels] + neighbour
        least, most = _addends(wide, open_channels, tried, shift)
        done = least <= most
        chosen = open_channels[done]
        multiplier[chosen], addend[chosen] = tried[done], (least + most)[done] // 2
        open_channels = open_channels[~done]
        if not open_channels.size:
            result = Affine(multiplier, addend, shift, wide.low, wide.high, wide.first, wide.last)
            return result if result.fits else None
    return None


def _addends(wide: Affine, channels: Integers, multiplier: Integers, shift: int) -> tuple[Integers, Integers]:
    """The interval of addends that give the wanted results with these multipliers of these channels."""
    own_multiplier, own_addend = (
        np.broadcast_to(values, (np.broadcast(wide.multiplier, wide.addend).size,))[channels]
        for values in (wide.multiplier, wide.addend)
    )
    limit = 1 << 40
    least, most = np.full(channels.size, -limit), np.full(channels.size, limit)
    for x in range(wide.first, wide.last + 1):
        wanted = np.clip((x * own_multiplier + own_addend) >> wide.shift, wide.low, wide.high)
        product = x * multiplier
        least = np.where(wanted > wide.low, np.maximum(least, (wanted << shift) - product), least)
        most = np.where(wanted < wide.high, np.minimum(most, ((wanted + 1) << shift) - 1 - product), most)
    # Where every input gives the same end of the range one side is open: take what lies next to the other.
    least = np.where(least == -limit, np.maximum(most - (1 << shift), -limit), least)
    return least, np.where(most == limit, least + (1 << shift), most)


@dataclass(frozen=True, slots=True)
class Sum:
    """clip((a * multiplier_a + b * multiplier_b + addend) >> shift, low, high); ranges of a and b, ends included."""

    multiplier_a: int
    multiplier_b: int
    addend: int
    shift: int
    low: int
    high: int
    range_a: tuple[int, int]
    range_b: tuple[int, int]

    def reach(self) -> tuple[int, int]:
        """The least and the largest value before it is clipped."""
        ends = [
            sorted(value * multiplier for value in values)
            for values, multiplier in ((self.range_a, self.multiplier_a), (self.range_b, self.multiplier_b))
        ]
        low, high = (ends[0][i] + ends[1][i] + self.addend for i in (0, 1))
        return low >> self.shift, high >> self.shift

    @property
    def fits(self) -> bool:
        """Whether 32 bits hold everything."""
        products_a = [a * self.multiplier_a for a in self.range_a]
        products_b = [b * self.multiplier_b for b in self.range_b]
        sums = [a + b for a in products_a for b in products_b]
        values = (*products_a, *products_b, *sums, *(value + self.addend for value in sums), self.addend)
        numbers = (*values, self.multiplier_a, self.multiplier_b)
        return max(abs(value) for value in numbers) < _LIMIT and self.shift < 32


@lru_cache(maxsize=256)
def narrowed_sum(wide: Sum) -> Sum | None:
    """The same function in 32 bits, None where none was found."""
    if wide.fits:
        return wide
    a, b = (np.arange(ends[0], ends[1] + 1, dtype=np.int64) for ends in (wide.range_a, wide.range_b))
    if wide.shift >= 62 or a.size * b.size > 2**17:
        return None
    sums = (a * wide.multiplier_a)[:, None] + b * wide.multiplier_b + wide.addend
    wanted = np.clip(sums >> wide.shift, wide.low, wide.high)
    reach = int(np.max(np.abs(sums >> wide.shift)))
    largest = min(wide.shift, 30, 31 - max(1, reach).bit_length())
    for shift in range(largest, max(_SHIFT_LEAST, largest - _TRIES), -1):
        scale = 2.0 ** (wide.shift - shift)
        for by_a in _NEIGHBOURS:
            for by_b in _NEIGHBOURS:
                multipliers = round(wide.multiplier_a / scale) + by_a, round(wide.multiplier_b / scale) + by_b
                found = _sum_at(wide, wanted, (a, b), multipliers, shift)
                if found is not None:
                    return found
    return None


def _sum_at(
    wide: Sum, wanted: Integers, inputs: tuple[Integers, Integers], multipliers: tuple[int, int], shift: int
) -> Sum | None:
    products = (inputs[0] * multipliers[0])[:, None] + inputs[1] * multipliers[1]
    above, below = wanted > wide.low, wanted < wide.high
    limit = 1 << 40
    least = int(np.max((wanted << shift) - products, where=above, initial=-limit))
    most = int(np.min(((wanted + 1) << shift) - 1 - products, where=below, initial=limit))
    if least > most or limit in (-least, most):
        return None
    result = Sum(*multipliers, (least + most) // 2, shift, wide.low, wide.high, wide.range_a, wide.range_b)
    return result if result.fits else None
