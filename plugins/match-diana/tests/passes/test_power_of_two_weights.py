"""Rounding the weights of one layer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.ir.reader import Quant
from match_quant.expectation import Expectation, unknown
from match_quant.powers.weights import rounded_weights
from numpy.typing import NDArray

RELU = Quant(1.0, 0, np.dtype(np.int8), 0, 127)
SIGNED = Quant(1.0, 0, np.dtype(np.int8), -128, 127)


def inputs(quant: Quant = RELU) -> Expectation:
    return unknown(quant)


def ideal(seed: int, *shape: int, largest: float = 0.3) -> NDArray[np.float64]:
    values = np.random.default_rng(seed).normal(size=shape)
    return values * (largest / np.abs(values).max())


@given(
    seed=st.integers(0, 2**16),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 9, 25])),
    exponent=st.floats(-20, 6.9),
)
def test_weights_fill_their_bits_and_are_less_than_a_step_off(
    seed: int, shape: tuple[int, int, int], exponent: float
) -> None:
    wanted = ideal(seed, *shape, largest=2.0**exponent)
    found = rounded_weights(wanted, inputs(), 0)
    assert found is not None
    steps = np.ldexp(wanted, found.shift)
    inside = np.abs(steps) < 127.5
    assert np.abs(found.values).max() <= 127
    assert np.abs(steps).max() >= 63.7 and found.saturated == np.count_nonzero(~inside)
    assert np.abs(found.values - steps)[inside].max() < 1


@given(seed=st.integers(0, 2**16), taps=st.sampled_from([9, 15, 25, 49]))
def test_errors_of_a_window_add_up_to_little(seed: int, taps: int) -> None:
    found = rounded_weights(ideal(seed, 4, 1, taps), inputs(), 0)
    assert found is not None
    error = found.values - np.ldexp(ideal(seed, 4, 1, taps), found.shift)
    # At most a half, but for an output whose weights cannot move: those at 127.
    assert np.abs(error.sum(axis=(1, 2))).max() <= 1.0 + 1e-9


def test_errors_of_an_output_add_up_to_less_than_when_rounded_to_nearest() -> None:
    wanted = ideal(3, 64, 64, 9)
    found = rounded_weights(wanted, inputs(), 0)
    assert found is not None
    steps = np.ldexp(wanted, found.shift)
    nearest = np.abs((np.rint(steps) - steps).sum(axis=(1, 2)))
    balanced = np.abs((found.values - steps).sum(axis=(1, 2)))
    assert balanced.max() <= 0.5 + 1e-9 < nearest.max()


def test_the_largest_error_is_reached_by_some_input_and_no_other_exceeds_it() -> None:
    wanted = ideal(5, 3, 4, 9)
    found = rounded_weights(wanted, inputs(SIGNED), 0)
    assert found is not None
    error = np.ldexp(found.values, -found.shift) - wanted
    worst = [np.where(side * error > 0, 127, -128) for side in (1, -1)]
    reached = max(np.abs((error * x).sum(axis=(1, 2))).max() for x in worst)
    assert found.largest == pytest.approx(reached)
    x = np.random.default_rng(1).integers(-128, 128, (100, 1, 4, 9))
    assert np.abs((error * x).sum(axis=(2, 3))).max() <= found.largest


def test_a_rare_outlier_saturates_where_that_loses_less() -> None:
    # One weight a little beyond 127 at the next scale, in a layer of many others.
    wanted = np.clip(ideal(7, 64, 256, 1, largest=0.25), -0.1, 0.1)
    wanted[5, 17, 0] = 0.251
    found = rounded_weights(wanted, inputs(), 0)
    assert found is not None
    assert found.saturated == 1 and found.values[5, 17, 0] == 127


def test_outliers_that_matter_do_not_saturate() -> None:
    wanted = ideal(7, 8, 4, 1, largest=0.1)
    wanted[:, 0, 0] = 0.24
    found = rounded_weights(wanted, inputs(), 0)
    assert found is not None
    assert found.saturated == 0


def test_the_zero_point_counts() -> None:
    """With the zero point at the lower end the same integers are larger values."""
    low = Quant(1.0, -128, np.dtype(np.int8), -128, 127)
    wanted = ideal(9, 4, 4, 9)
    with_zero, without = rounded_weights(wanted, inputs(low), -128), rounded_weights(wanted, inputs(RELU), 0)
    assert with_zero is not None and without is not None
    assert with_zero.largest > 1.5 * without.largest


def test_factors_beyond_127_are_refused() -> None:
    assert rounded_weights(np.full((1, 1, 1), 127.5), inputs(), 0) is None
    assert rounded_weights(np.full((1, 1, 1), np.inf), inputs(), 0) is None
    found = rounded_weights(np.full((1, 1, 1), 127.0), inputs(), 0)
    assert found is not None and found.shift == 0 and found.values[0, 0, 0] == 127


def test_weights_of_0() -> None:
    found = rounded_weights(np.zeros((2, 3, 1)), inputs(), 0)
    assert found is not None and not found.values.any() and found.largest == 0
