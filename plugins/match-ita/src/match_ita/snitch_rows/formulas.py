"""Work of the kernels for rows and elements: the busiest core's, as functions of tile sizes (``snitch_shared``).

Figures and their sources stand in ``snitch_rows_constants``. On the twin each core charges its own share
(``runtime/match_snitch_rows_cycles.h``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from match_core import Workload
from match_core.patterns.formulas import Cycles, Tile

from match_ita import snitch_shared

_BLOCK = 4
_RUN = 8
_COPY_BYTES = 32


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a kernel: figures, what does not depend on the tile, and the tile's sizes."""

    timing: Mapping[str, int]
    parameters: Mapping[str, int]
    tile: Tile

    def figure(self, name: str) -> int:
        """Cycles of ``rows_<name>_cycles``."""
        return self.timing[f"rows_{name}_cycles"]

    def busiest(self, items: Cycles, block: int) -> Cycles:
        """Of items in whole blocks, how many the busiest core has."""
        every = self.timing["cores"] * block
        share: Cycles = np.minimum(-(-items // every) * block, items)
        return share

    def dealt(self, items: Cycles, block: int, block_cycles: Cycles | int, single_cycles: Cycles | int) -> Cycles:
        """Items in whole blocks: of the cores with full shares, or of the one with the rest, which is no whole block
        and may take longer."""
        share = self.busiest(items, block)
        rest = items % np.maximum(share, 1)
        work = (_blocks(each, block, block_cycles, single_cycles) for each in (share, rest))
        longest: Cycles = np.maximum(*work)
        return longest

    def flat(self, block: int, single: int) -> Cycles:
        """Elements in eights."""
        return self.dealt(self.tile["R"] * self.tile["C"], _RUN, block, single)

    def columns(self, row: int, single: int) -> Cycles:
        """Columns in fours, down all rows."""
        rows, column = self.tile["R"], self.figure("column")
        return self.dealt(self.tile["C"], _BLOCK, column + rows * row, column + rows * single)

    def run(self, size: Cycles, words: Cycles | bool) -> Cycles:
        """A run of bytes, by words where that can be."""
        blocks, rest = size // _COPY_BYTES, size % _COPY_BYTES
        by_words = blocks * self.figure("copy_block") + rest // 4 * self.figure("copy_word")
        by_words = by_words + size % 4 * self.figure("copy_byte")
        return np.where(words, by_words, size * self.figure("copy_byte"))


def _blocks(items: Cycles, block: int, block_cycles: Cycles | int, single_cycles: Cycles | int) -> Cycles:
    cycles: Cycles = items // block * block_cycles + items % block * single_cycles
    return cycles


def parts(timing: Mapping[str, int], workload: Workload, tile: Tile) -> tuple[Cycles]:
    """The work of one call on a tile, besides that of the call itself."""
    return (_KERNELS[workload.kind](_Call(timing, workload.parameters, tile)),)


def kernel_cycles(timing: Mapping[str, int], workload: Workload, tile: Tile) -> Cycles:
    """Cycles of one call on a tile, the hand-over to the cores not included. KeyError for a kernel of others."""
    return snitch_shared.kernel_cycles(timing, "rows_call", lambda figures: parts(figures, workload, tile))


def _add(call: _Call) -> Cycles:
    if call.parameters["wide"]:
        return call.flat(_RUN * call.figure("add_wide"), call.figure("add_wide"))
    return call.flat(call.figure("add_block"), call.figure("add"))


def _requant(call: _Call) -> Cycles:
    if call.parameters["wide"]:
        return call.columns(_BLOCK * call.figure("requant_wide"), call.figure("requant_wide"))
    return call.columns(call.figure("requant_row"), call.figure("requant"))


def _down(name: str) -> Callable[[_Call], Cycles]:
    return lambda call: call.columns(call.figure(f"{name}_row"), call.figure(name))


def _along(name: str) -> Callable[[_Call], Cycles]:
    return lambda call: call.flat(call.figure(f"{name}_block"), call.figure(name))


def _sums(call: _Call, name: str) -> Cycles:
    parts = call.tile["N"]
    block = call.figure(f"{name}_block") + parts * call.figure("sum_part")
    single = call.figure(name) + parts * call.figure("sum_single_part")
    return call.dealt(call.tile["S"] * call.tile["C"], _RUN, block, single)


def _sum(call: _Call) -> Cycles:
    cycles: Cycles = call.tile["O"] * (call.figure("sum_outer") + _sums(call, "sum"))
    return cycles


def _layernorm(call: _Call) -> Cycles:
    """Rows in pairs."""
    rows, columns = call.busiest(call.tile["R"], 1), call.tile["C"]

    def pass_of(name: str) -> Cycles:
        along = _blocks(columns, _RUN, call.figure(f"{name}_block"), call.figure(name))
        return call.figure(f"{name}_row") + along

    cycles: Cycles = rows // 2 * pass_of("norm_pair") + rows % 2 * pass_of("norm")
    return cycles


def _integer_norm(call: _Call) -> Cycles:
    element = call.figure("integer_norm") + (call.figure("mean") if call.parameters["centred"] else 0)
    row = call.figure("integer_norm_row") + call.tile["C"] * element
    return call.busiest(call.tile["R"], 1) * row


def _copy(call: _Call) -> Cycles:
    size = call.tile["O"] * call.tile["P"] * call.tile["A"] * call.tile["B"] * call.tile["C"]
    return call.run(call.busiest(size, _COPY_BYTES), True)


def _transpose(call: _Call) -> Cycles:
    t, column = call.tile, call.figure("turn_column")
    fours = column + _blocks(t["R"], _BLOCK, call.figure("turn_block"), call.figure("turn_row"))
    single = column + t["R"] * call.figure("turn")
    matrix = call.figure("turn_matrix") + call.dealt(t["C"], _BLOCK, fours, single)
    cycles: Cycles = t["P"] * t["A"] * matrix
    return cycles


def _gather(call: _Call) -> Cycles:
    size = call.tile["C"]
    cycles: Cycles = call.busiest(call.tile["N"], 1) * (call.figure("run") + call.run(size, size % 4 == 0))
    return cycles


def _windows(call: _Call) -> Cycles:
    size = call.tile["C"]
    row = call.tile["K"] * (call.figure("window_run") + call.run(size, size % 4 == 0))
    cycles: Cycles = call.busiest(call.tile["T"], 1) * row
    return cycles


def _pad(call: _Call) -> Cycles:
    before, size, after = (call.parameters[name] * call.tile["I"] for name in ("before", "size", "after"))
    words = (before % 4 == 0) & (size % 4 == 0) & (after % 4 == 0)
    more = before + after
    filled = np.where(words, more // 4 * call.figure("fill_word"), more * call.figure("fill_byte"))
    row = call.figure("pad_row") + filled + call.run(size, words)
    return call.busiest(call.tile["O"], 1) * row


def _concat(call: _Call) -> Cycles:
    sizes = [call.parameters[name] * call.tile["I"] for name in call.parameters]
    words = np.all([size % 4 == 0 for size in sizes], axis=0)
    row = sum(call.figure("run") + call.run(size, words) for size in sizes)
    cycles: Cycles = call.busiest(call.tile["O"], 1) * row
    return cycles


_KERNELS: Mapping[str, Callable[[_Call], Cycles]] = {
    "snitch_add": _add,
    "snitch_requant": _requant,
    "snitch_requant_twice": _down("requant_twice"),
    "snitch_add_requant": _down("add_requant"),
    "snitch_add_requant_twice": _down("add_requant_twice"),
    "snitch_offset_each": _along("offset"),
    "snitch_lut": _along("lut"),
    "snitch_sum": _sum,
    "snitch_sum_three": _along("sum_three"),
    "snitch_sum_add": lambda call: _sums(call, "sum_add"),
    "snitch_layernorm": _layernorm,
    "snitch_integer_norm": _integer_norm,
    "snitch_copy": _copy,
    "snitch_transpose": _transpose,
    "snitch_gather": _gather,
    "snitch_windows": _windows,
    "snitch_pad": _pad,
    "snitch_concat": _concat,
    "snitch_concat_three": _concat,
}
