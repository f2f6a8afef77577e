"""Requantisation in 32-bit lanes and sums in 32 bits give the integer graph's results for every value."""

from __future__ import annotations

import numpy as np
import pytest
from match_cortexm.kernels.add import _short
from match_cortexm.kernels.border import border_of
from match_cortexm.kernels.requant import Requant
from match_cortexm.kernels.upper import upper_of
from match_host.kernels.window import Window


@pytest.mark.parametrize("shift", range(0, 9))
def test_lanes_equal_64_bits(shift):
    rng = np.random.default_rng(shift)
    m = rng.integers(1 << 26, 1 << 31, 24)
    m[3] = 0
    most = rng.integers(1 << 12, 1 << 16, 24)
    most[3] = 0
    b = rng.integers(-(1 << 12), 1 << 12, 24) * m + (1 << (31 + shift)) - (128 << (32 + shift))
    found = upper_of(Requant(m[None], b, shift, -128, 127), most)
    assert found is not None
    for k in range(24):
        sums = np.arange(-most[k], most[k] + 1)
        exact = np.clip((sums * m[k] + b[k]) >> (32 + shift), -128, 127)
        moved = np.clip(sums << found.left, -(1 << 31), (1 << 31) - 1)
        total = np.clip(moved + int(found.addend[k]), -(1 << 31), (1 << 31) - 1)
        value = np.clip((total * int(found.multiplier[k]) >> 32) >> found.right, -128, 127)
        assert np.array_equal(value, exact)


def test_no_numbers_for_negative_multipliers():
    assert upper_of(Requant(np.array([[-5]]), np.array([0]), 2, -128, 127), np.array([100])) is None


def test_sums_equal_for_all_pairs():
    a, b, c, d, low, high = numbers = (415133429, 1098017566, -19706032632, 1 << 29, -128, 127)
    short = _short(numbers, "int8", "int8")
    assert short is not None
    x, y = np.arange(-128, 128)[:, None], np.arange(-128, 128)[None, :]
    exact = np.clip((x * a + y * b + c) // d, low, high)
    value = x * short[0] + y * short[1] + short[2]
    assert np.abs(value).max() < 1 << 31
    assert np.array_equal(np.clip(value >> short[3], low, high), exact)


def test_borders():
    y, x = Window("y", 5, 5, 3, 1, 1, 1, 1), Window("x", 6, 6, 3, 1, 1, 1, 1)
    found = border_of(y, x, positions=2)
    assert found.condition == "(x < 1) || (x > 3) || (y < 1) || (y > 3)"
    assert (found.tiles, found.outside) == (15, 12)  # the tile in the middle of three rows is inside
