"""Bounds of the concurrent mapping: of the work before anything is scheduled, and of a time line not made yet."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from match_concurrent.mapping.bounds import Queue, ideal_shares
from match_concurrent.mapping.hopeless import least_work
from match_concurrent.mapping.timeline import Step, earliest_start_order, least_finish, simulate
from match_core.contract.hardware import Signalling

from tests.examples import examples


@st.composite
def rates(draw: st.DrawFn) -> list[dict[Queue, float]]:
    kinds = st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True).map(tuple)
    queues = st.dictionaries(kinds, st.floats(1, 1000), min_size=1, max_size=4)
    return draw(st.lists(queues, min_size=1, max_size=20))


@settings(deadline=None, max_examples=examples(60))
@given(rates=rates())
def test_the_cheap_bound_of_the_work_is_below_the_linear_program(rates: list[dict[Queue, float]]) -> None:
    exact, _ = ideal_shares(rates)
    assert 0 < least_work(rates) <= exact * (1 + 1e-5)


def test_the_cheap_bound_of_the_work_is_close() -> None:
    """Two queues share ten equal operators, and one operator runs on the first only."""
    rates = [*({(0,): 100.0, (1,): 50.0} for _ in range(10)), {(0,): 40.0}]
    exact, _ = ideal_shares(rates)
    assert least_work(rates) == pytest.approx(exact, rel=0.02)
    assert least_work([]) == 0


def test_what_keeps_two_queues_busy_is_work_of_both() -> None:
    """One operator runs on both queues at once, or on the first at length; the other one on the second only."""
    exact, shares = ideal_shares([{(0, 1): 60.0, (0,): 100.0}, {(1,): 30.0}])
    assert exact == pytest.approx(72.0)  # 0.7 * 60 + 0.3 * 100 = 0.7 * 60 + 30
    assert shares[0] == pytest.approx({(0, 1): 0.7, (0,): 0.3})


@st.composite
def graphs(draw: st.DrawFn) -> list[Step]:
    steps = []
    for number in range(draw(st.integers(1, 20))):
        needs = draw(st.sets(st.integers(0, number - 1), max_size=3)) if number else set()
        queue, other = draw(st.integers(0, 3)), draw(st.integers(1, 3))
        occupies = (other,) if other != queue and draw(st.booleans()) else ()
        steps.append(Step(queue, draw(st.integers(0, 50)), tuple(sorted(needs)), occupies))
    return steps


@settings(deadline=None, max_examples=examples(100))
@given(steps=graphs(), cycles=st.tuples(*[st.sampled_from((0, 3, 20))] * 4))
def test_no_time_line_is_shorter_than_its_bound(steps: list[Step], cycles: tuple[int, int, int, int]) -> None:
    signalling = Signalling("poll", *cycles)
    order = earliest_start_order(steps, signalling)
    line = simulate(steps, order, signalling)
    assert least_finish(steps, signalling) <= line.finish
    assert simulate(steps, order, signalling, line.finish) == line
    assert simulate(steps, order, signalling, line.finish - 1).finish >= line.finish


def test_the_bound_knows_chains_and_queues() -> None:
    signalling = Signalling("poll", 1, 2, 4, 8)
    chain = [Step(1, 100), Step(2, 50, (0,)), Step(1, 10, (1,))]
    assert least_finish(chain, signalling) == 3 + 100 + 7 + 50 + 7 + 10 + 4
    queue = [Step(1, 100), Step(1, 100), Step(2, 10)]
    assert least_finish(queue, signalling) == 3 + 100 + 8 + 100
