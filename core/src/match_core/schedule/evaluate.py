"""Bytes and cycles of all tilings at once.

A tiling is a choice of one tile size per cut dimension; results are arrays with one axis per cut dimension,
in the order of the cuts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from match_core.cost import TransferShape
from match_core.schedule.space import Cut, operand_cuts, uses
from match_core.schedule.tile_kinds import Kinds, along, kinds_of, largest_tile, no_features, sum_tiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.cost import CostModel
    from match_core.schedule.workload import Axis, Dim, Operand, Workload

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All tilings costed. Per operand: ``sizes`` is the bytes of its largest tile, ``transfer`` the cycles of
    moving each of its tiles once. ``steps``: the number of tiles along each cut dimension. These broadcast
    against ``bytes``, the whole working set; ``compute`` and ``launch`` are summed over all tiles."""

    bytes: Array
    compute: Array
    launch: Array
    sizes: tuple[Array, ...]
    transfer: tuple[Array, ...]
    steps: tuple[Array, ...]


def evaluate(workload: Workload, cuts: tuple[Cut, ...], cost_model: CostModel, alignment_bytes: int) -> Evaluation:
    """Cost every tiling. The working set is each operand's largest tile and the scratch, each rounded up to
    the alignment."""
    tiles = [along(np.array(cut.tiles, dtype=np.int64), n, len(cuts)) for n, cut in enumerate(cuts)]
    compute, launch = _kernel_sums(workload, cuts, cost_model)
    operands = [_operand_sums(workload, operand, cuts, cost_model) for operand in workload.operands]
    total = _aligned(_scratch(workload, cuts, tiles), alignment_bytes)
    for _, size in operands:
        total = total + _aligned(size, alignment_bytes)
    return Evaluation(
        bytes=np.broadcast_to(total, tuple(len(cut.tiles) for cut in cuts)),
        compute=compute,
        launch=launch,
        sizes=tuple(size for _, size in operands),
        transfer=tuple(cycles for cycles, _ in operands),
        steps=tuple(-(-cut.dim.size // tile) for cut, tile in zip(cuts, tiles, strict=True)),
    )


def _aligned(size: Array, alignment_bytes: int) -> Array:
    return -(-size // alignment_bytes) * alignment_bytes


def _scratch(workload: Workload, cuts: tuple[Cut, ...], tiles: Sequence[Array]) -> Array:
    one: Array = np.ones((1,) * len(cuts), dtype=np.int64)
    sizes = {dim.name: dim.size * one for dim in workload.dims}
    sizes.update({cut.dim.name: tile for cut, tile in zip(cuts, tiles, strict=True)})
    total = 0 * one
    for names, coefficient in workload.scratch:
        term = coefficient * one
        for name in names:
            term = term * sizes[name]
        total = total + term
    return total


def _kernel_sums(workload: Workload, cuts: tuple[Cut, ...], cost_model: CostModel) -> tuple[Array, Array]:
    kinds = [kinds_of(cut, no_features, windowed=False) for cut in cuts]
    shape = tuple(kind.counts.size for kind in kinds)
    tile = {dim.name: np.full(int(np.prod(shape)), dim.size, dtype=np.int64) for dim in workload.dims}
    for position, (cut, kind) in enumerate(zip(cuts, kinds, strict=True)):
        varying = along(kind.features[0], position, len(cuts))
        tile[cut.dim.name] = np.broadcast_to(varying, shape).reshape(-1).copy()
    sums = []
    for cycles in (cost_model.kernel_cycles(workload, tile), cost_model.launch_cycles(workload, tile)):
        values = np.asarray(cycles, dtype=np.int64).reshape(shape)
        sums.append(sum_tiles(values, kinds, range(len(cuts)), len(cuts)))
    return sums[0], sums[1]


def _operand_sums(
    workload: Workload, operand: Operand, cuts: tuple[Cut, ...], cost_model: CostModel
) -> tuple[Array, Array]:
    """Cycles to move every tile of the operand once, and the bytes of its largest tile, for every tiling."""
    whole = {dim.name: dim.size for dim in workload.dims}
    own = operand_cuts(operand, cuts)
    kinds = [_operand_kinds(operand, cuts[i], whole) for i in own]
    dims = [cuts[i].dim for i in own]
    axes = [_axis_tiles(operand, number, dims, kinds, whole) for number in range(len(operand.axes))]
    transfer, repeats = _transfers(operand, axes)
    parts = cost_model.transfer_cycles(workload, transfer)
    cycles = np.asarray(parts.issue + parts.data + parts.wait, dtype=np.int64) * repeats
    size = transfer.row_bytes * transfer.rows * transfer.planes * repeats
    shape = tuple(kind.counts.size for kind in kinds)
    return (
        sum_tiles(cycles.reshape(shape), kinds, own, len(cuts)),
        largest_tile(size.reshape(shape), kinds, own, len(cuts)),
    )


def _operand_kinds(operand: Operand, cut: Cut, whole: Mapping[str, int]) -> Kinds:
    """Features of a kind: its size, the full tile size, then the extent of each axis that uses the
    dimension."""
    used = [axis for axis in operand.axes if uses(axis, cut.dim)]

    def features(tile: int, first: Array, size: Array) -> Sequence[Array]:
        return [
            np.full_like(first, tile),
            *(_extent(axis, cut.dim.name, first, size, whole) for axis in used),
        ]

    return kinds_of(cut, features, windowed=any(axis.windowed for axis in used))


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


@dataclass(frozen=True, slots=True)
class _AxisTiles:
    """One axis over all kinds of tiles: stored extent, whether it is cut, whether every tile has one
    index."""

    extent: Array
    cut: Flags
    one: Flags


def _axis_tiles(
    operand: Operand, number: int, dims: Sequence[Dim], kinds: Sequence[Kinds], whole: Mapping[str, int]
) -> _AxisTiles:
    axis = operand.axes[number]
    shape = tuple(kind.counts.size for kind in kinds)
    count = int(np.prod(shape))
    position = next((n for n, dim in enumerate(dims) if uses(axis, dim)), None)
    if position is None:
        zero = np.zeros(1, dtype=np.int64)
        extent = np.broadcast_to(_extent(axis, "", zero, zero, whole), (count,))
        return _AxisTiles(extent, np.zeros(count, dtype=np.bool_), extent == 1)
    dim, table = dims[position], kinds[position].features
    row = 2 + sum(uses(other, dim) for other in operand.axes[:number])

    def spread(values: Array) -> Array:
        return np.broadcast_to(along(values, position, len(kinds)), shape).reshape(-1)

    tile, extent = spread(table[1]), spread(table[row])
    cut = tile < dim.size
    alone = not axis.windowed and axis.round_up == 1
    return _AxisTiles(extent, cut, np.where(cut, alone & (tile == 1), extent == 1))


def _transfers(operand: Operand, axes: Sequence[_AxisTiles]) -> tuple[TransferShape, Array]:
    """The strided copies of tiles, and how often each is repeated (levels beyond three); by the same rule as
    ``geometry.transfer_of``."""
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
    row_bytes = -(-counts[0] * operand.element_bits // 8)
    direction: Literal["in", "out"] = "out" if operand.role == "output" else "in"
    return TransferShape(direction, row_bytes, counts[1], counts[2]), np.prod(counts[3:], axis=0)
