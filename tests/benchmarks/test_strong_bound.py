"""The strong bound of the makespan, against all programs of tiny networks and against programs that searches find."""

from __future__ import annotations

from random import Random
from typing import Any

import hypothesis.strategies as st
from hypothesis import example, given, settings
from match_concurrent.mapping.choose import evaluators_of, staged
from match_concurrent.mapping.evaluate import Evaluator
from match_concurrent.mapping.joint import with_joint
from match_concurrent.mapping.joint_search import jointly
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_concurrent.mapping.stages import bounds_of
from match_map.mapper import choose

from benchmarks.strong_bound import strong_bound
from core.tests.map.random_covers import best_of_all, random_lab
from core.tests.map.rows import Lab, Price, lab
from core.tests.map.test_concurrent import best_by_trying_all, evaluator_of, labs, prices
from core.tests.map.test_joint_search import QUICK
from tests.examples import examples

SECONDS = 0.5
MOST = 1 << 40


def evaluators(made: Lab, options: ConcurrentOptions) -> list[Evaluator]:
    offered = with_joint(made.offered, made.scheduler)
    return evaluators_of(made.model, offered, made.scheduler, choose(made.model, made.offered), options)


@settings(deadline=None, max_examples=examples(40))
@given(
    graph=st.sampled_from([{"a": ["in"]}, {"a": ["in"], "b": ["a"]}, {"a": ["in"], "b": ["in"]}]),
    fast=prices,
    slow=prices,
    halo=st.sampled_from([0, 1, 3]),
)
def test_no_tiny_program_is_faster(graph: Any, fast: Price, slow: Price, halo: int) -> None:
    made = lab(graph, {"host": Price(5000, 9000), "fast": fast, "slow": slow}, rows=4, columns=3, halo=halo)
    evaluator = evaluator_of(made)
    least = best_by_trying_all(evaluator)
    found, solved = strong_bound(evaluator, least, SECONDS)
    assert solved
    assert bounds_of([evaluator]).cycles <= found <= least


@settings(deadline=None, max_examples=examples(30))
@given(made=labs())
def test_no_program_that_a_search_finds_is_faster(made: Lab) -> None:
    options = ConcurrentOptions(**{**QUICK, "parallel": "joint", "free_covers": False})
    for evaluator in evaluators(made, options):
        best, _ = jointly(*staged([evaluator], options))
        found, _ = strong_bound(evaluator, MOST, SECONDS)
        assert bounds_of([evaluator]).cycles <= found <= best.finish


@settings(deadline=None, max_examples=examples(20))
@example(seed=1111, operators=3)  # the solver's bound is 253.00000000000003
@given(seed=st.integers(0, 10**6), operators=st.integers(2, 5))
def test_no_order_of_whole_operators_is_faster(seed: int, operators: int) -> None:
    """Of all covers: the least of their bounds is that of the best of all programs, or lower."""
    made = random_lab(Random(seed), operators)
    best = best_of_all(made)
    options = ConcurrentOptions(**QUICK)
    found = [strong_bound(evaluator, MOST, SECONDS)[0] for evaluator in evaluators(made, options)]
    programs = [staged([evaluator], options)[0].finish for evaluator in evaluators(made, options)]
    assert all(bound <= finish for bound, finish in zip(found, programs, strict=True))
    assert min(programs) > best or min(found) <= best


def test_it_knows_what_shares_cost() -> None:
    """Every task costs 400 cycles more, so that two units do not halve the time of an operator."""
    units = {"host": Price(10**6, 9000), "one": Price(400, 1000), "two": Price(400, 1000)}
    evaluator = evaluator_of(lab({"a": ["in"]}, units, rows=20, columns=10))
    simple = bounds_of([evaluator]).cycles
    found, solved = strong_bound(evaluator, MOST, SECONDS)
    assert solved
    assert found == 400 + 1000 + 8 + 4 > 1.1 * simple
