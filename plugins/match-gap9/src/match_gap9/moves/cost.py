"""Cycles of the kernels that move bytes: the busiest core's work (``runtime/bytes/match_gap9_moves.c``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from match_core import Workload
from match_core.patterns.formulas import Cycles, Tile, Timing, up

from match_gap9.elements.cost import share

_WORD = 4


def _run(timing: Timing, length: Cycles, words: Cycles) -> Cycles:
    """A run of bytes, in words where both its ends and its length are."""
    inside = np.where(words, length // _WORD * timing["sdk_move_word_cycles"], length * timing["sdk_move_byte_cycles"])
    return timing["sdk_move_run_cycles"] + inside


def _move(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    size = tile["O"] * tile["P"] * tile["A"] * tile["B"] * tile["C"]
    mine = share(timing, size, _WORD)
    return timing["sdk_move_call_cycles"] + _run(timing, mine, mine % _WORD == 0)


def _pad(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """The busiest core has no plane of padding, and of rows of padding as many as a plane has on average."""
    rows, padded = share(timing, tile["P"] * tile["Y"] * tile["X"], 1), workload.operand("output").axes
    *_, along, inner = workload.operand("input").axes
    before = np.minimum(inner.offset, tile["C"])
    after = np.maximum(tile["C"] - before - inner.size, 0)
    length = tile["C"] - before - after
    words = (length % _WORD == 0) & (tile["C"] % _WORD == 0) & (before % _WORD == 0)
    row = _run(timing, length, words) + _fill(timing, before, words) + _fill(timing, after, words)
    blank = _fill(timing, tile["C"], tile["C"] % _WORD == 0)
    inside = up(rows * along.size, padded[-2].size)
    work = rows * timing["sdk_pad_row_cycles"] + inside * row + (rows - inside) * blank
    return timing["sdk_move_call_cycles"] + work


def _fill(timing: Timing, length: Cycles, words: Cycles) -> Cycles:
    count: Cycles = np.where(words & (length % _WORD == 0), length // _WORD, length)
    return count * timing["sdk_move_fill_cycles"]


def _concat(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    sizes = [size for _, size in workload.geometry]
    rows, by_rows = tile["O"], tile["O"] >= timing["core_count"]
    aligned = np.logical_and.reduce([size * tile["I"] % _WORD == 0 for size in sizes])
    row = np.zeros_like(rows)
    for size in sizes:
        length = np.where(by_rows, size * tile["I"], share(timing, size * tile["I"], _WORD))
        row = row + _run(timing, length, aligned)
    return timing["sdk_move_call_cycles"] + np.where(by_rows, share(timing, rows, 1), rows) * row


def _repeat(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    c = tile["C"]
    runs = share(timing, tile["Y"] * tile["SY"], 1) * tile["X"] * tile["SX"]
    return timing["sdk_move_call_cycles"] + runs * _run(timing, c, c % _WORD == 0)


MOVE_CYCLES: Mapping[str, Callable[[Timing, Workload, Tile], Cycles]] = MappingProxyType(
    {"move": _move, "pad": _pad, "repeat": _repeat, **{f"concat_{n}": _concat for n in ("two", "three", "four")}}
)
