"""The ways to divide an operator into tasks, against every division into tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import product

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from match_concurrent.mapping.network import DivisibleAxis

from benchmarks.share_costs import AxisCosts, Queue, in_tasks
from benchmarks.share_tasks import Tasks, Way, ways_along

GAP = 3


def costs_of(single: dict[Queue, list[int]]) -> AxisCosts:
    tiles = len(next(iter(single.values())))
    arrays = {queues: np.array([0, *costs], np.int64) for queues, costs in single.items()}
    least, beside = (
        {queues: in_tasks(np.maximum(costs + gap, 0)) for queues, costs in arrays.items()} for gap in (GAP, -GAP)
    )
    return AxisCosts(DivisibleAxis(0, tiles, 1, ()), arrays, least, beside)


def compositions(tiles: int) -> Iterator[tuple[int, ...]]:
    if tiles == 0:
        yield ()
    for first in range(1, tiles + 1):
        for rest in compositions(tiles - first):
            yield (first, *rest)


def programs(single: dict[Queue, list[int]]) -> Iterator[tuple[dict[int, int], dict[int, Tasks]]]:
    """Loads and tasks of every division, the tasks of a queue in the order of their tiles."""
    tiles = len(next(iter(single.values())))
    for sizes in compositions(tiles):
        for kinds in product(single, repeat=len(sizes)):
            loads: dict[int, int] = {}
            own: dict[int, list[tuple[int, int]]] = {}
            for size, kind in zip(sizes, kinds, strict=True):
                cycles = single[kind][size - 1]
                loads[kind[0]] = loads.get(kind[0], 0) + cycles + GAP
                own.setdefault(kind[0], []).append((size, cycles))
                for other in kind[1:]:
                    loads[other] = loads.get(other, 0) + cycles - GAP
            yield (
                loads,
                {q: Tasks(each[0][0], each[-1][0], each[0][1], each[-1][1], len(each) == 1) for q, each in own.items()},
            )


def demands_no_more(way: Way, loads: dict[int, int], tasks: dict[int, Tasks]) -> bool:
    return all(cycles <= loads.get(queue, -1) for queue, cycles in way.loads.items()) and all(
        queue in tasks and all(getattr(own, what.name) <= getattr(tasks[queue], what.name) for what in fields(Tasks))
        for queue, own in way.tasks.items()
    )


@given(
    st.integers(1, 7).flatmap(
        lambda tiles: st.fixed_dictionaries(
            {kind: st.lists(st.integers(4, 60), min_size=tiles, max_size=tiles) for kind in ((1,), (2,))},
            optional={(1, 2): st.lists(st.integers(4, 60), min_size=tiles, max_size=tiles)},
        )
    )
)
def test_every_division_has_a_way_that_demands_no_more(single: dict[Queue, list[int]]) -> None:
    ways = ways_along(0, costs_of(single), GAP)
    for loads, tasks in programs(single):
        assert any(demands_no_more(way, loads, tasks) for way in ways)


def test_one_task_is_not_many() -> None:
    """In one task 20 cycles; two and more take at least 15 each: who needs a part early pays for it, and more for a
    small first task and a small last one."""
    ways = ways_along(0, costs_of({(1,): [15, 16, 17, 20]}), GAP)
    found = {(way.loads[1], way.tasks[1].head, way.tasks[1].tail) for way in ways}
    several = {(15 + 17 + 2 * GAP, 1, 3), (15 + 17 + 2 * GAP, 3, 1), (2 * (16 + GAP), 2, 2)}
    assert found == {(20 + GAP, 4, 4), *several, (15 + 16 + 15 + 3 * GAP, 1, 1)}
