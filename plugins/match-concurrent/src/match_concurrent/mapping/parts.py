"""Parts of operators, which tasks compute, and divisions of operators into parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Part(NamedTuple):
    """Indices [first, first + size) of dimension ``dim`` of the offered candidate at position ``offer``; the whole
    operator if ``dim`` is empty."""

    offer: int
    dim: str = ""
    first: int = 0
    size: int = 0


#: All parts of one operator, in the order of their first indices.
Division = tuple[Part, ...]


class Cuttable(NamedTuple):
    """A candidate that may be divided along an axis of its output: its dimension, and the granularity of parts."""

    offer: int
    dim: str
    granularity: int


def counts_that_end_together(costs: Sequence[Callable[[int], int]], tiles: int) -> list[int]:
    """The number of tiles for each of several units that makes the last one end as early as possible.

    ``costs``: cycles of a number of tiles on each unit. All tiles are assigned; ties go to the first unit. If costs are
    not monotonic, the counts may not be optimal, and remaining tiles go to the unit that ends first.
    """
    low, high = 0, max(min(cost(tiles) for cost in costs), 1)
    while low < high:
        middle = (low + high) // 2
        if sum(_tiles_within(cost, middle, tiles) for cost in costs) >= tiles:
            high = middle
        else:
            low = middle + 1
    counts, left = [], tiles
    for cost in costs:
        counts.append(min(left, _tiles_within(cost, high, tiles)))
        left -= counts[-1]
    last = min(range(len(costs)), key=lambda unit: costs[unit](counts[unit] + left))
    counts[last] += left
    return counts


def _tiles_within(cost: Callable[[int], int], cycles: int, tiles: int) -> int:
    """The most tiles that take at most ``cycles``."""
    low, high = 0, tiles
    while low < high:
        middle = (low + high + 1) // 2
        if cost(middle) <= cycles:
            low = middle
        else:
            high = middle - 1
    return low


def division_of(cuttable: Sequence[Cuttable], counts: Sequence[int], step: int, size: int) -> Division:
    """Consecutive parts of these numbers of tiles of ``step`` indices; the last tile may be smaller. ValueError if they
    do not add up to the size."""
    if sum(counts) != -(-size // step):
        raise ValueError(f"{counts} tiles of {step} do not add up to {size}")
    given = [(unit, count) for unit, count in zip(cuttable, counts, strict=True) if count]
    if len(given) == 1:
        return (Part(given[0][0].offer),)
    parts, first = [], 0
    for unit, count in given:
        parts.append(Part(unit.offer, unit.dim, first, min(count * step, size - first)))
        first += count * step
    return tuple(parts)


def cut(part: Part, pieces: int, step: int) -> Division:
    """The part divided into up to ``pieces`` parts of about equal size; all but the last are multiples of ``step``."""
    tiles = -(-part.size // step)
    pieces = min(pieces, tiles)
    marks = [part.first + min(step * (tiles * number // pieces), part.size) for number in range(pieces)]
    ends = [*marks[1:], part.first + part.size]
    return tuple(part._replace(first=first, size=end - first) for first, end in zip(marks, ends, strict=True))
