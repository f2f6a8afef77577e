"""Tiles of results with several sums at the same time: the common part of convolutions and matrix products.

A tile is some positions (pixels, rows of a matrix) times some outputs (channels, columns). Each step of the reduction
reads one value per position and one weight per output and multiplies all pairs, so that every loaded value is used
several times. Each sum adds its products in the order of the reduction. There are two forms of a tile:

- *rows*: sums are arrays of one row per position, and the innermost loop runs over the outputs of a row. Compilers
  vectorise it and keep the rows in registers.
- *variables*: every sum is a separate variable. Compilers keep them in registers, and turn reductions of integers along
  neighbouring bytes into dot products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_host.kernels.code import LINE_LENGTH, Code, affine
from match_host.kernels.scalar import arithmetic, is_code, moved_halves, scalar_type, wide_unsigned
from match_host.kernels.work import Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_host.kernels.elementwise.elementwise import Body, Index

    #: C text of a value, given the loop variable or the number of its position or output.
    Place = Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class Tile:
    """``positions`` times ``outputs`` sums, written as ``rows`` or as variables; ``outputs_outside``: whether the loop
    over blocks of outputs encloses that over positions."""

    positions: int
    outputs: int
    rows: bool
    outputs_outside: bool = True

    @property
    def sums(self) -> int:
        """The number of sums of a tile."""
        return self.positions * self.outputs


def tile_work(tile: Tile, macs: int, dtype: np.dtype[np.generic], *, floating: bool) -> Work:
    """The work of ``macs`` products in tiles: each step loads one value per position and one weight per output."""
    loads = macs * (tile.positions + tile.outputs) // tile.sums
    products = Work(floating_tile_macs=macs) if floating else Work(tile_macs=macs)
    return products + Work(memory=loads, steps=macs // tile.sums) + moved_halves(dtype, loads)


@dataclass(frozen=True)
class After:
    """What follows the sums of a tile: ``body`` of operators on the sum ``result``, whose arguments are ``in<first>``,
    ...; ``index`` of a shape as seen from the result, in the variables ``p`` of positions and ``k`` of outputs;
    ``addend``: the place of what is added first; ``shape`` of the result."""

    body: Body | None
    result: str
    first: int
    index: Index
    shape: tuple[int, ...]
    addend: str = ""


class TileWriter:
    """Writes the sums of one tile. ``dtype`` is the type of the sums; ``start`` returns the text of a sum's first
    value from the output's index terms (loop variable, number)."""

    def __init__(self, code: Code, tile: Tile, dtype: np.dtype[np.generic], start: Place) -> None:
        self.code, self.tile, self.dtype, self.start = code, tile, dtype, start
        self.ctype = scalar_type(dtype)

    @staticmethod
    def takes(weights: NDArray[np.generic]) -> bool:
        """Whether products with these constant weights may have this form."""
        return True

    @staticmethod
    def stored(weights: NDArray[np.generic], tile: Tile) -> NDArray[np.generic]:
        """The packed weights as tiles of this form read them."""
        return weights

    def open(self) -> None:
        """Declare the sums."""
        code, tile = self.code, self.tile
        if tile.rows:
            code.line(f"{self.ctype} sums[{tile.positions}][{tile.outputs}];")
            with code.loops([("p", tile.positions), ("k", tile.outputs)]) as (row, column):
                code.line(f"sums[{row or 0}][{column or 0}] = {self.start(column, 0)};")
            return
        for p in range(tile.positions):
            self._declare(self.ctype, [(self._sum(p, k), self.start("", k)) for k in range(tile.outputs)])

    def add(self, x: Sequence[str], weight: Place, wraps: bool = False) -> None:
        """Multiply one value per position by one weight per output, given as the texts of the values and of a weight.
        ``wraps``: the sums are integers that may overflow, and wrap around."""
        code, tile = self.code, self.tile
        self._declare(f"const {self.ctype}", [(f"x{p}", value) for p, value in enumerate(x)])
        if tile.rows:
            with code.loop("k", tile.outputs) as k:
                w = weight(k, 0)
                if tile.positions > 1 and ("(" in w or "-" in w):
                    code.line(f"const {self.ctype} w = {w};")
                    w = "w"
                for p in range(tile.positions):
                    code.line(self._step(f"sums[{p}][{k or 0}]", f"x{p}", w, wraps))
            return
        self._declare(f"const {self.ctype}", [(f"w{k}", weight("", k)) for k in range(tile.outputs)])
        for p in range(tile.positions):
            self._statements([self._step(self._sum(p, k), f"x{p}", f"w{k}", wraps) for k in range(tile.outputs)])

    def channels(self, x: str, weight: str) -> None:
        """Multiply the values from place ``x`` on by the weights from a place on, one for each output of a tile with
        rows of one position."""
        for k in range(self.tile.outputs):
            self.code.line(self._step(f"sums[0][{k}]", f"(&{x})[{k}]", f"(&{weight})[{k}]", wraps=False))

    @contextmanager
    def steps(self, variable: str, size: int, edge: bool = False) -> Iterator[str]:
        """The loop over the steps of a sum; ``edge``: places of values were looked up, as some may be outside."""
        with self.code.loop(variable, size) as name:
            yield name

    def finished(self, after: After) -> bool:
        """Write what follows the sums, and the stores, if the writer has a form of its own for it."""
        return False

    def close(self, kept: bool = False) -> None:
        """Store the sums in the array ``sums``; ``kept``: results may overwrite them."""
        if self.tile.rows:
            return
        rows = [", ".join(self._sum(p, k) for k in range(self.tile.outputs)) for p in range(self.tile.positions)]
        kind = self.ctype if kept else f"const {self.ctype}"
        self.code.line(f"{kind} sums[{self.tile.positions}][{self.tile.outputs}] = {{")
        self.code.lines([f"    {{{row}}}," for row in rows])
        self.code.line("};")

    def _sum(self, position: int, output: int) -> str:
        """The variable of one sum."""
        return f"s{output}" if self.tile.positions == 1 else f"s{position}_{output}"

    def _step(self, target: str, x: str, w: str, wraps: bool) -> str:
        if not wraps:
            return f"{target} += {x} * {w};"
        wide = wide_unsigned(self.dtype)
        return f"{target} = ({self.ctype})(({wide}){target} + ({wide}){x} * ({wide}){w});"

    def _declare(self, ctype: str, pairs: Sequence[tuple[str, str]]) -> None:
        """``ctype a = ..., b = ...;`` on as few lines as fit."""
        line = ""
        for name, value in pairs:
            item = f"{name} = {value}"
            if line and self.code.width(f"{line}, {item};") > LINE_LENGTH:
                self.code.line(f"{line};")
                line = ""
            line = f"{line}, {item}" if line else f"{ctype} {item}"
        self.code.line(f"{line};")

    def _statements(self, texts: Sequence[str]) -> None:
        line = ""
        for text in texts:
            if line and self.code.width(f"{line} {text}") > LINE_LENGTH:
                self.code.line(line)
                line = ""
            line = f"{line} {text}" if line else text
        self.code.line(line)


@contextmanager
def tiles(code: Code, name: str, size: int, step: int) -> Iterator[tuple[str, str]]:
    """A loop over tiles of one size; if they do not divide the axis, the last one overlaps the one before it. Yields
    the loop's variable and that of the tile's first index (empty for a single tile)."""
    if step >= size:
        yield "", ""
        return
    if size % step == 0:
        with code.block(f"for (int32_t {name} = 0; {name} < {size}; {name} += {step})"):
            yield name, name
        return
    with code.block(f"for (int32_t {name}0 = 0; {name}0 < {size}; {name}0 += {step})"):
        code.line(f"const int32_t {name} = {name}0 < {size - step} ? {name}0 : {size - step};")
        yield f"{name}0", name


def address(array: str, terms: Sequence[tuple[str, int]], offset: int = 0) -> str:
    """``&array[index]``, or the array itself if the index is 0."""
    index = affine(terms, offset)
    return array if index == "0" else f"&{array}[{index}]"


def wraps_around(dtype: np.dtype[np.generic], integer_products: bool) -> bool:
    """Whether sums of this type are integers that may overflow (sums of 8-bit products are known to fit)."""
    return not integer_products and not is_code(dtype) and arithmetic(dtype).kind in "iu"
