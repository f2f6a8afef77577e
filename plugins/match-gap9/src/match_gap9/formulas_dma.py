"""Cycle formulas of the cluster DMA: as published (GAP9 sheet 3.1) and as the open simulator counts (3.5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from match_gap9.formula_types import Direction, Sizes, Timing, as_array, ceil_div, is_engine


def dma_issue(timing: Timing) -> int:
    """Core cycles before a transfer starts: the command and, as published, the software around it."""
    return timing["dma_setup_cycles"] + timing["dma_api_cycles"]


def dma_wait(timing: Timing, direction: Direction) -> int:
    """Core cycles from the end of the data to the waiting core running again."""
    return timing[f"dma_wait_{direction}_cycles"]


def dma_transfer(
    timing: Timing,
    *,
    rows: Sizes,
    row_bytes: Sizes,
    direction: Direction,
    strided: bool = True,
    l1_offset: Sizes = 0,
) -> NDArray[np.int64]:
    """Cycles one command keeps its channel busy. ``strided``: a 2-D command (the published model prices its
    rows). ``l1_offset``: the L1 address modulo 4, for the engine preset."""
    n_rows, length = as_array(rows), as_array(row_bytes)
    total = n_rows * length
    per_cycle = timing["dma_bytes_per_cycle"]
    if is_engine(timing):
        if direction == "in":
            word = timing["dma_l1_word_bytes"]
            words = ceil_div(total + as_array(l1_offset) % word, word)
            return np.maximum(n_rows, ceil_div(words, per_cycle // word))
        bursts, rest = length // timing["dma_burst_bytes"], length % timing["dma_burst_bytes"]
        burst = timing["dma_burst_bytes"] // per_cycle + timing["dma_burst_cycles"]
        tail = np.where(rest > 0, ceil_div(rest, per_cycle) + timing["dma_burst_cycles"], 0)
        return n_rows * (bursts * burst + tail)
    if not strided:
        return ceil_div(total, per_cycle)
    bytewise = n_rows + timing["dma_byte_row_command_cycles"]
    return np.where(length == 1, bytewise, ceil_div(total, per_cycle) + n_rows * timing["dma_row_cycles"])


def dma_1d(timing: Timing, *, size_bytes: Sizes, direction: Direction = "in") -> NDArray[np.int64]:
    """Issue, data and wait of one contiguous transfer."""
    data = dma_transfer(timing, rows=1, row_bytes=size_bytes, direction=direction, strided=False)
    return dma_issue(timing) + data + dma_wait(timing, direction)


def dma_2d(timing: Timing, *, rows: Sizes, row_bytes: Sizes, direction: Direction = "in") -> NDArray[np.int64]:
    """Issue, data and wait of one 2-D transfer (rows apart in the external memory, dense in L1)."""
    data = dma_transfer(timing, rows=rows, row_bytes=row_bytes, direction=direction)
    return dma_issue(timing) + data + dma_wait(timing, direction)


def dma_3d(
    timing: Timing, *, planes: Sizes, rows: Sizes, row_bytes: Sizes, direction: Direction = "in"
) -> NDArray[np.int64]:
    """Issue, data and wait of ``planes`` equal 2-D commands in a row with one wait at the end.

    As published, the software cost is paid once and a plane costs 10 cycles (12 with 1-byte rows, which is
    HWC to CHW); here the first plane is free of the 10. In the engine preset the issue of a plane hides behind
    the data of the one before."""
    data = dma_transfer(timing, rows=rows, row_bytes=row_bytes, direction=direction)
    count = as_array(planes)
    if is_engine(timing):
        issue = timing["dma_api_cycles"]
        return issue + (count - 1) * np.maximum(issue, data) + data + dma_wait(timing, direction)
    plane = np.where(as_array(row_bytes) == 1, 0, timing["dma_plane_cycles"])
    return dma_issue(timing) + count * data + (count - 1) * plane + dma_wait(timing, direction)
