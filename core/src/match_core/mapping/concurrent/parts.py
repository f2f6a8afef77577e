"""Parts of operators: what one task computes, and the ways in which an operator may be divided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Part(NamedTuple):
    """Indices [first, first + size) of dimension ``dim`` of an offered candidate (``offer`` counts those); all of it
    where ``dim`` is empty."""

    offer: int
    dim: str = ""
    first: int = 0
    size: int = 0


#: All parts of one operator, in the order of their first indices.
Division = tuple[Part, ...]


class Cuttable(NamedTuple):
    """A candidate that may be divided along an axis of its output: its dimension, and what parts are multiples of."""

    offer: int
    dim: str
    granularity: int


def counts_that_end_together(costs: Sequence[Callable[[int], int]], tiles: int) -> list[int]:
    """Tiles for each of several units so that the last one ends as early as possible.

    ``costs``: cycles of a number of tiles on each unit. All tiles are given away; the first units get what could go to
    several. Where costs fall somewhere the counts may not be the best, and what is left goes to where it ends first.
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
    """The most tiles that take no longer."""
    low, high = 0, tiles
    while low < high:
        middle = (low + high + 1) // 2
        if cost(middle) <= cycles:
            low = middle
        else:
            high = middle - 1
    return low


def division_of(cuttable: Sequence[Cuttable], counts: Sequence[int], step: int, size: int) -> Division:
    """Parts of so many tiles of ``step`` indices, one behind the other; the last tile may be smaller. ValueError where
    they do not make up the size."""
    if sum(counts) != -(-size // step):
        raise ValueError(f"{counts} tiles of {step} are not {size}")
    given = [(unit, count) for unit, count in zip(cuttable, counts, strict=True) if count]
    if len(given) == 1:
        return (Part(given[0][0].offer),)
    parts, first = [], 0
    for unit, count in given:
        parts.append(Part(unit.offer, unit.dim, first, min(count * step, size - first)))
        first += count * step
    return tuple(parts)


def cut(part: Part, pieces: int, step: int) -> Division:
    """The part as up to so many parts of about equal size, each but the last a multiple of ``step``."""
    tiles = -(-part.size // step)
    pieces = min(pieces, tiles)
    marks = [part.first + min(step * (tiles * number // pieces), part.size) for number in range(pieces)]
    ends = [*marks[1:], part.first + part.size]
    return tuple(part._replace(first=first, size=end - first) for first, end in zip(marks, ends, strict=True))
