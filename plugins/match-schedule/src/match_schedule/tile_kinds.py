"""The distinct kinds of tiles along a cut dimension, and sums over tiles through the kinds.

Along a dimension most tiles are equal: only the first and last ones (halos clipped at the border) and the smaller
remainder differ. So each kind is costed once and counted, and a sum over all tiles, or over those of one part of the
dimension, is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, auto
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_schedule.space import Cut

    Array = NDArray[np.int64]

#: Cycles and bytes, or energies.
Number = TypeVar("Number", np.int64, np.float64)


class TilePart(IntEnum):
    """A selection of tiles along a dimension. (An IntEnum, because it is hashed often.)"""

    ALL = auto()
    FIRST = auto()
    REST = auto()  # all but the first
    LAST = auto()
    LEAD = auto()  # all but the last
    MIDDLE = auto()  # neither first nor last
    SECOND = auto()  # the one after the first, if there are two
    PENULTIMATE = auto()  # the one before the last, if there are two


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of all tile sizes tried for one dimension, one size after the other.

    ``features``: a row per feature, the first is the tile's own size; ``counts``: the number of tiles of each kind in a
    part; ``starts``: the first kind of each tile size.
    """

    features: Array
    counts: Mapping[TilePart, Array]
    starts: Array

    @property
    def size(self) -> int:
        """The number of kinds."""
        return int(self.features.shape[1])


#: (full tile size, first indices, sizes) of some tiles -> their distinguishing features, an array each.
Features = Callable[["Array", "Array", "Array"], Sequence["Array"]]


def no_features(tile: Array, first: Array, size: Array) -> Sequence[Array]:
    """No features: tiles differ only in size."""
    return ()


def kinds_of(cut: Cut, features: Features, *, windowed: bool) -> Kinds:
    """Group the tiles of every size tried. ``windowed``: features may depend on the position of a tile."""
    if not windowed:
        return _kinds_by_size(cut, features)
    tables: list[Array] = []
    counts: dict[TilePart, list[Array]] = {part: [] for part in TilePart}
    for tile in cut.tiles:
        first = np.arange(0, cut.dim.size, tile, dtype=np.int64)
        size = np.minimum(tile, cut.dim.size - first)
        table = np.stack([size, *features(np.full_like(first, tile), first, size)])
        columns, inverse = _distinct(table)
        tables.append(table[:, columns])
        for part, number in _counts(columns.size, inverse).items():
            counts[part].append(number)
    starts = np.cumsum([0, *(table.shape[1] for table in tables[:-1])], dtype=np.int64)
    return Kinds(
        np.concatenate(tables, axis=1), {part: np.concatenate(numbers) for part, numbers in counts.items()}, starts
    )


def _distinct(table: Array) -> tuple[Array, Array]:
    """As numpy's ``unique`` along the second axis, faster: the first of every distinct column, in the order of their
    values, and for each column the number of its equal among these."""
    number: Array = np.zeros(table.shape[1], dtype=np.int64)
    place = number
    for row in table:
        low = int(row.min())
        _, place, number = np.unique(
            number * (int(row.max()) - low + 1) + row - low, return_index=True, return_inverse=True
        )
    return place, number


def _kinds_by_size(cut: Cut, features: Features) -> Kinds:
    """At most two kinds per tile size: full tiles, and the remainder."""
    tried = np.array(cut.tiles, dtype=np.int64)
    rests = cut.dim.size % tried
    kinds = 1 + (rests > 0)  # of each size
    starts = np.cumsum(kinds) - kinds
    number = np.repeat(np.arange(tried.size), kinds)
    full = np.zeros(number.size, np.bool_)
    full[starts] = True
    tile, rest = tried[number], rests[number]
    size = np.where(full, tile, rest)
    every = np.where(full, cut.dim.size // tile, 1)
    total = cut.dim.size // tile + (rest > 0)
    first = full.astype(np.int64)
    last = np.where(rest > 0, ~full, full).astype(np.int64)
    second = np.where((rest == 0) | (total > 2), full, ~full) & (total > 1)
    counts = _by_part(every, first, last, second.astype(np.int64), (full & (total > 1)).astype(np.int64))
    counts[TilePart.MIDDLE] = np.where(total > 1, counts[TilePart.MIDDLE], 0)
    return Kinds(np.stack([size, *features(tile, np.zeros_like(size), size)]), counts, starts.astype(np.int64))


def _counts(kinds: int, places: Array) -> dict[TilePart, Array]:
    """The number of tiles of each kind in each part. ``places``: the kind of every tile."""
    every = np.bincount(places, minlength=kinds).astype(np.int64)
    total = places.size
    ends = [int(places[place]) for place in (0, min(1, total - 1), max(total - 2, 0), -1)]
    first, second, penultimate, last = (np.eye(1, kinds, end, dtype=np.int64)[0] for end in ends)
    if total == 1:
        second = penultimate = np.zeros_like(every)
    counts = _by_part(every, first, last, second, penultimate)
    if total == 1:
        counts[TilePart.MIDDLE] = np.zeros_like(every)
    return counts


def _by_part(every: Array, first: Array, last: Array, second: Array, penultimate: Array) -> dict[TilePart, Array]:
    return {
        TilePart.ALL: every,
        TilePart.FIRST: first,
        TilePart.REST: every - first,
        TilePart.LAST: last,
        TilePart.LEAD: every - last,
        TilePart.MIDDLE: every - first - last,
        TilePart.SECOND: second,
        TilePart.PENULTIMATE: penultimate,
    }


def along(values: Array, position: int, dimensions: int) -> Array:
    """A vector as an array that varies along one axis only."""
    shape = [1] * dimensions
    shape[position] = -1
    return values.reshape(shape)


def largest_tile(values: Array, kinds: Sequence[Kinds]) -> Array:
    """The largest value over all tiles of each tile size; an axis per dimension."""
    for position, kind in enumerate(kinds):
        values = np.maximum.reduceat(values, kind.starts, axis=position)
    return values
