"""All kernel calls of a nest of loops in order, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from match_core.contract.loops import TileLoop
from match_core.contract.workload import Operand
from numpy.typing import NDArray

Array = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Turns:
    """All kernel calls in order. ``index``: for every number of loops, the number of the piece of each looped dimension
    among the pieces of that dimension; ``moved``: the outermost loop that goes on before each call, -1 before the
    first; ``sizes``: of the looped dimensions in each call."""

    loops: tuple[TileLoop, ...]
    index: tuple[Mapping[str, Array], ...]
    moved: Array
    sizes: Mapping[str, Array]

    def changes(self, depth: int) -> Flags:
        """Calls at which a buffer of that depth gets another piece."""
        return self.moved < depth

    def pieces(self, operand: Operand, depth: int) -> tuple[Array, ...]:
        """Where each call finds its piece in arrays with an axis per dimension of the operand."""
        names = dict.fromkeys(name for axis in operand.axes for name, _ in axis.terms)
        zero = np.zeros_like(self.moved)
        return tuple(self.index[depth].get(name, zero) for name in names) or (zero,)


def turns_of(loops: tuple[TileLoop, ...]) -> Turns:
    pieces: dict[str, Array] = {}  # sizes of the pieces of each dimension, in its own order
    now: dict[str, Array] = {}
    moved = np.full(1, -1, dtype=np.int64)
    levels: list[dict[str, Array]] = [{}]
    for number, loop in enumerate(loops):
        sizes = pieces.get(loop.dim, np.array([loop.size]))
        counts = -(-sizes // loop.tile)
        begin = np.cumsum(counts) - counts
        at = now.get(loop.dim, np.zeros_like(moved))
        repeats = counts[at]
        parent = np.repeat(np.arange(moved.size), repeats)
        turn = np.arange(parent.size) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        levels = [{name: values[parent] for name, values in level.items()} for level in levels]
        now = {name: values[parent] for name, values in now.items()}
        now[loop.dim] = begin[at[parent]] + turn
        moved = np.where(turn == 0, moved[parent], number)
        whole = np.repeat(np.arange(sizes.size), counts)
        step = np.arange(whole.size) - np.repeat(begin, counts)
        pieces[loop.dim] = np.minimum(loop.tile, sizes[whole] - step * loop.tile)
        levels.append(dict(now))
    sizes_now = {name: pieces[name][values] for name, values in now.items()}
    return Turns(loops, tuple(levels), moved, sizes_now)
