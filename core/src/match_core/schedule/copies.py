"""The copies that fill or empty one buffer of an operand, as arrays over all pieces that the buffer holds in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from match_core.contract.cost import TransferShape
from match_core.contract.geometry import axis_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.contract.cost import CostModel
    from match_core.contract.workload import Axis, Operand, Workload
    from match_core.schedule.nest import Pieces

    Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Route:
    """One hop of an operand: the memories, and the full piece of every dimension on either side."""

    operand: Operand
    far: str
    near: str
    source: Mapping[str, int]
    tile: Mapping[str, int]

    @property
    def direction(self) -> Literal["in", "out"]:
        """Towards the near memory, or away from it."""
        return "out" if self.operand.role == "output" else "in"


@dataclass(frozen=True, slots=True)
class CopyCycles:
    """Cycles of each copy, and its energy if the cost model has figures; arrays of one length."""

    issue: Array
    data: Array
    wait: Array
    bytes: Array
    energy_pj: NDArray[np.float64] | None


def axis_extents(axis: Axis, pieces: Pieces, tile: Mapping[str, int]) -> Array:
    """Stored extents of an axis, piece by piece. Dimensions without a loop are whole."""
    if not axis.terms:
        return np.full(pieces.level.size, -(-axis.size // axis.round_up) * axis.round_up, dtype=np.int64)
    low = np.full(pieces.level.size, -axis.offset, dtype=np.int64)
    high = low.copy()
    for name, coefficient in axis.terms:
        start, size = pieces.starts.get(name), pieces.sizes.get(name)
        if start is None or size is None:
            high += coefficient * (tile[name] - 1)
        else:
            low += coefficient * start
            high += coefficient * (start + size - 1)
    extent: Array = np.maximum(np.minimum(high, axis.size - 1) - np.maximum(low, 0) + 1, 0)
    return -(-extent // axis.round_up) * axis.round_up


def copy_cycles(workload: Workload, model: CostModel, route: Route, pieces: Pieces) -> CopyCycles:
    """Cost of the copies of all pieces. A copy with several commands (more than three levels) counts the cycles of all
    of them, but waits once."""
    extents = [axis_extents(axis, pieces, route.tile) for axis in route.operand.axes]
    counts = [np.ones_like(pieces.level)]
    for group in axis_levels(route.operand, route.tile, route.source):
        counts.append(_product([extents[number] for number in group], pieces.level))
    row_bytes = -(-counts[1] * route.operand.element_bits // 8)
    rows, planes = (counts[n] if len(counts) > n else counts[0] for n in (2, 3))
    repeats = _product(counts[4:], pieces.level)
    shape = TransferShape(route.direction, row_bytes, rows, planes, route.far, route.near)
    parts = model.transfer_cycles(workload, shape)
    energy = None
    if model.energy is not None:
        energy = model.energy.transfer_energy_pj(workload, shape) * repeats
    size = row_bytes * rows * planes * repeats
    return CopyCycles(_whole(parts.issue) * repeats, _whole(parts.data) * repeats, _whole(parts.wait), size, energy)


def _product(factors: Sequence[Array], like: Array) -> Array:
    result: Array = np.ones_like(like)
    for factor in factors:
        result = result * factor
    return result


def _whole(values: Array) -> Array:
    return np.asarray(values, dtype=np.int64)
