"""The strong bound of the makespan, against all programs of tiny networks and against programs that searches find."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, pairwise, product
from random import Random
from typing import Any

import hypothesis.strategies as st
from hypothesis import example, given, settings
from match_concurrent.mapping.choose import evaluators_of, staged
from match_concurrent.mapping.evaluate import Evaluator
from match_concurrent.mapping.joint import with_joint
from match_concurrent.mapping.joint_search import jointly
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_concurrent.mapping.parts import Division, Part
from match_concurrent.mapping.stages import bounds_of
from match_map.mapper import choose

from benchmarks.segment_bound import segment_bound
from benchmarks.strong_bound import strong_bound
from core.tests.map.concurrent_lab import evaluator_of, labs, prices
from core.tests.map.random_covers import best_of_all, random_lab
from core.tests.map.rows import Lab, Price, lab
from core.tests.map.test_concurrent_best import best_by_trying_all
from core.tests.map.test_joint_search import QUICK
from tests.examples import all_examples, examples

SECONDS = 0.5
#: Whatever the solver has proven by then has to hold; ``make test-slow`` lets it prove more.
BRIEFLY = SECONDS if all_examples() else 0.05
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


def in_tasks(evaluator: Evaluator, number: int) -> Iterator[Division]:
    """All ways to divide an operator into tasks on any units, along each axis."""
    operator = evaluator.network.operators[number]
    for offer in operator.offers:
        yield (Part(offer),)
    for along in evaluator.network.along(operator):
        for borders in chain.from_iterable(combinations(range(1, along.tiles), n) for n in range(1, along.tiles)):
            ends = [*(tile * along.step for tile in borders), along.size]
            for units in product(along.units, repeat=len(ends)):
                pairs = zip(units, [0, *ends], ends, strict=False)
                yield tuple(Part(unit.offer, unit.dim, first, end - first) for unit, first, end in pairs)


@settings(deadline=None, max_examples=examples(15))
@given(
    graph=st.sampled_from([{"a": ["in"], "b": ["a"]}, {"a": ["in"], "b": ["in"]}]),
    fast=prices,
    slow=prices,
    halo=st.sampled_from([0, 1]),
)
def test_no_program_of_many_tasks_is_faster(graph: Any, fast: Price, slow: Price, halo: int) -> None:
    made = lab(graph, {"host": Price(5000, 9000), "fast": fast, "slow": slow}, rows=3, columns=1, halo=halo)
    evaluator = evaluator_of(made)
    ways = [list(in_tasks(evaluator, number)) for number in range(len(evaluator.network.operators))]
    evaluator.costs.confirm(part for own in ways for division in own for part in division)
    least = min(evaluator.evaluate(choice).finish for choice in product(*ways))
    found, _ = strong_bound(evaluator, MOST, SECONDS)
    assert max(found, segment_bound(evaluator, MOST, fine=(SECONDS,), coarse=(SECONDS,))) <= least


@settings(deadline=None, max_examples=examples(30))
@given(made=labs())
def test_no_program_that_a_search_finds_is_faster(made: Lab) -> None:
    options = ConcurrentOptions(**{**QUICK, "parallel": "joint", "free_covers": False})
    for evaluator in evaluators(made, options):
        best, _ = jointly(*staged([evaluator], options))
        found, _ = strong_bound(evaluator, MOST, BRIEFLY)
        assert bounds_of([evaluator]).cycles <= found <= best.finish
        assert segment_bound(evaluator, MOST, fine=(BRIEFLY,), coarse=(BRIEFLY,)) <= best.finish


@settings(deadline=None, max_examples=examples(15))
@given(operators=st.integers(2, 5), fast=prices, slow=prices, halo=st.sampled_from([0, 1, 6]), rows=st.integers(3, 8))
def test_no_chain_that_a_search_finds_is_faster(operators: int, fast: Price, slow: Price, halo: int, rows: int) -> None:
    """A halo of 6 rows: every part reads all of its maker."""
    names = ["in", *"abcde"[:operators]]
    graph = {reader: [maker] for maker, reader in pairwise(names)}
    made = lab(graph, {"host": Price(5000, 9000), "fast": fast, "slow": slow}, rows=rows, columns=3, halo=halo)
    options = ConcurrentOptions(**{**QUICK, "parallel": "joint", "free_covers": False})
    for evaluator in evaluators(made, options):
        best, _ = jointly(*staged([evaluator], options))
        assert 0 < segment_bound(evaluator, MOST, fine=(SECONDS,), coarse=(SECONDS,)) <= best.finish
        assert segment_bound(evaluator, best.finish, fine=(SECONDS,), coarse=(SECONDS,)) <= best.finish


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
