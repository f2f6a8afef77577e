"""Requantisation as CMSIS-NN computes it with single rounding, and the integers that make it that of the graph.

The library computes ``clip(((sum + bias) * multiplier + half) >> total) + offset``, with ``half = 1 << (total - 1)``;
the graph ``clip((sum * M + B) >> S)``. Both never decrease with the sum, so they are equal for all sums if each result
begins at the same sum. For a bias and an offset, each beginning bounds the multiplier from below and from above: an
integer between all bounds is a solution, and without one there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_host.kernels.products.int8_layer import factors_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

#: Bits of a multiplier without its sign, and of the largest number of the search.
BITS, MOST_BITS = 31, 61
#: Offsets that are tried, from the one whose biases are nearest to integers.
_TRIED = 6


@dataclass(frozen=True)
class Requant:
    """``clip((sum * M + B) >> S)``: ``multiplier`` and ``addend`` int64 [channels], ``exponent``, bounds."""

    multiplier: NDArray[np.int64]
    addend: NDArray[np.int64]
    exponent: int
    low: int
    high: int

    def of(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """The results of sums [..., channels]."""
        total = (sums * self.multiplier + self.addend) >> self.exponent
        values: NDArray[np.int64] = np.clip(total, self.low, self.high)
        return values


@dataclass(frozen=True)
class Scale:
    """The library's integers: int32 [channels] each, and the offset of the result."""

    multiplier: NDArray[np.int32]
    shift: NDArray[np.int32]
    bias: NDArray[np.int64]
    offset: int

    def of(self, sums: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
        """What the library computes of sums [..., channels]."""
        total = (BITS - self.shift).astype(np.int64)
        value = ((sums + self.bias) * self.multiplier >> (total - 1)) + 1 >> 1
        values: NDArray[np.int64] = np.clip(value + self.offset, low, high)
        return values


def requant_of(node: gs.Node, channels: int) -> Requant | str:
    """The numbers of a Requant of ``channels``, or why the library has none like it."""
    found = factors_of(node, channels)
    if isinstance(found, str):
        return found
    m, b, exponent = found.multipliers[0].astype(np.int64), found.addend.astype(np.int64), found.exponent
    bits = max(exponent + 9, int(np.abs(b).max()).bit_length())
    if bits > MOST_BITS:
        return f"numbers of {bits} bits"
    if bool((m < 0).any()):
        return f"the multiplier {int(m.min())} is negative"
    return Requant(m, b, exponent, found.low, found.high)


def scale_of(requant: Requant, least: NDArray[np.int64], most: NDArray[np.int64]) -> Scale | str:
    """The library's integers with the same result for every sum from ``least`` to ``most``, per channel; or why there
    are none. Channels with the multiplier 0 must have sums of 0."""
    varied = (requant.multiplier > 0) & (requant.low < requant.high)
    m, b = requant.multiplier[varied], requant.addend[varied]
    bounds = least[varied], most[varied]
    results = np.arange(requant.low + 1, requant.high + 1, dtype=np.int64)
    begins = np.clip(
        -((b[:, None] - (results << requant.exponent)) // m[:, None]), bounds[0][:, None], bounds[1][:, None] + 1
    )
    total = requant.exponent + BITS - np.frexp(m.astype(np.float64))[1].astype(np.int64)
    if total.size and not 24 <= int(total.min()) <= int(total.max()) <= MOST_BITS - 9:
        return f"factors between 2^{BITS - 1 - int(total.max())} and 2^{BITS - int(total.min())}"
    fewest = 0
    for offset in _offsets(requant, m, b):
        exact = ((b - (1 << requant.exponent >> 1) - (offset << requant.exponent)) / m).round().astype(np.int64)
        multiplier, bias = np.zeros_like(m), exact.copy()
        done = np.zeros(len(m), bool)
        for move in (0, 1, -1):
            low, high = _bounds(begins, results - offset, exact + move, total, bounds)
            good = (low <= high) & ~done
            ideal = m << (total - requant.exponent) if bool((total >= requant.exponent).all()) else low
            multiplier[good], bias[good] = np.clip(ideal, low, high)[good], (exact + move)[good]
            done |= good
        if done.all():
            return _filled(requant, varied, multiplier, total, bias, offset)
        fewest = min(fewest or len(m), int((~done).sum()))
    return f"single rounding gives other results in {fewest} of {len(m)} channels"


def _offsets(requant: Requant, m: NDArray[np.int64], b: NDArray[np.int64]) -> list[int]:
    """Offsets of the result, first those whose biases are nearest to integers."""
    offsets = np.arange(-128, 128, dtype=np.int64)
    if not m.size:
        return [0]
    half = 1 << requant.exponent >> 1
    exact = (b[None, :] - half - (offsets[:, None] << requant.exponent)) / m[None, :]
    miss = np.abs(exact - np.round(exact)).max(axis=1)
    return [int(value) for value in offsets[np.argsort(miss, kind="stable")][:_TRIED]]


def _bounds(
    begins: NDArray[np.int64],
    steps: NDArray[np.int64],
    bias: NDArray[np.int64],
    total: NDArray[np.int64],
    sums: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the largest multiplier per channel with which result ``steps`` (without the offset) begins at the
    sum ``begins``; an empty range where there is none."""
    limit = (2 * steps[None, :] - 1) << (total[:, None] - 1)
    at, before = begins + bias[:, None], begins - 1 + bias[:, None]
    reached, preceded = begins <= sums[1][:, None], begins > sums[0][:, None]
    low, high = np.full(begins.shape, 1, np.int64), np.full(begins.shape, (1 << BITS) - 1, np.int64)
    for points, valid, edge, is_at in ((at, reached, limit, True), (before, preceded, limit - 1, False)):
        some = np.where(points == 0, 1, points)
        above = valid & (points != 0) & ((points > 0) == is_at)
        below = valid & (points != 0) & ((points > 0) != is_at)
        low = np.where(above, np.maximum(low, -(-edge // some)), low)
        high = np.where(below, np.minimum(high, edge // some), high)
        wrong = valid & (points == 0) & ((edge > 0) if is_at else (edge < 0))
        high = np.where(wrong, 0, high)
    return low.max(axis=1, initial=1), high.min(axis=1, initial=(1 << BITS) - 1)


def _filled(
    requant: Requant,
    varied: NDArray[np.bool_],
    multiplier: NDArray[np.int64],
    total: NDArray[np.int64],
    bias: NDArray[np.int64],
    offset: int,
) -> Scale:
    """All channels: those with one result for all sums get it from the bias alone."""
    channels = len(varied)
    constant = requant.addend >> requant.exponent
    value = np.clip(constant, requant.low, requant.high) - offset
    factors, shifts, biases = np.full(channels, 1 << 30), np.full(channels, -1), 4 * value
    factors[varied], shifts[varied], biases[varied] = multiplier, BITS - total, bias
    return Scale(factors.astype(np.int32), shifts.astype(np.int32), biases.astype(np.int64), offset)
