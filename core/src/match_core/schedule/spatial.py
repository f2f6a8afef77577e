"""Spatial unrolling, and a generic cost model made of it and of the links of a Soc.

The rule is that of the MATCH paper (Hamdi et al., IEEE TCAD 2025): a dimension that does not divide by the lanes runs
on fewer of them, on the largest divisor of its size, where that takes no more turns; else it is padded to whole turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.cost import TransferCycles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.cost import Bound, EnergyModel, Overlap, TransferShape
    from match_core.hardware import Link, Soc
    from match_core.schedule.workload import Workload

    Array = NDArray[np.int64]
    Tile = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Unrolled:
    """How a dimension runs on parallel lanes: ``lanes`` of them at a time, ``turns`` times. ``padded`` is the product,
    the size that is computed."""

    lanes: int
    turns: int

    @property
    def padded(self) -> int:
        """Indices computed, those of the padding included."""
        return self.lanes * self.turns


def unroll(size: int, lanes: int) -> Unrolled:
    """Put a dimension of ``size`` indices on ``lanes`` lanes. ValueError if either is not positive."""
    if size <= 0 or lanes <= 0:
        raise ValueError(f"{size} indices on {lanes} lanes: both must be positive")
    turns = -(-size // lanes)
    return Unrolled(size // turns, turns) if size % turns == 0 else Unrolled(lanes, turns)


def turns_of(sizes: Array, lanes: int) -> Array:
    """The turns of ``unroll``, for an array of sizes."""
    turns: Array = -(-sizes // lanes)
    return turns


def padded_sizes(sizes: Array, lanes: int) -> Array:
    """The padded sizes of ``unroll``, for an array of sizes."""
    turns = turns_of(sizes, lanes)
    return np.where(sizes % turns == 0, sizes, turns * lanes)


@dataclass(frozen=True)
class SpatialEnergy:
    """Energy per operation, those on padding included, and per byte that a copy moves: (far memory, near memory, pJ).
    Figures are the caller's; a missing pair of memories is a KeyError."""

    pj_per_mac: float
    pj_per_byte: tuple[tuple[str, str, float], ...]

    def kernel_energy_pj(self, workload: Workload, tile: Tile) -> NDArray[np.float64]:
        """Energy of the multiply-accumulates of one kernel call; none where the workload has none."""
        lanes = dict(workload.unroll)
        macs = np.full(next(iter(tile.values())).shape, 1 if workload.macs else 0, dtype=np.int64)
        for dim in workload.dims:
            macs = macs * padded_sizes(tile[dim.name], lanes.get(dim.name, 1))
        energy: NDArray[np.float64] = macs.astype(np.float64) * self.pj_per_mac
        return energy

    def transfer_energy_pj(self, workload: Workload, transfer: TransferShape) -> NDArray[np.float64]:
        """Energy of the bytes moved."""
        known = {(far, near): energy for far, near, energy in self.pj_per_byte}
        total = transfer.row_bytes * transfer.rows * transfer.planes
        energy: NDArray[np.float64] = total.astype(np.float64) * known[transfer.far, transfer.near]
        return energy


@dataclass(frozen=True)
class SpatialCost:
    """A cost model for units that are described by data alone.

    A kernel call takes ``cycles_per_turn`` for each turn of the nest: every dimension of ``workload.unroll`` on its
    lanes, all others one index at a time. A copy follows its link: ``setup_cycles`` per command to issue, then its
    bytes and ``chunk_cycles`` per row. A link that blocks needs ``overlap`` "none".
    """

    soc: Soc
    cycles_per_turn: int = 1
    launch: int = 0
    layer: int = 0
    overlap: Overlap = "all"
    energy: EnergyModel | None = None
    name: str = "spatial"
    version: str = "1"
    bound: Bound = "lower"

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Array:
        """Cycles of one kernel call."""
        lanes = dict(workload.unroll)
        cycles: Array = np.full(next(iter(tile.values())).shape, self.cycles_per_turn, dtype=np.int64)
        for dim in workload.dims:
            cycles = cycles * turns_of(tile[dim.name], lanes.get(dim.name, 1))
        return cycles

    def launch_cycles(self, workload: Workload, tile: Tile) -> Array:
        """Cycles to start one kernel call."""
        return np.full(next(iter(tile.values())).shape, self.launch, dtype=np.int64)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Cycles of copies over the link between their memories. ValueError if there is none."""
        link = self.soc.link_between(transfer.near, transfer.far)
        if link is None:
            raise ValueError(f"no link joins {transfer.near} and {transfer.far}")
        rows = transfer.rows * transfer.planes
        total = transfer.row_bytes * rows
        data = np.ceil(total / link.bytes_per_cycle).astype(np.int64) + link.chunk_cycles * rows
        return TransferCycles(link.setup_cycles * commands(link, transfer), data, np.zeros_like(data))

    def layer_cycles(self, workload: Workload) -> int:
        """Cycles once per layer."""
        return self.layer


def commands(link: Link, transfer: TransferShape) -> Array:
    """Commands that each copy needs: as many as there are strides beyond the link's, and bytes beyond its largest."""
    strided = (transfer.rows, transfer.planes)
    inner = transfer.row_bytes * transfer.rows * transfer.planes
    repeats: Array = np.ones_like(inner)
    # A stride counts only where it is used; the outermost ones are done one command at a time.
    used = (transfer.rows > 1).astype(np.int64) + (transfer.planes > 1)
    for count in reversed(strided):
        split = used > link.max_dims
        repeats = np.where(split, repeats * count, repeats)
        inner = np.where(split, inner // count, inner)
        used = used - (split & (count > 1))
    if link.max_bytes is not None:
        repeats = repeats * -(-inner // link.max_bytes)
    return repeats
