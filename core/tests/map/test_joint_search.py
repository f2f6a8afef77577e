"""One search over covers, units and tiles, against trying everything and against the stages."""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from match_concurrent.mapping import choose as searching
from match_concurrent.mapping import joint_search
from match_concurrent.mapping.cached import CachedChoices
from match_concurrent.mapping.choose import choose_concurrent
from match_concurrent.mapping.mapping_effort import ConcurrentOptions
from match_core.contract.mapping import Mapping
from match_core.validate.mapping import mapping_faults
from match_map.mapper import choose

from core.tests.map.concurrent_lab import labs
from core.tests.map.random_covers import best_of_all, fused, random_lab, whole_lab
from core.tests.map.rows import Lab, Price
from core.tests.map.test_cached import choices, keyed
from core.tests.map.two_processes import printed_twice
from tests.examples import examples

QUICK: dict[str, Any] = {
    "steps_max": 3_000, "solver_seconds": 0.02, "joint_seconds": 0.3, "window_seconds": 0.1, "joint_steps": 20_000
}  # fmt: skip


def mapped(made: Lab, cached: CachedChoices | None = None, **options: Any) -> Mapping:
    sequential = choose(made.model, made.offered, objective=made.scheduler.objective)
    given = ConcurrentOptions(**{**QUICK, "parallel": "joint", **options})
    found = choose_concurrent(made.model, made.offered, made.scheduler, sequential, given, cached)
    assert found is not None
    assert mapping_faults(made.model.graph, found) == ()
    return found


def groups(mapping: Mapping) -> list[tuple[str, tuple[str, ...]]]:
    """(unit, nodes) of all tasks."""
    return [(a.candidate.unit, tuple(a.candidate.node_names)) for a in mapping.assignments]


# --- covers --------------------------------------------------------------------------------------------------------


def two_pairs() -> Lab:
    """Fused, each pair takes 150 cycles on "one"; apart, 100 cycles on each of two units. With both pairs to run, "one"
    is better off without the second half of one of them."""
    graph = {"a": ["in"], "b": ["a"], "c": ["in"], "d": ["c"]}
    prices = {"host": Price(10**7, 0), "one": Price(100, 0), "two": Price(100, 0)}
    made = whole_lab(graph, prices, only={"a": ["two"], "b": ["one"], "c": ["two"], "d": ["one"]})
    return fused(made, {("a", "b"): {"one": 150}, ("c", "d"): {"one": 150}})


def test_a_pair_is_fused_or_not_by_what_the_units_do_meanwhile() -> None:
    made = two_pairs()
    fixed, free = mapped(made, free_covers=False), mapped(made)
    assert {names for _, names in groups(fixed)} == {("a", "b"), ("c", "d")}
    assert {names for _, names in groups(free)} in ({("a", "b"), ("c",), ("d",)}, {("a",), ("b",), ("c", "d")})
    assert free.finish_cycles == best_of_all(made) < fixed.finish_cycles


@settings(deadline=None, max_examples=examples(30))
@given(seed=st.integers(0, 10**6), operators=st.integers(2, 5))
def test_the_best_of_all_covers_units_and_orders_is_found(seed: int, operators: int) -> None:
    made = random_lab(Random(seed), operators)
    assert mapped(made).finish_cycles == best_of_all(made)


# --- against the stages --------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=examples(12))
@given(made=labs())
def test_it_is_never_worse_than_the_stages(made: Lab) -> None:
    staged, joint = mapped(made, parallel="pipeline"), mapped(made)
    assert joint.objective_value <= staged.objective_value
    assert joint.bounds is not None and joint.bounds.cycles <= joint.finish_cycles


@settings(deadline=None, max_examples=examples(15))
@given(made=labs())
def test_a_long_search_is_never_worse_than_the_stages(made: Lab) -> None:
    long = mapped(made, parallel="long", long_steps=2, long_seconds=1, long_turns=2)
    assert long.finish_cycles <= mapped(made, parallel="pipeline").finish_cycles


def test_a_long_search_ends_when_a_turn_improves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, results = [], [9, 7, 7, 5]

    def turn(best: Any, evaluator: Any, seed: int) -> tuple[Any, Any]:
        turns.append((seed, best.value, evaluator))
        return SimpleNamespace(value=results[seed - 1]), evaluator

    options = ConcurrentOptions(parallel="long", joint_steps=100, long_steps=3)
    evaluator: Any = SimpleNamespace(options=options, network=None, of=lambda network, options: evaluator_with(options))

    def evaluator_with(turned: ConcurrentOptions) -> Any:
        assert turned.joint_steps == 300
        return SimpleNamespace(**{**vars(evaluator), "options": turned})

    monkeypatch.setattr(joint_search, "_turn", turn)
    best: Any = SimpleNamespace(value=10)
    found, _ = joint_search.jointly(best, evaluator)
    assert found.value == 7
    assert [(seed, value) for seed, value, _ in turns] == [(1, 10), (2, 9), (3, 7)]


def test_a_cached_result_keeps_its_cover(tmp_path: Path) -> None:
    made, cached = keyed(two_pairs()), choices(tmp_path)
    found = mapped(made, cached)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "_best", None)
        again = mapped(made, cached)
    assert (again.starts, groups(again), again.bounds) == (found.starts, groups(found), found.bounds)
    assert groups(found) != groups(mapped(made, free_covers=False))


def test_the_result_depends_on_nothing_but_the_input() -> None:
    code = (
        "from core.tests.map.test_joint_search import *\n"
        "found = mapped(two_pairs())\n"
        "print(groups(found), found.starts, found.solver, found.bounds)"
    )
    made = printed_twice(code)
    assert made[0] == made[1] != ""
