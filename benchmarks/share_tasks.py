"""How an operator's tiles may be divided among queues, and into tasks in each: what it costs at least that the first
and the last task of a queue are not larger than so many tiles.

A queue that computes an operator in one task cannot begin before all that this task reads is there, and nothing of it
can be read before its end. Small first and last tasks cost more: launches, halos, transfers of the same weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from match_concurrent.mapping.costs import IMPOSSIBLE
from numpy.typing import NDArray

from benchmarks.share_costs import AxisCosts, Queue

#: The most combinations of tiles per queue that are listed.
COMBINATIONS_MAX = 20_000
#: Sizes of first and last tasks that are told apart, relative to the axis: the first of these lists with which an axis
#: has at most so many ways that no other way dominates.
SIZES = ((1 / 8, 1 / 4, 1 / 2), (1 / 4, 1 / 2), (1 / 2,), ())
WAYS_MAX = 600
EXACT_MAX = 6


@dataclass(frozen=True, slots=True)
class Tasks:
    """The tasks of a queue: the fewest tiles of the first and of the last one, and the fewest cycles of each; whether
    there is one task only, which is both."""

    head: int
    tail: int
    head_cycles: int
    tail_cycles: int
    single: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """One way to divide an operator: the axis (-1: whole), for each queue that works on it or is kept busy the cycles
    with gaps, and tasks of the queues that work."""

    axis: int
    loads: dict[int, int]
    tasks: dict[int, Tasks]


#: Cycles with gaps, and the tasks.
Row = tuple[int, Tasks]


def ways_along(number: int, costs: AxisCosts, gap: int) -> list[Way]:
    """The ways along an axis of this number that no other way dominates. A program's way is one of these, or one of
    these takes no more cycles of any queue, with first and last tasks that are no larger and no longer."""
    if (costs.along.tiles + 1) ** (len(costs.least) - 1) > COMBINATIONS_MAX:
        return [Way(number, {}, {})]
    found = list[Way]()
    exact = [None] if costs.along.tiles <= EXACT_MAX else []
    for sizes in (*exact, *SIZES):
        rows = {kind: _rows(costs, kind, sizes, gap) for kind in costs.least}
        found = not_dominated([Way(number, *way) for way in _combined(costs, rows)])
        if len(found) <= WAYS_MAX:
            break
    return found


def _rows(costs: AxisCosts, kind: Queue, sizes: Sequence[float] | None, gap: int) -> list[list[Row]]:
    """For each number of tiles, the tasks in which one kind of queues may compute so many: one; or two and more, of
    which the first and the last have at least so many tiles as one of the sizes, at the fewest cycles."""
    single, least, tiles = costs.single[kind], costs.least[kind], costs.along.tiles
    fewest = range(1, tiles + 1) if sizes is None else sorted({1, *(max(1, round(size * tiles)) for size in sizes)})
    exact = sizes is None
    found: list[list[Row]] = [[] for _ in range(tiles + 1)]
    for count in range(1, tiles + 1):
        cycles = int(single[count])
        found[count].append((cycles + gap, Tasks(count, count, cycles, cycles, single=True)))
    for head in fewest:
        headed = _with_one(single + gap, least, head, exact)
        for tail in fewest:
            several = _with_one(single + gap, headed, tail, exact)
            for count in range(head + tail, tiles + 1):
                heads = single[head : head + 1] if exact else single[head : count - tail + 1]
                tails = single[tail : tail + 1] if exact else single[tail : count - head + 1]
                found[count].append((int(several[count]), Tasks(head, tail, int(heads.min()), int(tails.min()))))
    return [_best(rows) for rows in found]


def _with_one(task: NDArray[np.int64], others: NDArray[np.int64], fewest: int, exact: bool) -> NDArray[np.int64]:
    """For each number of tiles, the fewest cycles of one task with at least so many of them, and the others."""
    made = np.full(len(task), 2 * IMPOSSIBLE, np.int64)
    for count in range(fewest, len(task)):
        most = fewest if exact else count
        made[count] = min(
            2 * IMPOSSIBLE, (task[fewest : most + 1] + others[count - fewest :: -1][: most - fewest + 1]).min()
        )
    return made


def _best(rows: Sequence[Row]) -> list[Row]:
    """Without rows that cost no less than another one, whose first and last tasks are no larger and no longer."""
    vectors = np.array([_vector(row) for row in rows], np.int64).reshape(len(rows), 6)
    return [rows[place] for place in _least(vectors) if rows[place][0] < IMPOSSIBLE]


def _vector(row: Row) -> tuple[int, ...]:
    cycles, tasks = row
    return cycles, *_of_tasks(tasks)


def _of_tasks(tasks: Tasks) -> tuple[int, ...]:
    return tasks.head, tasks.tail, tasks.head_cycles, tasks.tail_cycles, tasks.single


def _combined(
    costs: AxisCosts, rows: dict[Queue, list[list[Row]]]
) -> Iterator[tuple[dict[int, int], dict[int, Tasks]]]:
    """Loads and tasks of the queues for every number of tiles that each kind gets."""
    kinds, tiles = list(rows), costs.along.tiles
    for counts in product(range(tiles + 1), repeat=len(kinds) - 1):
        rest = tiles - sum(counts)
        if rest < 0:
            continue
        used = [(kind, count) for kind, count in zip(kinds, (*counts, rest), strict=True) if count]
        for chosen in product(*(rows[kind][count] for kind, count in used)):
            loads: dict[int, int] = {}
            tasks: dict[int, Tasks] = {}
            for (kind, count), (cycles, own) in zip(used, chosen, strict=True):
                queue, *others = kind
                loads[queue] = loads.get(queue, 0) + cycles
                tasks[queue] = _either(own, tasks[queue]) if queue in tasks else own
                for other in others:
                    loads[other] = loads.get(other, 0) + int(costs.beside[kind][count])
            yield loads, tasks


def _either(one: Tasks, other: Tasks) -> Tasks:
    """Tasks of two kinds in one queue, in any order."""
    return Tasks(
        min(one.head, other.head),
        min(one.tail, other.tail),
        min(one.head_cycles, other.head_cycles),
        min(one.tail_cycles, other.tail_cycles),
    )


def not_dominated(ways: Sequence[Way]) -> list[Way]:
    """Without ways of which another one takes no more of any queue and uses no other, with first and last tasks of each
    queue that are no larger, and none that are longer."""
    queues = sorted({queue for way in ways for queue in way.loads})
    vectors = np.array([_of_way(way, queues) for way in ways], np.int64).reshape(len(ways), 6 * len(queues))
    return [ways[place] for place in _least(vectors)]


def _of_way(way: Way, queues: Sequence[int]) -> list[int]:
    made = [way.loads.get(queue, -1) for queue in queues]
    for queue in queues:
        made += _of_tasks(way.tasks[queue]) if queue in way.tasks else (-1,) * 5
    return made


def _least(vectors: NDArray[np.int64]) -> list[int]:
    """The rows that are not, in every number, at least as large as another row."""
    order = np.lexsort((*vectors.T, vectors.sum(axis=1)))
    kept = np.empty((0, vectors.shape[1]), np.int64)
    places = list[int]()
    for place in order:
        if not (kept <= vectors[place]).all(axis=1).any():
            kept = np.vstack((kept, vectors[place]))
            places.append(int(place))
    return sorted(places)
