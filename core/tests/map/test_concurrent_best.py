"""Concurrent mappings against trying everything, and against the sequential one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from match_concurrent.mapping.bounds import path_cycles
from match_concurrent.mapping.evaluate import Choice, Evaluation, Evaluator
from match_concurrent.mapping.parts import Division, Part
from match_concurrent.mapping.stages import bounds_of, staged_cycles, stages
from match_concurrent.mapping.timeline import simulate

from core.tests.map.concurrent_lab import CHAIN, FORK, evaluator_of, labs, mapped, prices, shares
from core.tests.map.rows import Lab, Price, lab
from tests.examples import examples

# --- against trying everything -------------------------------------------------------------------------------------


def divisions(evaluator: Evaluator, number: int) -> Iterator[Division]:
    """All ways to divide an operator between the units in their order, along each axis, with one task for each."""
    operator = evaluator.network.operators[number]
    for offer in operator.offers:
        yield (Part(offer),)
    for along in evaluator.network.along(operator):
        for first, second in permutations(along.units, 2):
            if first.offer < second.offer:
                for tiles in range(1, along.tiles):
                    size = tiles * along.step
                    rest = along.size - size
                    yield Part(first.offer, first.dim, 0, size), Part(second.offer, second.dim, size, rest)


def best_by_trying_all(evaluator: Evaluator) -> int:
    options = [list(divisions(evaluator, n)) for n in range(len(evaluator.network.operators))]
    evaluator.costs.confirm(part for ways in options for division in ways for part in division)
    return min(_best_order(evaluator, choice) for choice in product(*options))


def _best_order(evaluator: Evaluator, choice: Choice) -> int:
    steps, _ = evaluator.steps(choice)
    orders = (order for order in permutations(range(len(steps))) if _fits(steps, order))
    return min(simulate(steps, order, evaluator.signalling).finish for order in orders)


def _fits(steps: Any, order: tuple[int, ...]) -> bool:
    place = {number: position for position, number in enumerate(order)}
    return all(place[need] < place[number] for number, step in enumerate(steps) for need in step.needs)


@settings(deadline=None, max_examples=examples(50))
@given(
    graph=st.sampled_from([{"a": ["in"]}, {"a": ["in"], "b": ["a"]}, {"a": ["in"], "b": ["in"]}]),
    fast=prices,
    slow=prices,
    halo=st.sampled_from([0, 1, 3]),
    parallel=st.sampled_from(["whole", "views", "pipeline"]),
)
def test_tiny_programs_are_close_to_the_best(graph: Any, fast: Price, slow: Price, halo: int, parallel: Any) -> None:
    """The search is a heuristic; with one task for each unit it is at most a tenth away."""
    made = lab(graph, {"host": Price(5000, 9000), "fast": fast, "slow": slow}, rows=4, columns=3, halo=halo)
    found = mapped(made, parallel=parallel)
    evaluator = evaluator_of(made, parallel=parallel)
    best = best_by_trying_all(evaluator) if parallel != "whole" else best_whole(evaluator)
    assert found.finish_cycles <= 1.1 * best
    if parallel != "pipeline":
        assert found.finish_cycles >= best
    bounds = bounds_of([evaluator])
    assert bounds.cycles <= best
    assert found.bounds is not None
    assert found.bounds.cycles <= found.finish_cycles


def test_layers_that_read_everything_are_stages_whose_bounds_add_up() -> None:
    """Each of two equal units does half of the rows, and one of them waits for a signal before each layer."""
    units = {"host": Price(50_000, 9000), "one": Price(40, 1000), "two": Price(40, 1000)}
    made = lab(CHAIN, units, rows=16, columns=4, halo=15)
    mapped_chain = mapped(made)
    evaluator = evaluator_of(made)
    assert [list(stage) for stage in stages(evaluator)] == [[0], [1], [2]]
    assert path_cycles(evaluator) < staged_cycles(evaluator) <= mapped_chain.finish_cycles
    assert staged_cycles(evaluator) > 0.95 * mapped_chain.finish_cycles
    narrow = evaluator_of(lab(CHAIN, units, rows=16, columns=4, halo=1))
    assert [list(stage) for stage in stages(narrow)] == [[0, 1, 2]]


def best_whole(evaluator: Evaluator) -> int:
    options = [[(Part(offer),) for offer in operator.offers] for operator in evaluator.network.operators]
    return min(_best_order(evaluator, choice) for choice in product(*options))


# --- against the sequential program --------------------------------------------------------------------------------


def sequential_on_queues(made: Lab) -> int:
    """One operator after another on the unit of the cover, or on the two units that can run it as this unit does."""
    evaluator = evaluator_of(made)
    offered = evaluator.network.offered
    by_id = {id(assignment): number for number, assignment in enumerate(offered)}
    finishes = []
    for joint in (False, True):
        choice = []
        for operator in evaluator.network.operators:
            cover = evaluator.network.cover[operator.place]
            both = [n for n in operator.offers if offered[n].candidate.pattern.occupies == (cover.candidate.unit,)]
            choice.append((Part(both[0] if both and joint else by_id[id(cover)]),))
        steps, _ = evaluator.steps(tuple(choice))
        finishes.append(simulate(steps, range(len(steps)), evaluator.signalling).finish)
    return min(finishes)


def test_an_operator_runs_on_two_units_at_once_where_that_is_faster() -> None:
    """Alone each unit is slow; together they are fast, but then a branch that only one of them runs waits."""
    units = {"host": Price(50_000, 9000), "one": Price(20, 3000), "two": Price(20, 3000)}
    both = ("two", "one", Price(20, 900))
    only = {"a": ["two"], "b": ["two"], "c": ["one", "two"]}
    made = lab(FORK, units, rows=16, columns=8, only=only, both=both)
    mapping = mapped(made)
    busy = {a.candidate.match.nodes[0].name: a.candidate.units for a in mapping.assignments}
    assert busy["a"] == busy["b"] == busy["c"] == ("one", "two")
    dear = lab(FORK, units, rows=16, columns=8, only=only, both=("two", "one", Price(20, 2900)))
    assert any(len(a.candidate.units) == 1 for a in mapped(dear).assignments)


@settings(deadline=None, max_examples=examples(50))
@given(made=labs(), parallel=st.sampled_from(["whole", "tiles", "views", "pipeline"]))
def test_it_is_valid_and_never_slower_than_the_sequential_one(made: Lab, parallel: Any) -> None:
    mapping = mapped(made, parallel=parallel)
    assert mapping.finish_cycles <= sequential_on_queues(made)
    assert mapping.bounds is not None
    assert mapping.bounds.cycles <= mapping.finish_cycles
    assert mapping.solver.objective == mapping.finish_cycles
    assert 0 <= mapping.solver.gap <= 1


def improved_without_bounds(evaluator: Evaluator, choice: Choice, than: Evaluation) -> Evaluation | None:
    found = evaluator.evaluate(choice)
    return found if found.value < than.value else None


@settings(deadline=None, max_examples=examples(40))
@given(made=labs(), parallel=st.sampled_from(["whole", "tiles", "views", "pipeline"]))
def test_time_lines_that_are_not_made_change_nothing(made: Lab, parallel: Any) -> None:
    quick = mapped(made, parallel=parallel, steps_max=300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Evaluator, "improved", improved_without_bounds)
        full = mapped(made, parallel=parallel, steps_max=300)
    assert (quick.starts, shares(quick), quick.solver, quick.bounds) == (
        full.starts,
        shares(full),
        full.solver,
        full.bounds,
    )
