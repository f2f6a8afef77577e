"""Cycles, bytes and energies of all tilings at once.

A tiling is a choice of one tile size per cut dimension. Results are arrays with one axis per cut dimension, in the
order of the cuts; index 0 along an axis is the whole dimension. Sums over the tiles of one part of each dimension
(``Part``) are made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from match_core.cost import TransferShape
from match_core.schedule.geometry import round_up
from match_core.schedule.space import Cut, operand_cuts, uses
from match_core.schedule.tile_kinds import Kinds, Number, Part, along, kinds_of, largest_tile, no_features, sum_tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.schedule.loops import ScheduleRequest
    from match_core.schedule.workload import Axis, Operand

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]

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

    def of(self, quantity: Quantity, parts: Mapping[int, Part]) -> Array:
        """The sum over the named parts of the cuts in ``parts``, all other dimensions whole. Axes of cuts in ``parts``
        run over all tiles but the whole; the others have length 1."""
        key = (quantity, *(parts.get(cut) for cut in self.own))
        if key not in self._sums:
            self._sums[key] = self._sum(self.values[quantity], parts)
        return self._sums[key]

    def energy_of(self, parts: Mapping[int, Part]) -> NDArray[np.float64]:
        """The same sum of energies in pJ; ValueError where they are not known."""
        if self.energy_pj is None:
            raise ValueError("no energy figures")
        return self._sum(self.energy_pj, parts)

    def largest(self, quantity: Quantity) -> Array:
        """The largest over all tiles, for every tile size, the whole included."""
        return self._spread(largest_tile(self.values[quantity], self.kinds))

    def _sum(self, values: NDArray[Number], parts: Mapping[int, Part]) -> NDArray[Number]:
        for place, cut in enumerate(self.own):
            values = values[(slice(None),) * place + (slice(1, None) if cut in parts else slice(0, 1),)]
        kinds = [self._kinds(place, cut in parts) for place, cut in enumerate(self.own)]
        return self._spread(sum_tiles(values, kinds, [parts.get(cut, Part.ALL) for cut in self.own]))

    def _kinds(self, place: int, is_cut: bool) -> Kinds:
        """The kinds of the tile sizes below the whole, or of the whole (always one kind, the first)."""
        kinds = self.kinds[place]
        if is_cut:
            counts = {part: numbers[1:] for part, numbers in kinds.counts.items()}
            return Kinds(kinds.features[:, 1:], counts, kinds.starts[1:] - 1)
        counts = {part: numbers[:1] for part, numbers in kinds.counts.items()}
        return Kinds(kinds.features[:, :1], counts, kinds.starts[:1])

    def _spread(self, values: NDArray[Number]) -> NDArray[Number]:
        """Values with an axis per own cut, with an axis per cut."""
        shape = [1] * self.dimensions
        for cut, size in zip(self.own, values.shape, strict=True):
            shape[cut] = size
        return values.reshape(shape)


class Tables:
    """Everything the search wants to know of a request, for all tilings."""

    def __init__(self, request: ScheduleRequest, cuts: tuple[Cut, ...]) -> None:
        self.request = request
        self.cuts = cuts
        #: Axes of all arrays; one where nothing can be cut.
        self.dimensions = max(1, len(cuts))
        self.tiles = [along(np.array(cut.tiles, dtype=np.int64), n, len(cuts)) for n, cut in enumerate(cuts)]
        self.steps = [-(-cut.dim.size // tile) for cut, tile in zip(cuts, self.tiles, strict=True)]
        self.shape = tuple(len(cut.tiles) for cut in cuts) or (1,)
        workload = request.workload
        self.own = tuple(operand_cuts(operand, cuts) for operand in workload.operands)
        self._copies: dict[tuple[int, tuple[int, ...]], Sums] = {}
        self._stages: dict[int, Sums] = {}
        self.sizes = tuple(self.copies(number).largest("bytes") for number in range(len(workload.operands)))
        self.scratch = self._scratch()
        self._calls: Sums | None = None

    def copies(self, number: int, source: tuple[int, ...] = ()) -> Sums:
        """Copies of an operand between the memory that kernels use and the home memory. ``source``: the cuts of the
        home memory's buffer, where that is a staging buffer."""
        key = (number, tuple(sorted(source)))
        if key not in self._copies:
            request, operand = self.request, self.request.workload.operands[number]
            near = request.unit.memory_of(operand.name, operand.role) or ""
            route = (request.soc.home, near)
            self._copies[key] = _Operand(request, operand, self.cuts, route, source).sums()
        return self._copies[key]

    def stages(self, number: int) -> Sums:
        """Copies of a streamed operand from the Soc's store to the home memory."""
        if number not in self._stages:
            request, operand = self.request, self.request.workload.operands[number]
            route = (request.soc.store or request.soc.home, request.soc.home)
            self._stages[number] = _Operand(request, operand, self.cuts, route, ()).sums()
        return self._stages[number]

    @property
    def calls(self) -> Sums:
        """Kernel and launch cycles (and energy) of kernel calls; costed when first asked for."""
        if self._calls is None:
            self._calls = self._kernel_calls()
        return self._calls

    def _scratch(self) -> Array:
        workload = self.request.workload
        one: Array = np.ones((1,) * self.dimensions, dtype=np.int64)
        sizes = {dim.name: dim.size * one for dim in workload.dims}
        sizes.update({cut.dim.name: tile for cut, tile in zip(self.cuts, self.tiles, strict=True)})
        total = 0 * one
        for names, coefficient in workload.scratch:
            term = coefficient * one
            for name in names:
                term = term * sizes[name]
            total = total + term
        return total

    def _kernel_calls(self) -> Sums:
        workload, model, cuts = self.request.workload, self.request.cost_model, self.cuts
        kinds = [kinds_of(cut, no_features, windowed=False) for cut in cuts]
        shape = tuple(kind.size for kind in kinds)
        tile = {dim.name: np.full(int(np.prod(shape)), dim.size, dtype=np.int64) for dim in workload.dims}
        for position, (cut, kind) in enumerate(zip(cuts, kinds, strict=True)):
            varying = along(kind.features[0], position, len(cuts))
            tile[cut.dim.name] = np.broadcast_to(varying, shape).reshape(-1).copy()
        values: dict[Quantity, Array] = {
            "kernel": np.asarray(model.kernel_cycles(workload, tile), dtype=np.int64).reshape(shape),
            "launch": np.asarray(model.launch_cycles(workload, tile), dtype=np.int64).reshape(shape),
        }
        energy = None
        if model.energy is not None and self.request.objective != "latency":
            energy = model.energy.kernel_energy_pj(workload, tile).reshape(shape)
        return Sums(range(len(cuts)), kinds, values, energy, self.dimensions)


@dataclass(frozen=True, slots=True)
class _AxisTiles:
    """One axis over all kinds of tiles: stored extent, whether it is cut, whether every tile has one
    index."""

    extent: Array
    cut: Flags
    one: Flags


class _Operand:
    """Costs the copies of an operand's tiles over one link, ``route`` being the far and the near memory. ``source``:
    cuts of the far memory's buffer, which are no cuts of the copies."""

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

        def features(tile: int, first: Array, size: Array) -> Sequence[Array]:
            return [
                np.full_like(first, tile),
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
            return _AxisTiles(extent, np.zeros(count, dtype=np.bool_), one)
        dim, table = self.dims[position], self.kinds[position].features
        row = 2 + sum(uses(other, dim) for other in self.operand.axes[:number])

        def spread(values: Array) -> Array:
            return np.broadcast_to(along(values, position, len(self.kinds)), shape).reshape(-1)

        whole = dim.size if dim.name not in self.inside else 0
        return _axis_tiles(axis, spread(table[1]), whole, spread(table[row]))

    def _transfers(self, axes: Sequence[_AxisTiles]) -> tuple[TransferShape, Array]:
        """The strided copies of tiles, and how often each is repeated (levels beyond three); by the same rule as
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


def _axis_tiles(axis: Axis, tile: Array, source: int, extent: Array) -> _AxisTiles:
    """``source``: the size of the dimension in the far memory (0: that of the tile)."""
    cut = tile < source
    alone = not axis.windowed and axis.round_up == 1
    whole = round_up(axis.size, axis.round_up) == 1
    return _AxisTiles(extent, cut, np.where(cut & (axis.round_up == 1), alone & (tile == 1), whole))


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
