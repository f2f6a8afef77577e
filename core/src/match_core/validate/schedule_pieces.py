"""The pieces into which a schedule's loops split a workload, and the part of an operand that belongs to each piece.

Loops over different dimensions do not depend on each other, so the kernel calls are all combinations of the pieces of
the single dimensions. One array axis per dimension represents them all without listing the calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.contract.loops import TileLoop
    from match_core.contract.workload import Axis, Dim, Operand, Workload

    Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pieces:
    """Some pieces of a dimension in the order of the loops: first index and size of each."""

    start: Array
    size: Array


@dataclass(frozen=True, slots=True)
class AxisParts:
    """The parts of one axis that belong to all pieces: ``first`` and ``end`` are clipped to the existing indices,
    ``length`` includes the padding; ``indices`` is the number of indices that the loops reach. The arrays broadcast
    against those of the operand's other axes."""

    first: Array
    end: Array
    length: Array
    indices: Array


def pieces_of(dim: Dim, loops: Sequence[TileLoop], depth: int, seen_from: int) -> Pieces:
    """The pieces after the first ``depth`` loops, repeated for every piece that the first ``seen_from`` (at least
    ``depth``) loops split from them."""
    start, size = np.zeros(1, dtype=np.int64), np.full(1, dim.size, dtype=np.int64)
    held_start, held_size = start, size
    for position, loop in enumerate(loops[:seen_from]):
        if loop.dim != dim.name:
            continue
        steps = -(-size // loop.tile)
        whole = np.repeat(np.arange(size.size), steps)
        first = (np.arange(whole.size) - np.repeat(np.cumsum(steps) - steps, steps)) * loop.tile
        start, size = start[whole] + first, np.minimum(loop.tile, size[whole] - first)
        inside = position < depth
        held_start, held_size = (start, size) if inside else (held_start[whole], held_size[whole])
    return Pieces(held_start, held_size)


def parts_of(
    workload: Workload, operand: Operand, loops: Sequence[TileLoop], depth: int, seen_from: int
) -> tuple[AxisParts, ...]:
    """The part of each axis that a buffer refilled by the first ``depth`` loops holds, for every piece after the first
    ``seen_from`` loops."""
    names = dict.fromkeys(name for axis in operand.axes for name, _ in axis.terms)
    pieces: dict[str, Pieces] = {}
    for position, name in enumerate(names):
        shape = [-1 if position == other else 1 for other in range(len(names))]
        found = pieces_of(workload.dim(name), loops, depth, seen_from)
        pieces[name] = Pieces(found.start.reshape(shape), found.size.reshape(shape))
    return tuple(_part(axis, pieces, len(names)) for axis in operand.axes)


def _part(axis: Axis, pieces: dict[str, Pieces], rank: int) -> AxisParts:
    one = np.ones((1,) * rank, dtype=np.int64)
    if not axis.terms:
        return AxisParts(0 * one, axis.size * one, axis.size * one, axis.size * one)
    low, indices, span = -axis.offset * one, one, 0 * one
    for name, step in axis.terms:
        low = low + step * pieces[name].start
        span = span + step * (pieces[name].size - 1)
        indices = indices * pieces[name].size
    return AxisParts(np.maximum(low, 0), np.minimum(low + span + 1, axis.size), span + 1, indices)


def stored(axis: Axis, part: AxisParts) -> Array:
    """Elements of a part along its axis in a buffer."""
    return -(-(part.end - part.first) // axis.round_up) * axis.round_up
