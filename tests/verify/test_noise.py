"""The ratio of signal to noise against other ways to compute it, and ties among classes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.contract.quantisation import Quantisation
from match_verify.judge import judge
from match_verify.meaning import Meaning
from match_verify.noise import Noise, agreement, noise_of

NAN, INF = math.nan, math.inf


@given(st.integers(0, 2**31), st.floats(1e-4, 10))
def test_the_ratio_is_that_of_root_mean_squares(seed: int, size: float) -> None:
    random = np.random.default_rng(seed)
    original = random.standard_normal((3, 40))
    got = original + size * random.standard_normal((3, 40))
    rms = [math.sqrt(math.fsum(float(x) ** 2 for x in each.ravel()) / 120) for each in (original, original - got)]
    assert noise_of(original, got).sqnr_db == pytest.approx(20 * math.log10(rms[0] / rms[1]), abs=1e-6)


def test_a_uniform_quantiser_has_six_decibels_a_bit() -> None:
    """A sine that fills n bits: 6.02 n + 1.76 dB (W. R. Bennett, Spectra of quantized signals, 1948)."""
    sine = np.sin(np.arange(100_000) * 0.7123)
    for bits in (6, 8, 10):
        step = 2.0 ** (1 - bits)
        assert noise_of(sine, np.round(sine / step) * step).sqnr_db == pytest.approx(6.02 * bits + 1.76, abs=0.3)


def test_sums_over_samples_are_one_ratio() -> None:
    first, second = noise_of(np.array([3.0]), np.array([2.0])), noise_of(np.array([1.0]), np.array([1.0]))
    assert (first + second) == Noise(10.0, 1.0)
    assert (first + second).sqnr_db == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("original", "got", "ratio"),
    [
        ([1, 2], [1, 2], INF),
        ([0, 0], [0, 0], INF),
        ([0, 0], [0, 1], -INF),
        ([NAN, 1], [NAN, 1], INF),
        ([INF, 10], [INF, 9], 20.0),
        ([NAN, 1], [0, 1], -INF),
        ([1, 1], [INF, 1], -INF),
        ([INF, 1], [-INF, 1], -INF),
    ],
)
def test_the_ends_of_the_scale(original: list[float], got: list[float], ratio: float) -> None:
    assert noise_of(np.array(original, np.float32), np.array(got, np.float32)).sqnr_db == pytest.approx(ratio)


def test_a_tie_within_a_step_is_agreement() -> None:
    original = np.array([[5, 4, 0], [9, 1, 0], [2, 2, 0]])
    got = np.array([[4, 5, 0], [1, 9, 0], [0, 2, 0]])
    assert agreement(original, got, tie=1.0) == pytest.approx(2 / 3)
    assert agreement(original, got, tie=0.0) == pytest.approx(1 / 3)


def _scores(samples: int, wrong: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores [samples, 1, 10] of which the largest class differs in some samples, with little noise else."""
    original = np.random.default_rng(1).uniform(0, 1, (samples, 1, 10)).astype(np.float32)
    original[:, 0, 3] = 20
    original[:, 0, 5] = 19
    got = original.copy()
    got[:wrong, 0, 5] = 20.5
    return original, got


@pytest.mark.parametrize(("samples", "wrong", "fails"), [(20, 1, False), (20, 2, True), (19, 2, False), (4, 4, False)])
def test_class_scores_are_judged_from_twenty_samples_on(samples: int, wrong: int, fails: bool) -> None:
    loss = judge("y", *_scores(samples, wrong), Meaning())
    assert loss.sqnr_db is not None and loss.sqnr_db > 20
    assert loss.agreement == pytest.approx(1 - wrong / samples)
    assert bool(loss.failed) == fails


def test_integers_are_compared_as_real_values() -> None:
    """The zero point is no signal."""
    meaning = Meaning(Quantisation(0.5, 100), 0.5)
    original, got = np.array([[104, 96]], np.uint8), np.array([[102, 98]], np.uint8)
    loss = judge("y", original, got, meaning)
    assert loss.sqnr_db == pytest.approx(10 * math.log10((2**2 + 2**2) / (1 + 1)))
    assert loss.worst_steps == 2 and loss.failed


def test_one_step_away_is_no_loss() -> None:
    meaning = Meaning(Quantisation(0.1, 0), 0.1)
    original, got = np.array([[1, 0, -1]], np.int8), np.array([[0, 1, -2]], np.int8)
    assert judge("y", original, got, meaning).failed == ()
    assert judge("y", original, 2 * got, meaning).failed


def test_labels_are_equal_or_not() -> None:
    original = np.arange(40).reshape(4, 10)
    loss = judge("y", original, np.where(original < 3, 7, original), Meaning(labels=True))
    assert (loss.sqnr_db, loss.agreement, loss.rows) == (None, 37 / 40, 40)
    assert loss.failed == ("92.5% of 40 labels agree, 95% are required",)
    assert judge("y", original[:1], original[:1] + 1, Meaning(labels=True)).failed == ()
