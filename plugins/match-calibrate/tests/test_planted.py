"""Constants that were planted are found again in noisy counters."""

from __future__ import annotations

import numpy as np
import pytest
from calibration_programs import Programs
from match_calibrate.fit import Fitting

#: Made-up values, far from the package's.
TRUE = {
    ("cluster", "cluster_offload_cycles"): 8000,
    ("cluster", "sdk_add_quad_cycles"): 240,
    ("cluster", "sdk_requant_output_cycles"): 120,
}
NOISE = 0.05


def _noisy(exact: np.ndarray, seed: int) -> np.ndarray:
    """Each counter is up to 5 % off."""
    return np.round(exact * (1 + np.random.default_rng(seed).uniform(-NOISE, NOISE, len(exact))))


@pytest.mark.parametrize("seed", [1, 3])
def test_planted_constants_are_recovered(seed: int, programs: Programs) -> None:
    """From one run of some 30 layers. Six to thirty layers depend on each constant, so its standard error is about 1 %;
    other seeds may be farther off."""
    exact = programs.true_cycles(TRUE)
    assert 30 <= len(exact) <= 40
    fit = Fitting(programs.predictor, _noisy(exact, seed)).fit()
    for name, value in TRUE.items():
        assert fit.values[name] == pytest.approx(value, rel=0.02), name
        assert 0 < fit.errors[name] < 0.04 * value, name


def test_more_runs_determine_constants_better(programs: Programs) -> None:
    runs = 4
    predictor = programs.repeated(runs)
    fit = Fitting(predictor, _noisy(np.tile(programs.true_cycles(TRUE), runs), 0)).fit()
    for name, value in TRUE.items():
        assert fit.values[name] == pytest.approx(value, rel=0.02), name


def test_the_standard_error_says_how_far_off_a_value_may_be(programs: Programs) -> None:
    """Two layers depend on the constant of pooling."""
    true = {**TRUE, ("cluster", "sdk_avgpool_tap_cycles"): 30}
    fit = Fitting(programs.predictor, _noisy(programs.true_cycles(true), 3)).fit()
    for name, error in fit.errors.items():
        wanted = true.get(name, programs.predictor.start[name])
        assert abs(fit.values[name] - wanted) <= 4 * error + 1, name


def test_exact_counters_change_nothing(programs: Programs) -> None:
    fit = Fitting(programs.predictor, programs.true_cycles({})).fit()
    assert fit.values == programs.predictor.start


def test_exact_counters_give_the_exact_constants(programs: Programs) -> None:
    fit = Fitting(programs.predictor, programs.true_cycles(TRUE)).fit()
    assert fit.values == {**programs.predictor.start, **TRUE}
