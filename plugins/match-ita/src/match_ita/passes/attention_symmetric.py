"""Symmetric q, k and v: linear layers whose results have zero point 0.

ITA multiplies q, k and v without zero points. The layers compute ``ratio * (value - zero)``; the ratio is below 1 to
make room for the zero point's share of the range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_quant.linear.layers import Ints
from match_quant.multipliers import below

from match_ita.ita.limits import BLOCK, REQUANT
from match_ita.passes.attention_match import NotAttentionError, Projection

#: Bits of a new multiplier, as the core's own ones have (match_quant/requant.py).
_MULTIPLIER_BITS = 24
_SHIFT_MAX = 48


@dataclass(frozen=True, slots=True)
class Symmetric:
    """A linear layer whose result is ``ratio * (value - zero)`` of a projection, with consecutive heads, each
    padded with zero columns to a multiple of a block. ``weight`` [C, K], ``multiplier`` and ``addend`` [K]."""

    weight: Ints
    multiplier: Ints
    addend: Ints
    shift: int
    lo: int
    hi: int
    ratio: float


def symmetric(projection: Projection) -> Symmetric:
    """The linear layer of a projection with zero point 0. Where all columns have one multiplier, the ratio is lowered
    until the new one has 8 bits."""
    layer, line, zero = projection.layer, projection.affine, projection.zero
    slope = layer.multiplier / 2.0**layer.shift * line.slope
    offset = (layer.addend / 2.0**layer.shift - 0.5) * line.slope + line.offset - zero
    ratio = min(1.0, 127.0 / max(line.hi - zero, zero - line.lo - 1, 1))
    if np.all(slope == slope[0]) and slope[0] > 0:
        ratio = _eight_bits_below(ratio * float(slope[0])) / float(slope[0])
    columns = padded_columns(projection.columns)
    real = columns >= 0
    weight = np.where(real, layer.weight[:, columns], 0)
    slopes, offsets = ratio * slope[columns], np.where(real, ratio * offset[columns], 0.0)
    shift = min(_SHIFT_MAX, _MULTIPLIER_BITS - 1 - int(np.floor(np.log2(max(slopes.max(), 2.0**-40)))))
    if shift < 0:
        raise NotAttentionError("a multiplier of a linear layer is too large")
    unit = 2.0**shift
    multiplier = np.rint(slopes * unit).astype(np.int64)
    addend = np.rint((offsets + 0.5) * unit).astype(np.int64)
    lo, hi = (int(np.clip(round(ratio * (end - zero)), -128, 127)) for end in (line.lo, line.hi))
    full = (layer.lo, layer.hi, line.lo, line.hi) == (-128, 127, -128, 127)
    return Symmetric(weight, multiplier, addend, shift, -128 if full else lo, 127 if full else hi, ratio)


def _eight_bits_below(slope: float) -> float:
    """The largest factor with a multiplier of 8 bits that is at most ``slope``."""
    found = below(slope, REQUANT)
    if found is None:
        raise NotAttentionError(f"the factor of a linear layer, {slope:.3g}, has no 8-bit multiplier")
    return found.slope


def padded_columns(columns: Ints) -> Ints:
    """[H, P] -> [H * P'] with P' a multiple of a block; -1 where a column is added."""
    return np.pad(columns, ((0, 0), (0, -columns.shape[1] % BLOCK)), constant_values=-1).reshape(-1)
