"""The choice of what is streamed, against trying everything."""

from __future__ import annotations

from itertools import product

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from match_core.plan.streaming import Problem, Variant, _peaks, _under_peak, choose_streaming

from tests.examples import examples


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    numbers = st.integers(0, 30)
    variants = st.lists(st.builds(Variant, numbers, numbers, numbers), min_size=1, max_size=3)
    tasks = draw(st.lists(variants.map(tuple), min_size=1, max_size=5))
    live = draw(st.lists(numbers, min_size=len(tasks), max_size=len(tasks)))
    return Problem(tuple(tasks), tuple(live), draw(st.integers(0, 150)))


def best_of(problem: Problem) -> int | None:
    """The least cost of all choices that fit."""
    choices = product(*(range(len(task)) for task in problem.tasks))
    fitting = [problem.cost_of(c) for c in choices if problem.bytes_of(c) <= problem.capacity_bytes]
    return min(fitting, default=None)


@settings(deadline=None, max_examples=examples(80))
@given(problems())
def test_no_choice_that_fits_is_cheaper(problem: Problem) -> None:
    found, best = choose_streaming(problem), best_of(problem)
    if found is None:
        assert best is None
        return
    assert problem.bytes_of(found.chosen) <= problem.capacity_bytes
    assert problem.cost_of(found.chosen) == found.solver.objective == found.solver.bound == best
    assert found.solver.status == "optimal"
    assert choose_streaming(problem) == found


def test_what_fits_is_left_alone() -> None:
    resident, streamed = Variant(10, 500), Variant(12, 0, 100)
    found = choose_streaming(Problem(((resident, streamed),) * 2, (300, 200), 1300))
    assert found is not None
    assert found.chosen == (0, 0)


def test_the_task_with_the_least_extra_cost_is_streamed() -> None:
    tasks = tuple((Variant(10, 500), Variant(10 + extra, 0, 100)) for extra in (7, 3, 5))
    found = choose_streaming(Problem(tasks, (0, 0, 0), 1200))
    assert found is not None
    assert found.chosen == (0, 1, 0)


@pytest.mark.parametrize(("capacity", "chosen"), [(1150, (2,)), (1350, (1,)), (2100, (0,)), (1049, None)])
def test_staging_competes_with_what_is_alive(capacity: int, chosen: tuple[int, ...] | None) -> None:
    """A larger staging area costs less time; it must fit beside 1000 bytes that live meanwhile."""
    variants = (Variant(10, 1000), Variant(12, 50, 300), Variant(20, 50, 0))
    found = choose_streaming(Problem((variants,), (1000,), capacity))
    assert (found and found.chosen) == chosen


@given(problem=problems())
@settings(max_examples=examples(100))
def test_exchanges_come_in_the_order_of_their_cost_per_byte(problem: Problem) -> None:
    for peak in _peaks(problem):
        assert _under_peak(problem, peak) == _one_by_one(problem, peak)


def _one_by_one(problem: Problem, peak: int) -> tuple[int, ...] | None:
    """The same with all exchanges compared after each."""
    pairs = list(zip(problem.live_bytes, problem.tasks, strict=True))
    allowed = [[i for i, v in enumerate(task) if live + v.staging_bytes <= peak] for live, task in pairs]
    if not all(allowed):
        return None
    chosen = [min(own, key=lambda i: (task[i].cost, i)) for own, (_, task) in zip(allowed, pairs, strict=True)]
    while problem.bytes_of(chosen) > problem.capacity_bytes:
        exchanges = []
        for number, (own, (_, task)) in enumerate(zip(allowed, pairs, strict=True)):
            now = task[chosen[number]]
            for index in own:
                if (freed := now.constant_bytes - task[index].constant_bytes) > 0:
                    exchanges.append(((task[index].cost - now.cost) / freed, -freed, number, index))
        if not exchanges:
            return None
        _, _, number, index = min(exchanges)
        chosen[number] = index
    return tuple(chosen)
