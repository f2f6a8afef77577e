"""The pieces into which nested loops split their dimensions, in the order in which they run.

Loops over one dimension may be nested, so the number of inner steps varies if a tile does not divide its loop; the
expansion therefore goes loop by loop and has one row per piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.loops import TileLoop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of the first loops of a nest: one row per turn, in order of time.

    ``starts`` and ``sizes``: first index and length of every looped dimension. ``level``: the outermost loop that
    advances at the turn (-1 at the first). ``first_child``: the first turn of the next inner loop (of the pieces one
    level deeper).
    """

    starts: Mapping[str, Array]
    sizes: Mapping[str, Array]
    level: Array
    first_child: Array


@dataclass(frozen=True, slots=True)
class Nest:
    """The pieces of every depth; the pieces of the last depth are the kernel calls."""

    pieces: tuple[Pieces, ...]

    @property
    def steps(self) -> int:
        """Kernel calls."""
        return int(self.pieces[-1].level.size)

    def first_steps(self, depth: int) -> Array:
        """The kernel call at which each piece of a depth begins."""
        first = np.arange(self.pieces[depth].level.size, dtype=np.int64)
        for pieces in self.pieces[depth:-1]:
            first = pieces.first_child[first]
        return first


def nest_of(loops: Sequence[TileLoop]) -> Nest:
    """Expand loops, outermost first."""
    starts: dict[str, Array] = {}
    sizes: dict[str, Array] = {}
    level: Array = np.full(1, -1, dtype=np.int64)
    found: list[Pieces] = []
    for number, loop in enumerate(loops):
        start = starts.get(loop.dim, np.zeros_like(level))
        size = sizes.get(loop.dim, np.full_like(level, loop.size))
        turns = -(-size // loop.tile)
        first_child = np.cumsum(turns) - turns
        found.append(Pieces(starts, sizes, level, first_child))
        parent = np.repeat(np.arange(level.size), turns)
        turn = np.arange(parent.size) - first_child[parent]
        starts = {name: values[parent] for name, values in starts.items()}
        sizes = {name: values[parent] for name, values in sizes.items()}
        starts[loop.dim] = start[parent] + turn * loop.tile
        sizes[loop.dim] = np.minimum(loop.tile, size[parent] - turn * loop.tile)
        level = np.where(turn == 0, level[parent], number)
    found.append(Pieces(starts, sizes, level, np.zeros_like(level)))
    return Nest(tuple(found))


def tile_at(loops: Sequence[TileLoop], depth: int, whole: Mapping[str, int]) -> dict[str, int]:
    """The full size of every dimension inside of the first ``depth`` loops."""
    return {**whole, **{loop.dim: loop.tile for loop in loops[:depth]}}
