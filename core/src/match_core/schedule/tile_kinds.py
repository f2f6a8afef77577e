"""The distinct kinds of tiles along a cut dimension, and sums over tiles by way of the kinds.

Along a dimension most tiles are alike: only the first ones and the last ones (halos clipped at the border)
and the smaller remainder differ. So each kind is costed once and counted, and a sum over all tiles, or over those of
one part of the dimension, is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.schedule.space import Cut

    Array = NDArray[np.int64]

#: Cycles and bytes, or energies.
Number = TypeVar("Number", np.int64, np.float64)


class Part(Enum):
    """Which tiles along a dimension."""

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

    ``features``: a row per feature, the first is the tile's own size; ``counts``: how many tiles of a part are of the
    kind; ``starts``: where the kinds of each tile size begin.
    """

    features: Array
    counts: Mapping[Part, Array]
    starts: Array

    @property
    def size(self) -> int:
        """How many kinds there are."""
        return int(self.features.shape[1])


#: (full tile size, first indices, sizes) of some tiles -> what distinguishes them, an array per feature.
Features = Callable[[int, "Array", "Array"], Sequence["Array"]]


def no_features(tile: int, first: Array, size: Array) -> Sequence[Array]:
    """Tiles differ by their size only."""
    return ()


def kinds_of(cut: Cut, features: Features, *, windowed: bool) -> Kinds:
    """Group the tiles of every size tried. ``windowed``: features may depend on where a tile is."""
    tables: list[Array] = []
    counts: dict[Part, list[Array]] = {part: [] for part in Part}
    for tile in cut.tiles:
        if windowed:
            first = np.arange(0, cut.dim.size, tile, dtype=np.int64)
            size = np.minimum(tile, cut.dim.size - first)
            table = np.stack([size, *features(tile, first, size)])
            table, inverse = np.unique(table, axis=1, return_inverse=True)
            places = inverse.reshape(-1)
        else:
            rest = cut.dim.size % tile
            size = np.array([tile, rest] if rest else [tile], dtype=np.int64)
            table = np.stack([size, *features(tile, np.zeros_like(size), size)])
            places = None
        tables.append(table)
        for part, number in _counts(cut.dim.size, tile, table.shape[1], places).items():
            counts[part].append(number)
    starts = np.cumsum([0, *(table.shape[1] for table in tables[:-1])], dtype=np.int64)
    return Kinds(
        np.concatenate(tables, axis=1), {part: np.concatenate(numbers) for part, numbers in counts.items()}, starts
    )


def _counts(size: int, tile: int, kinds: int, places: Array | None) -> dict[Part, Array]:
    """How many tiles of each part are of each kind. ``places``: the kind of every tile; None: the full ones are of
    the first kind, a remainder of the second."""
    if places is None:
        every = np.array([size // tile, 1] if kinds > 1 else [size // tile], dtype=np.int64)
        total = int(every.sum())
        ends = [0, 0 if total > 2 or kinds == 1 else 1, 0, kinds - 1]  # first, second, penultimate, last
    else:
        every = np.bincount(places, minlength=kinds).astype(np.int64)
        total = places.size
        ends = [int(places[place]) for place in (0, min(1, total - 1), max(total - 2, 0), -1)]
    first, second, penultimate, last = (np.eye(1, kinds, end, dtype=np.int64)[0] for end in ends)
    if total == 1:
        second = penultimate = np.zeros_like(every)
    return {
        Part.ALL: every,
        Part.FIRST: first,
        Part.REST: every - first,
        Part.LAST: last,
        Part.LEAD: every - last,
        Part.MIDDLE: every - first - last if total > 1 else np.zeros_like(every),
        Part.SECOND: second,
        Part.PENULTIMATE: penultimate,
    }


def along(values: Array, position: int, dimensions: int) -> Array:
    """A vector as an array that varies along one axis only."""
    shape = [1] * dimensions
    shape[position] = -1
    return values.reshape(shape)


def sum_tiles(values: NDArray[Number], kinds: Sequence[Kinds], parts: Sequence[Part]) -> NDArray[Number]:
    """Sum values (an axis per kinds) over the tiles of one part of each dimension; an axis per dimension remains,
    along its tile sizes."""
    for position, (kind, part) in enumerate(zip(kinds, parts, strict=True)):
        counts = along(kind.counts[part], position, len(kinds)).astype(values.dtype)
        values = np.add.reduceat(values * counts, kind.starts, axis=position)
    return values


def largest_tile(values: Array, kinds: Sequence[Kinds]) -> Array:
    """The largest of values over all tiles of each tile size; an axis per dimension."""
    for position, kind in enumerate(kinds):
        values = np.maximum.reduceat(values, kind.starts, axis=position)
    return values
