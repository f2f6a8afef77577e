"""Windows of a plan over equal layers are equal models, which are solved once, and that changes no answer."""

from __future__ import annotations

import match_concurrent.planning.answers as answers
import match_concurrent.planning.timing as timing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_concurrent.planning.improve import _capacities
from match_concurrent.planning.pack import free_times
from match_concurrent.planning.problem import Access, Box, Item, Job, Lane, Problem
from match_concurrent.planning.scope import rebased, scope_of
from match_concurrent.planning.timing import shortest
from match_core.contract.hardware import Signalling

from tests.examples import examples

LANES = (Lane("host", "host"), Lane("one", "unit"), Lane("two", "unit"))
#: Cycles of a layer's four jobs: on the host, two independent ones on units, and one that reads both.
Layer = tuple[int, int, int, int]


def _problem(layer: Layer, layers: int) -> Problem:
    jobs: list[Job] = []
    for _ in range(layers):
        first = len(jobs)
        before = (first - 1,) if jobs else ()
        after = (before, (first,), (first,), (first + 1, first + 2))
        for queue, cycles, makers in zip((0, 1, 2, 1), layer, after, strict=True):
            number = len(jobs)
            reads = tuple(Access(maker, Box(0, 4), writes=False) for maker in makers)
            jobs.append(Job(queue, cycles, (*reads, Access(number, Box(0, 4), writes=True)), makers))
    items = tuple(Item((f"t{number}",), 4, "activation") for number in range(len(jobs)))
    return Problem(LANES, tuple(jobs), items, Signalling("poll", 30, 20, 10, 5, 0), 1 << 20, 4, (0,) * len(jobs))


def _windows(problem: Problem, *, known: timing.Known | None) -> list[dict[int, int]]:
    """New starts of windows of one layer and a half, at every layer."""
    order = tuple(range(len(problem.jobs)))
    times, found = free_times(problem, order), []
    for first in range(0, len(order) - 6, 4):
        scope = scope_of(problem, order, times, first, first + 6)
        cycles = max(end for _, end in times) + problem.signalling.notify_cycles
        timed = shortest(problem, scope, times, cycles, 0.2, count=False, known=known)
        assert timed.starts is not None
        found.append(timed.starts)
    return found


@settings(max_examples=examples(10), deadline=None)
@given(st.tuples(*[st.integers(1, 500)] * 4))
def test_known_windows_have_the_same_answers(layer: Layer) -> None:
    problem = _problem(layer, 8)
    known: timing.Known = {}
    assert _windows(problem, known=known) == _windows(problem, known=None)
    assert len(known) < 7, "equal layers in the middle"


def test_equal_windows_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = []
    solve = answers.solve

    def counted(*arguments: object, **parameters: object) -> object:
        solved.append(arguments)
        return solve(*arguments, **parameters)  # type: ignore[arg-type]

    monkeypatch.setattr(answers, "solve", counted)
    _windows(_problem((7, 100, 90, 20), 20), known={})
    assert len(solved) <= 3, "the first, those in the middle, the last"


def test_a_rebased_scope_counts_from_its_first_release() -> None:
    problem = _problem((7, 100, 90, 20), 6)
    order = tuple(range(len(problem.jobs)))
    times = free_times(problem, order)
    scope = scope_of(problem, order, times, 8, 16)
    cycles = max(end for _, end in times)
    moved, moved_times, moved_cycles, base = rebased(scope, times, cycles)
    assert min(moved.release) == 0 and min(moved.tail) == 0
    assert [release + base for release in moved.release] == list(scope.release)
    assert [start + base for start, _ in moved_times] == [start for start, _ in times]
    slack = {cycles - r - t for r, t in zip(scope.release, scope.tail, strict=True)}
    assert {moved_cycles - r - t for r, t in zip(moved.release, moved.tail, strict=True)} == slack


def test_memories_of_similar_size_share_the_smaller_ones_of_the_local_search() -> None:
    assert _capacities(1_000_000) == (1_000_000, 983_040, 917_504, 851_968)
    assert _capacities(1_010_000)[1:] == _capacities(1_000_000)[1:]
    assert _capacities(100) == (100, 96, 88, 80)
    assert _capacities(1) == (1, 0, 0, 0)
