"""Searches ITA constants that reproduce a table of an integer network bit for bit.

QuantLib's GELU (sheet ita-arithmetic, 2.9) is the same polynomial in another form, with an extra rounding between
product and requantisation. No formula converts its constants to ITA's, so constants near the fitted scales are tried.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from match_ita.arithmetic import GeluConstants, RequantStep, gelu, gelu_constants, gelu_polynomial
from match_ita.ita.limits import MULTIPLIER_MAX, SHIFT_MAX
from match_ita.passes.gelu_fit import GeluTable

#: How far from the fitted constants the search goes: b, the share of c, the multiplier.
_B_REACH, _C_REACH, _MULTIPLIER_REACH = 3, 0.06, 2
_X = np.arange(-128, 128)


def exact_constants(table: NDArray[np.int8], fitted: GeluTable) -> GeluConstants | None:
    """Constants with which ITA's result is ``-1 - table[x]`` for every x; None where none are found near the fit."""
    if fitted.zero_x != 0:
        return None
    wanted = -1 - table.astype(np.int64).reshape(-1)
    near = gelu_constants(fitted.scale_x)
    add = -round(fitted.zero_y) - 1
    width = round(abs(near.c) * _C_REACH)
    c = np.arange(near.c - width, near.c + width + 1)
    for b in range(near.b - _B_REACH, near.b + _B_REACH + 1):
        found = _first(gelu_polynomial(_X, b, c[:, None])[1], wanted, add)
        if found is not None:
            index, step = found
            constants = GeluConstants(b, int(c[index]), step)
            return constants if np.array_equal(gelu(_X.astype(np.int8), constants), wanted) else None
    return None


def _first(g: NDArray[np.int64], wanted: NDArray[np.int64], add: int) -> tuple[int, RequantStep] | None:
    """The first row of ``g`` [rows, 256] that some requantisation brings to ``wanted``."""
    free = np.abs(wanted - add) > 20  # entries that determine the factor, without those that saturate
    free &= (wanted > -128) & (wanted < 127)
    if not np.any(free):
        return None
    factor = np.mean((wanted[free] - add) / g[:, free], axis=1)
    shift = SHIFT_MAX
    while shift > 0 and float(factor.max()) * 2.0**shift > MULTIPLIER_MAX - _MULTIPLIER_REACH:
        shift -= 1
    nearest = np.rint(factor * 2.0**shift).astype(np.int64)
    half = (1 << shift) >> 1
    for more in range(-_MULTIPLIER_REACH, _MULTIPLIER_REACH + 1):
        got = np.clip(((g * (nearest + more)[:, None] + half) >> shift) + add, -128, 127)
        rows = np.flatnonzero((got == wanted).all(axis=1) & (nearest + more > 0))
        if rows.size:
            index = int(rows[0])
            return index, RequantStep(int(nearest[index]) + more, shift, add)
    return None
