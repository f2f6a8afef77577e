"""Noise of the analog array's ADC: off by default, and with a seed that of training (diana-quantlib)."""

from __future__ import annotations

import numpy as np
import pytest
from diana_analog_harness import Driver, Script, dump, place, result, start
from diana_analog_reference import Ints, Scaling, Shape

SHAPE = Shape(1, 64, 30, 60, fy=1, fx=1)


def _values(driver: Driver, value: int, seed: str | None) -> Ints:
    """What the ADC gives for as many reads of ``value`` as there are outputs."""
    script = Script()
    job = place(script, SHAPE, np.full((1, 30, 60), value), np.ones((64, 1, 1, 1), np.int8), Scaling())
    start(script, job)
    dump(script, job)
    environment = {} if seed is None else {"MATCH_DIANA_NOISE_SEED": seed}
    return result(driver.run(script.text(), environment=environment)[0], SHAPE)


@pytest.mark.parametrize("seed", [None, ""])
def test_off_by_default(driver: Driver, seed: str | None) -> None:
    assert np.all(_values(driver, 20, seed) == 20)


def test_same_seed_same_noise(driver: Driver) -> None:
    first = _values(driver, 20, "7")
    np.testing.assert_array_equal(first, _values(driver, 20, "7"))
    assert not np.array_equal(first, _values(driver, 20, "8"))


@pytest.mark.parametrize("value", [20, -25])
def test_statistics(driver: Driver, value: int) -> None:
    """The deviation is that of a normal variate of |value| / 25, rounded: its variance grows by 1/12. Bounds are four
    standard errors."""
    values = _values(driver, value, "1")
    count, variance = values.size, (value / 25) ** 2 + 1 / 12
    assert abs(values.mean() - value) < 4 * np.sqrt(variance / count)
    assert abs(values.var() - variance) < 4 * variance * np.sqrt(2 / count)
    within = np.mean(np.abs(values - value) <= 1)
    expected = {20: 0.9392, -25: 0.8664}[value]  # P(|n| < 1.5 * 25 / |value|)
    assert abs(within - expected) < 4 * np.sqrt(expected * (1 - expected) / count)


def test_nothing_at_zero_and_clipped_at_the_ends(driver: Driver) -> None:
    """The noise is in proportion to the value, and the ADC's 6 bits stay."""
    assert np.all(_values(driver, 0, "1") == 0)
    for value, end in ((31, 31), (-32, -32)):
        values = _values(driver, value, "1")
        assert np.abs(values).max() == abs(end) and len(np.unique(values)) > 3


def test_channels_have_noise_of_their_own(driver: Driver) -> None:
    values = _values(driver, 30, "3").reshape(64, -1) - 30
    correlation = np.corrcoef(values)
    assert np.abs(correlation - np.eye(64)).max() < 0.12  # five standard errors


@pytest.mark.parametrize("seed", ["x", "-1", "1.5", " 1", "18446744073709551616"])
def test_seeds_that_are_none(driver: Driver, seed: str) -> None:
    script = Script()
    shape = Shape(1, 1, 1, 1, fy=1, fx=1)
    start(script, place(script, shape, np.ones((1, 1, 1), np.int64), np.ones((1, 1, 1, 1), np.int8), Scaling()))
    message = driver.fault(script.text(), {"MATCH_DIANA_NOISE_SEED": seed})
    assert f'MATCH_DIANA_NOISE_SEED is "{seed}"' in message
