"""Non-negative least squares against the definition of its optimum."""

from __future__ import annotations

import numpy as np
import pytest
from match_calibrate.solve import non_negative


@pytest.mark.parametrize("seed", range(40))
def test_no_other_x_is_better(seed: int) -> None:
    """The conditions of Karush, Kuhn and Tucker, which hold at the optimum only."""
    numbers = np.random.default_rng(seed)
    rows, columns = int(numbers.integers(1, 40)), int(numbers.integers(1, 20))
    scale = 10.0 ** numbers.integers(-4, 5, columns)
    matrix = numbers.normal(size=(rows, columns)) * scale
    if seed % 3 == 0 and columns > 1:
        matrix[:, -1] = 2 * matrix[:, 0]  # cannot be told apart
    wanted = numbers.normal(size=rows)
    x = non_negative(matrix, wanted)
    slope = (matrix / scale).T @ (matrix @ x - wanted)
    assert (x >= 0).all()
    assert (slope >= -1e-7).all()
    assert np.abs(slope[x > 0]).max(initial=0) < 1e-7


def test_a_negative_solution_is_cut_at_zero() -> None:
    assert non_negative(np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([1.0, 3.0])).tolist() == [2.0, 0.0]


def test_nothing_to_solve() -> None:
    assert non_negative(np.zeros((3, 0)), np.ones(3)).shape == (0,)
    assert non_negative(np.zeros((3, 2)), np.ones(3)).tolist() == [0.0, 0.0]
