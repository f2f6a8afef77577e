"""The copies of one operand over one link, for all tilings together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from match_core.contract.cost import TransferShape
from match_core.contract.geometry import has_gap, round_up

from match_schedule.space import Cut, operand_cuts, uses
from match_schedule.sums import Quantity, Sums
from match_schedule.tile_kinds import Kinds, along, kinds_of

if TYPE_CHECKING:
    from match_core.contract.loops import ScheduleRequest
    from match_core.contract.workload import Axis, Operand
    from numpy.typing import NDArray

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _AxisTiles:
    """One axis over all kinds of tiles: stored extent, whether outer axes start after a gap, whether every tile has one
    index."""

    extent: Array
    cut: Flags
    one: Flags


class OperandCopies:
    """Costs of the copies of an operand's tiles over one link; ``route``: the far and the near memory. ``source``: cuts
    of the far memory's buffer, which do not cut the copies."""

    def __init__(
        self,
        request: ScheduleRequest,
        operand: Operand,
        cuts: tuple[Cut, ...],
        route: tuple[str, str],
        source: tuple[int, ...],
    ) -> None:
        self.request = request
        self.far, self.near = route
        self.inside = {cuts[cut].dim.name for cut in source}
        self.operand = operand
        self.whole = {dim.name: dim.size for dim in request.workload.dims}
        self.own = operand_cuts(operand, cuts)
        self.dims = [cuts[i].dim for i in self.own]
        self.kinds = [self._kinds(cuts[i]) for i in self.own]
        self.dimensions = max(1, len(cuts))

    def sums(self) -> Sums:
        """The cycles, bytes and energy of copies."""
        request, workload, model = self.request, self.request.workload, self.request.cost_model
        axes = [self._axis(number) for number in range(len(self.operand.axes))]
        transfer, repeats = self._transfers(axes)
        parts = model.transfer_cycles(workload, transfer)
        shape = tuple(kind.size for kind in self.kinds)
        values: dict[Quantity, Array] = {
            "issue": np.asarray(parts.issue * repeats, dtype=np.int64).reshape(shape),
            "data": np.asarray(parts.data * repeats, dtype=np.int64).reshape(shape),
            "wait": np.asarray(parts.wait, dtype=np.int64).reshape(shape),
            "bytes": (transfer.row_bytes * transfer.rows * transfer.planes * repeats).reshape(shape),
        }
        energy = None
        if model.energy is not None and request.objective != "latency":
            energy = (model.energy.transfer_energy_pj(workload, transfer) * repeats).reshape(shape)
        return Sums(self.own, self.kinds, values, energy, self.dimensions)

    def _kinds(self, cut: Cut) -> Kinds:
        """Features of a kind: its size, the full tile size, then the extent of each axis that uses the
        dimension."""
        used = [axis for axis in self.operand.axes if uses(axis, cut.dim)]

        def features(tile: Array, first: Array, size: Array) -> Sequence[Array]:
            return [
                tile,
                *(_extent(axis, cut.dim.name, first, size, self.whole) for axis in used),
            ]

        return kinds_of(cut, features, windowed=any(axis.windowed for axis in used))

    def _axis(self, number: int) -> _AxisTiles:
        axis = self.operand.axes[number]
        shape = tuple(kind.size for kind in self.kinds)
        count = int(np.prod(shape))
        position = next((n for n, dim in enumerate(self.dims) if uses(axis, dim)), None)
        if position is None:
            zero = np.zeros(1, dtype=np.int64)
            extent = np.broadcast_to(_extent(axis, "", zero, zero, self.whole), (count,))
            one = np.full(count, round_up(axis.size, axis.round_up) == 1)
            return _AxisTiles(extent, np.full(count, has_gap(self.operand, number)), one)
        dim, table = self.dims[position], self.kinds[position].features
        row = 2 + sum(uses(other, dim) for other in self.operand.axes[:number])

        def spread(values: Array) -> Array:
            return np.broadcast_to(along(values, position, len(self.kinds)), shape).reshape(-1)

        whole = dim.size if dim.name not in self.inside else 0
        return _axis_tiles(axis, has_gap(self.operand, number), spread(table[1]), whole, spread(table[row]))

    def _transfers(self, axes: Sequence[_AxisTiles]) -> tuple[TransferShape, Array]:
        """The strided copies of tiles, and the number of repetitions of each (levels beyond three), with the rule of
        ``geometry.axis_levels``."""
        tiles = axes[0].extent.size if axes else 1
        counts = np.ones((max(3, len(axes) + 1), tiles), dtype=np.int64)
        level, column = np.zeros(tiles, dtype=np.int64), np.arange(tiles)
        closed = np.zeros(tiles, dtype=np.bool_)
        for axis in reversed(axes):
            opens = closed & ~axis.one
            taken = opens | ~closed
            level = level + opens
            counts[level, column] *= np.where(taken, axis.extent, 1)
            closed = np.where(taken, axis.cut, closed)
        row_bytes = -(-counts[0] * self.operand.element_bits // 8)
        direction: Literal["in", "out"] = "out" if self.operand.role == "output" else "in"
        shape = TransferShape(direction, row_bytes, counts[1], counts[2], self.far, self.near)
        return shape, np.prod(counts[3:], axis=0)


def _axis_tiles(axis: Axis, gap: bool, tile: Array, source: int, extent: Array) -> _AxisTiles:
    """``gap``: whether outer axes start after a gap in any case; ``source``: the size of the dimension in the far
    memory (0: that of the tile)."""
    cut = tile < source
    alone = not axis.windowed and axis.round_up == 1
    whole = round_up(axis.size, axis.round_up) == 1
    return _AxisTiles(extent, cut | gap, np.where(cut & (axis.round_up == 1), alone & (tile == 1), whole))


def _extent(axis: Axis, dim: str, first: Array, size: Array, whole: Mapping[str, int]) -> Array:
    """Stored extents of an axis where ``dim`` is cut into tiles (first, size) and other dimensions are
    whole."""
    if not axis.terms:
        extent = np.full_like(first, axis.size)
    else:
        low = np.full_like(first, -axis.offset)
        high = low.copy()
        for name, coefficient in axis.terms:
            if name == dim:
                low, high = low + coefficient * first, high + coefficient * (first + size - 1)
            else:
                high = high + coefficient * (whole[name] - 1)
        extent = np.minimum(high, axis.size - 1) - np.maximum(low, 0) + 1
    return -(-extent // axis.round_up) * axis.round_up
