"""The generator of a module starts anew for each test."""

from __future__ import annotations

import numpy as np
import pytest

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize("turn", [1, 2])
def test_every_turn_draws_the_same(turn: int) -> None:
    np.testing.assert_array_equal(
        RANDOM.integers(0, 1000, 8 * turn), np.random.default_rng(5).integers(0, 1000, 8 * turn)
    )
