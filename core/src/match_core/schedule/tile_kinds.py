"""The distinct kinds of tiles along a cut dimension, and sums over all tiles by way of the kinds.

Along a dimension most tiles are alike: only the first ones and the last ones (halos clipped at the border)
and the smaller remainder differ. So each kind is costed once and counted, and a sum over all tiles is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.schedule.space import Cut

    Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Kinds:
    """The kinds of all tile sizes tried for one dimension, one size after the other.

    ``features``: a row per feature, the first is the tile's own size; ``counts``: how many tiles are of the
    kind; ``starts``: where the kinds of each tile size begin.
    """

    features: Array
    counts: Array
    starts: Array


#: (full tile size, first indices, sizes) of some tiles -> what distinguishes them, an array per feature.
Features = Callable[[int, "Array", "Array"], Sequence["Array"]]


def no_features(tile: int, first: Array, size: Array) -> Sequence[Array]:
    """Tiles differ by their size only."""
    return ()


def kinds_of(cut: Cut, features: Features, *, windowed: bool) -> Kinds:
    """Group the tiles of every size tried. ``windowed``: features may depend on where a tile is."""
    tables: list[Array] = []
    counts: list[Array] = []
    for tile in cut.tiles:
        first, size, number = _tiles(cut.dim.size, tile, every=windowed)
        table = np.stack([size, *features(tile, first, size)])
        if windowed:
            table, inverse = np.unique(table, axis=1, return_inverse=True)
            number = np.bincount(inverse.reshape(-1)).astype(np.int64)
        tables.append(table)
        counts.append(number)
    starts = np.cumsum([0, *(number.size for number in counts[:-1])], dtype=np.int64)
    return Kinds(np.concatenate(tables, axis=1), np.concatenate(counts), starts)


def _tiles(size: int, tile: int, *, every: bool) -> tuple[Array, Array, Array]:
    """(first index, size, how many) of the tiles; without ``every`` the full ones are counted, not listed."""
    if every:
        first = np.arange(0, size, tile, dtype=np.int64)
        return first, np.minimum(tile, size - first), np.ones_like(first)
    full, rest = divmod(size, tile)
    listed = [(0, tile, full)] + ([(full * tile, rest, 1)] if rest else [])
    first, sizes, number = np.array(listed, dtype=np.int64).T
    return first, sizes, number


def along(values: Array, position: int, dimensions: int) -> Array:
    """A vector as an array that varies along one axis only."""
    shape = [1] * dimensions
    shape[position] = -1
    return values.reshape(shape)


def sum_tiles(values: Array, kinds: Sequence[Kinds], axes: Sequence[int], dimensions: int) -> Array:
    """Sum values (an axis per kinds) over all tiles of each tile size. The result has ``dimensions`` axes,
    one per cut dimension; those in ``axes`` vary."""
    for position, kind in enumerate(kinds):
        counted = values * along(kind.counts, position, len(kinds))
        values = np.add.reduceat(counted, kind.starts, axis=position)
    return _spread(values, axes, dimensions)


def largest_tile(values: Array, kinds: Sequence[Kinds], axes: Sequence[int], dimensions: int) -> Array:
    """The largest of values over the tiles of each tile size; shaped like ``sum_tiles``."""
    for position, kind in enumerate(kinds):
        values = np.maximum.reduceat(values, kind.starts, axis=position)
    return _spread(values, axes, dimensions)


def _spread(values: Array, axes: Sequence[int], dimensions: int) -> Array:
    shape = [1] * dimensions
    for axis, size in zip(axes, values.shape, strict=True):
        shape[axis] = size
    return values.reshape(shape)
