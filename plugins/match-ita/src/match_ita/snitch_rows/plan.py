"""The arithmetic of the requantisation kernels: 32 bits if it gives the same results, else 64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_core import Match
from match_core.patterns.captures import number, value_range
from numpy.typing import NDArray

from match_ita.snitch_rows import structures as s
from match_ita.snitch_rows.exact import Affine, Sum, narrowed, narrowed_sum

_INT32 = 2**31
_WIDE_LIMIT = 2**62


@dataclass(frozen=True, slots=True)
class Wide:
    """An Affine or a Sum in 64 bits: multiplied so that 32 + ``shift`` bits are lost."""

    multipliers: NDArray[np.int64]
    addend: NDArray[np.int64]
    shift: int


def widened(multipliers: NDArray[np.int64], addend: NDArray[np.int64], shift: int, reach: int) -> Wide | None:
    """The form of 64-bit kernels; None where a multiplier then exceeds 32 bits or a sum 63."""
    factor = 1 << max(0, 32 - shift)
    largest = max(abs(int(value)) for value in multipliers.reshape(-1)) * factor
    if largest >= _INT32 or reach * factor >= _WIDE_LIMIT or shift >= 64:
        return None
    return Wide(multipliers * factor, addend * factor, max(0, shift - 32))


def requant(match: Match) -> Affine | Wide | None:
    """Of one tensor, per channel."""
    wide = s.affine(match, value_range(match, "input"))
    return narrowed(wide) or widened(wide.multiplier, wide.addend, wide.shift, wide.reach())


def requant_narrow(match: Match) -> Affine | None:
    """Of one tensor, in 32 bits only."""
    return narrowed(s.affine(match, value_range(match, "input")))


def requant_twice(match: Match) -> tuple[Affine, Affine] | None:
    """Of one tensor, twice."""
    return _then(match, requant_narrow(match))


def _then(match: Match, first: Affine | None) -> tuple[Affine, Affine] | None:
    if first is None:
        return None
    second = narrowed(s.affine(match, (first.low, first.high), "second_"))
    return None if second is None else (first, second)


def _ranges(match: Match) -> tuple[tuple[int, int], tuple[int, int]]:
    return value_range(match, "input_a"), value_range(match, "input_b")


def add(match: Match) -> Sum | Wide | None:
    """Of two tensors, of which narrow kernels want the first to be signed."""
    wide = s.pair_sum(match, _ranges(match))
    narrow = narrowed_sum(wide) if s.flip(match, "input_a") else None
    if narrow is not None:
        return narrow
    multipliers = np.array([wide.multiplier_a, wide.multiplier_b])
    # Kernels flip bytes of signed tensors, which makes them 128 more.
    flips = [s.flip(match, name) for name in ("input_a", "input_b")]
    addend = wide.addend - int(multipliers @ np.array(flips, np.int64))
    reach = 255 * (abs(wide.multiplier_a) + abs(wide.multiplier_b)) + abs(addend)
    return widened(multipliers, np.array([addend]), wide.shift, reach)


def add_requant(match: Match) -> tuple[Sum, Affine] | None:
    """Of the sum of two tensors, once more; the second step takes what the sum is before it is clipped."""
    first = narrowed_sum(s.pair_sum(match, _ranges(match), "sum_"))
    if first is None:
        return None
    low, high = first.reach()
    second = narrowed(s.affine(match, (min(low, first.low), max(high, first.high))))
    return None if second is None else (first, second)


def add_requant_twice(match: Match) -> tuple[Sum, Affine, Affine] | None:
    """Of the sum of two tensors, twice more."""
    first = narrowed_sum(s.pair_sum(match, _ranges(match), "sum_"))
    if first is None:
        return None
    second = _then(match, narrowed(s.affine(match, (first.low, first.high))))
    return None if second is None else (first, *second)


def parts(match: Match) -> int:
    """How many values a sum along an axis has."""
    return int(match.shape("input")[number(match, "axes")])


def total(match: Match) -> Affine | None:
    """Of a sum along an axis."""
    ends = value_range(match, "input")
    return narrowed(s.affine(match, (parts(match) * ends[0], parts(match) * ends[1])))


def two(match: Match) -> Sum | None:
    """Of the sum of two tensors with one multiplier."""
    ends = value_range(match, "input_a")
    one = s.affine(match, ends)
    factor, addend = int(one.multiplier[0]), int(one.addend[0])
    return narrowed_sum(Sum(factor, factor, addend, one.shift, one.low, one.high, ends, ends))


def three(match: Match) -> Affine | None:
    """Of the sum of three tensors."""
    ends = value_range(match, "input_a")
    return narrowed(s.affine(match, (3 * ends[0], 3 * ends[1])))


def total_add(match: Match, *, swapped: bool) -> tuple[Affine, Sum] | None:
    """Of a sum along an axis to which another tensor is added; ``swapped``: that one is the first of the two."""
    first = total(match)
    if first is None:
        return None
    ranges = ((first.low, first.high), value_range(match, "input_b"))
    wide = s.pair_sum(match, ranges[::-1] if swapped else ranges, "sum_")
    second = narrowed_sum(wide)
    if second is None:
        return None
    return first, _swapped(second) if swapped else second


def _swapped(both: Sum) -> Sum:
    return Sum(
        both.multiplier_b,
        both.multiplier_a,
        both.addend,
        both.shift,
        both.low,
        both.high,
        both.range_b,
        both.range_a,
    )
