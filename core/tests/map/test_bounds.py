"""The least makespan of operators that are divided freely."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given
from match_concurrent.mapping.bounds import ideal_shares

#: Cycles by queue, as they occur: a product of matrices on a host, on its cores and on an accelerator beside them.
PRODUCT = {0: 686161940.0, 1: 56431496.0, 2: 98466.0}
LONG_PRODUCT = {0: 912654356.0, 1: 144133814.66666666, 2: 135664.0}
NORM = {0: 20519956.0, 1: 449088.0}


def test_operators_of_very_different_rates_have_a_bound() -> None:
    rates = [*[PRODUCT] * 4, NORM, *[PRODUCT] * 3, {2: 130402.0}, {2: 130402.0}, LONG_PRODUCT, {1: 318938.0}, NORM]
    finish, shares = ideal_shares(rates)
    # The norms and what only the cores run take longer than all products on the accelerator, so the host helps.
    on_cores = 2 * NORM[1] + 318938.0
    assert 0.9 * on_cores < finish < on_cores
    assert all(sum(fractions.values()) == pytest.approx(1) for fractions in shares)


def test_nothing_to_do_takes_no_time() -> None:
    assert ideal_shares([]) == (0.0, ())
    assert ideal_shares([{0: 0.0, 1: 5.0}]) == (0.0, ({0: 1.0},))


@given(st.lists(st.dictionaries(st.integers(0, 3), st.floats(1, 1e10), min_size=1), min_size=1, max_size=60))
def test_the_bound_is_what_its_shares_take(rates: list[dict[int, float]]) -> None:
    finish, shares = ideal_shares(rates)
    loads = dict.fromkeys(range(4), 0.0)
    for by_queue, fractions in zip(rates, shares, strict=True):
        assert sum(fractions.values()) == pytest.approx(1)
        for queue, fraction in fractions.items():
            loads[queue] += by_queue[queue] * fraction
    assert finish == pytest.approx(max(loads.values()), rel=1e-5)
    least = [min(by_queue.values()) for by_queue in rates]
    assert sum(least) / 4 * (1 - 1e-5) <= finish <= sum(least) * (1 + 1e-5)
