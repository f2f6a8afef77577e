"""Sums of a quantity over the tiles of some dimensions, for all their tile sizes together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from match_schedule.tile_kinds import Kinds, Number, TilePart, largest_tile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.int64]

Quantity = Literal["kernel", "launch", "issue", "data", "wait", "bytes"]


class Sums:
    """Quantities over the kinds of tiles of some cuts (``own``), summed over parts on demand. Quantities are summed
    together, as rows of one array: most of the time of small arrays is that of calls."""

    def __init__(
        self,
        own: Sequence[int],
        kinds: Sequence[Kinds],
        values: Mapping[Quantity, Array],
        energy_pj: NDArray[np.float64] | None,
        dimensions: int,
    ) -> None:
        self.own = tuple(own)
        self.kinds = kinds
        self.values = values
        self.energy_pj = energy_pj
        self.dimensions = dimensions
        self.rows: dict[Quantity, int] = {name: row for row, name in enumerate(n for n in values if n != "bytes")}
        stacked = np.stack([values[name] for name in self.rows])
        #: Rows summed over parts of the first cuts, by these parts (None: the dimension is whole).
        self._sums: dict[tuple[TilePart | None, ...], Array] = {(): stacked}
        self._weights: dict[tuple[int, TilePart], Array] = {}

    def of(self, quantity: Quantity, parts: Mapping[int, TilePart]) -> Array:
        """The sum over the given parts of the cuts in ``parts``, with all other dimensions whole. Axes of cuts in
        ``parts`` have all tile sizes but the whole; the others have length 1."""
        values: Array = self.together(parts)[self.rows[quantity]]
        return values

    def together(self, parts: Mapping[int, TilePart]) -> Array:
        """The same sums of all quantities but bytes, in the order of ``rows`` along the first axis."""
        return self._spread(self._summed(tuple(parts.get(cut) for cut in self.own)), 1)

    def energy_of(self, parts: Mapping[int, TilePart]) -> NDArray[np.float64]:
        """The same sum of energies in pJ; ValueError if they are not known."""
        if self.energy_pj is None:
            raise ValueError("no energy figures")
        values = self.energy_pj
        for place, cut in enumerate(self.own):
            values = self._contracted(values, place, place, parts.get(cut))
        return self._spread(values)

    def largest(self, quantity: Quantity) -> Array:
        """The largest value over all tiles, for every tile size including the whole."""
        return self._spread(largest_tile(self.values[quantity], self.kinds))

    def _summed(self, parts: tuple[TilePart | None, ...]) -> Array:
        known = self._sums.get(parts)
        if known is None:
            place = len(parts) - 1
            known = self._sums[parts] = self._contracted(self._summed(parts[:-1]), place + 1, place, parts[-1])
        return known

    def _contracted(self, values: NDArray[Number], axis: int, place: int, part: TilePart | None) -> NDArray[Number]:
        """Sum over the tiles of a part of one cut, for the tile sizes smaller than the whole; None: the whole, which is
        always one kind, the first."""
        window = (*(slice(None),) * axis, slice(0, 1) if part is None else slice(1, None))
        values = values[window]
        if part is None:
            return values
        starts = self.kinds[place].starts
        weights = self._weights.get((place, part))
        if weights is None:
            weights = self._weights[place, part] = self.kinds[place].counts[part][1:]
        values = values * weights.reshape(-1, *(1,) * (values.ndim - axis - 1))
        if starts.size - 1 == weights.size:  # one kind of tile each
            return values
        return np.add.reduceat(values, starts[1:] - 1, axis=axis)

    def _spread(self, values: NDArray[Number], leading: int = 0) -> NDArray[Number]:
        """Values with an axis per own cut behind the leading ones, expanded to an axis per cut."""
        shape = [*values.shape[:leading], *[1] * self.dimensions]
        for cut, size in zip(self.own, values.shape[leading:], strict=True):
            shape[leading + cut] = size
        return values.reshape(shape)
