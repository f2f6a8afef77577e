"""Sums of a quantity over the tiles of some dimensions, for all their tile sizes together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from match_schedule.tile_kinds import Kinds, Number, TilePart, largest_tile, sum_tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.int64]

Quantity = Literal["kernel", "launch", "issue", "data", "wait", "bytes"]


class Sums:
    """Quantities over the kinds of tiles of some cuts (``own``), summed over parts on demand."""

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
        self._sums: dict[tuple[object, ...], Array] = {}

    def of(self, quantity: Quantity, parts: Mapping[int, TilePart]) -> Array:
        """The sum over the given parts of the cuts in ``parts``, with all other dimensions whole. Axes of cuts in
        ``parts`` have all tile sizes but the whole; the others have length 1."""
        key = (quantity, *(parts.get(cut) for cut in self.own))
        if key not in self._sums:
            self._sums[key] = self._sum(self.values[quantity], parts)
        return self._sums[key]

    def energy_of(self, parts: Mapping[int, TilePart]) -> NDArray[np.float64]:
        """The same sum of energies in pJ; ValueError if they are not known."""
        if self.energy_pj is None:
            raise ValueError("no energy figures")
        return self._sum(self.energy_pj, parts)

    def largest(self, quantity: Quantity) -> Array:
        """The largest value over all tiles, for every tile size including the whole."""
        return self._spread(largest_tile(self.values[quantity], self.kinds))

    def _sum(self, values: NDArray[Number], parts: Mapping[int, TilePart]) -> NDArray[Number]:
        for place, cut in enumerate(self.own):
            values = values[(slice(None),) * place + (slice(1, None) if cut in parts else slice(0, 1),)]
        kinds = [self._kinds(place, cut in parts) for place, cut in enumerate(self.own)]
        return self._spread(sum_tiles(values, kinds, [parts.get(cut, TilePart.ALL) for cut in self.own]))

    def _kinds(self, place: int, is_cut: bool) -> Kinds:
        """The kinds of the tile sizes smaller than the whole, or of the whole (always one kind, the first)."""
        kinds = self.kinds[place]
        if is_cut:
            counts = {part: numbers[1:] for part, numbers in kinds.counts.items()}
            return Kinds(kinds.features[:, 1:], counts, kinds.starts[1:] - 1)
        counts = {part: numbers[:1] for part, numbers in kinds.counts.items()}
        return Kinds(kinds.features[:, :1], counts, kinds.starts[:1])

    def _spread(self, values: NDArray[Number]) -> NDArray[Number]:
        """Values with an axis per own cut, expanded to an axis per cut."""
        shape = [1] * self.dimensions
        for cut, size in zip(self.own, values.shape, strict=True):
            shape[cut] = size
        return values.reshape(shape)
