"""The cost of a tile on a machine: the cost model of ``tile_for``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.cost import Bound, EnergyModel, Overlap, TransferCycles, TransferShape
from match_core.contract.workload import Workload

from match_host.machine import Machine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.int64]
    Floats = NDArray[np.float64]

#: Compilers unroll loops of at most this many steps before vectorisation, if the result is small.
#: For integer products, unrolled loops are never vectorised.
UNROLLED_STEPS = 16
UNROLLED_SUMS, FORCED_SUMS = 64, 1 << 20
#: Extra cost of a product if the loop over outputs has several vectors: values are read once for each.
ROW_CYCLES = 0.25
#: Rows of more vectors than this stay in memory: a load and a store for each product.
LONG_ROW, MEMORY_CYCLES = 4, 0.5
#: Instructions for the address of one position at one tap at the end of a line, and for the tap itself.
ADDRESS_CYCLES, TAP_CYCLES = 0.5, 2.0
#: Cycles to add up the lanes of a dot product, for the epilogue of a vector of such sums, for that of another result,
#: and for a tile's loops.
REDUCE_CYCLES, EPILOGUE_CYCLES, RESULT_CYCLES, TILE_CYCLES = 5.0, 24.0, 2.0, 12.0


@dataclass(frozen=True, slots=True)
class TileCost:
    """Cycles of one tile. The workload's parameters: ``depth`` products per sum, ``line`` contiguous positions,
    ``taps`` with address lookups at the ends of a line (0: none), ``sum_bytes``, bytes of the ``weights`` of an output,
    ``dot`` (1: bytes are added along the sum), ``floating`` (1: floating-point numbers)."""

    machine: Machine
    name: str = "host_tile"
    version: str = "1"
    bound: Bound = "fitted"
    overlap: Overlap = "none"
    energy: EnergyModel | None = None

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, Array]) -> Array:
        """Cycles of the tile, including its share of the positions that overlapping tiles compute twice."""
        given, machine = workload.parameters, self.machine
        line, positions, outputs = given["line"], tile["P"], tile["K"]
        lanes = machine.lanes(given["sum_bytes"])
        if not machine.vectors:
            step, results = self._scalar_step(positions, outputs), positions * outputs * RESULT_CYCLES
            cycles = given["depth"] * step
        elif given["dot"]:
            chunks = -(-given["depth"] // machine.vector_bytes)
            cycles = chunks * self._step(positions * outputs, positions + outputs)
            # The operators after the sums use vectors of all outputs.
            epilogues = positions * -(-outputs // (2 * lanes))
            results = positions * outputs * REDUCE_CYCLES + epilogues * EPILOGUE_CYCLES
        else:
            rows = -(-outputs // lanes)
            step = self._step(positions * rows, positions + rows)
            step = step + np.where(rows > 1, ROW_CYCLES * positions * rows, 0.0)
            step = step + np.where(rows > LONG_ROW, MEMORY_CYCLES * positions * rows, 0.0)
            step = step + np.maximum(0, positions * rows + rows + 1 - machine.registers)
            few = UNROLLED_SUMS if given["floating"] else FORCED_SUMS
            scalar = (outputs <= UNROLLED_STEPS) & (positions * outputs < few) & (machine.writer is None)
            cycles = given["depth"] * np.where(scalar, 2.0 * positions * outputs, step)
            results = positions * rows * RESULT_CYCLES
        cycles = cycles + results + TILE_CYCLES
        # Weights of a tile that exceed half of the first cache come from the second one every time.
        weights = outputs * given["weights"]
        cycles = cycles + np.where(weights > machine.l1_bytes // 2, weights / machine.l2_bytes_per_cycle, 0.0)
        # The first and the last tile of a line look up addresses.
        tiles = -(-line // positions)
        cycles = cycles + given["taps"] * (positions * ADDRESS_CYCLES + TAP_CYCLES) * np.minimum(2, tiles) / tiles
        whole: Array = np.ceil(cycles * tiles * positions / line).astype(np.int64)
        return whole

    def _step(self, products: Array, loads: Array) -> Floats:
        """One step of the reduction in vectors."""
        machine = self.machine
        if machine.writer is not None:  # in order: two instructions for each product
            return np.asarray(2.0 * products + loads + 0.5)
        busy = np.maximum(products / machine.products_per_cycle, loads / machine.loads_per_cycle)
        step: Floats = np.maximum(busy, machine.latency_cycles) + 0.5
        return step

    def _scalar_step(self, positions: Array, outputs: Array) -> Floats:
        """One step of the reduction: a load per value, a multiplication and an addition per product, the loop."""
        step: Floats = 2.0 * positions * outputs + 2.0 * (positions + outputs) + 3.0
        return step

    def launch_cycles(self, workload: Workload, tile: Mapping[str, Array]) -> Array:
        """No cycles: a tile is not a call."""
        return np.zeros(np.shape(tile["P"]), dtype=np.int64)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        """Cycles of cache lines that are loaded, and of sums that leave registers as results."""
        none = np.zeros(np.shape(transfer.rows), dtype=np.int64)
        if transfer.direction == "out":
            return TransferCycles(none, none, none)
        total = transfer.row_bytes * transfer.rows * transfer.planes
        return TransferCycles(none, -(-total // self.machine.ram_bytes_per_cycle), none)

    def layer_cycles(self, workload: Workload) -> int:
        """No cycles per layer."""
        return 0
