"""Cycle formulas of the cluster DMA: as published (GAP9 sheet 3.1) and as the open simulator counts (3.5)."""

from __future__ import annotations

import numpy as np
from match_core.patterns.formulas import Timing
from numpy.typing import NDArray

from match_gap9.formula_types import Direction, Sizes, as_array, ceil_div, is_engine

#: Bytes that a command's size field holds: 16 bits in the copy structure of PMSIS (MCHAN itself has 17).
COMMAND_BYTES = 65_535


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


def dma_commands(*, planes: Sizes, rows: Sizes, row_bytes: Sizes) -> NDArray[np.int64]:
    """Commands that ``match_gap9_copy_*`` issues for a strided copy: one per plane, more where PMSIS's 16 bits of size
    do not hold a plane."""
    p, r, length = np.broadcast_arrays(as_array(planes), as_array(rows), as_array(row_bytes))
    fit = np.maximum(COMMAND_BYTES // np.maximum(length, 1), 1)
    dense: NDArray[np.int64] = ceil_div(length, COMMAND_BYTES & ~7)
    parts = np.where(r * p == 1, dense, np.where(length > COMMAND_BYTES, r * dense, ceil_div(r, fit)))
    commands: NDArray[np.int64] = p * parts
    return commands


def dma_copy(
    timing: Timing, *, planes: Sizes, rows: Sizes, row_bytes: Sizes, direction: Direction = "in"
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(issue, data, wait) of a copy of ``planes`` times ``rows`` rows, all its commands merged in one transfer.

    As published, the software cost is paid once and every command after the first costs 10 cycles of the link (0 with
    1-byte rows, whose command cost is in the data). As simulated, the issue of a command hides behind the data of the
    one before, on a link that is free when the copy begins; in ``open-sdk`` it depends on rows and planes."""
    p, r, length = np.broadcast_arrays(as_array(planes), as_array(rows), as_array(row_bytes))
    p, r = np.where(r == 1, 1, p), np.where(r == 1, p, r)  # rows that are one row per plane are rows
    commands = dma_commands(planes=p, rows=r, row_bytes=length)
    dense = dma_transfer(timing, rows=1, row_bytes=length, direction=direction, strided=False)
    strided = dma_transfer(timing, rows=r, row_bytes=length, direction=direction)
    data = p * np.where(r == 1, dense, strided)
    wait = np.full_like(data, dma_wait(timing, direction))
    if is_engine(timing):
        first = next_one = np.full_like(data, timing["dma_api_cycles"])
        if timing["counted"]:
            first = first + np.where(r == 1, 0, timing["dma_rows_cycles"])
            next_one = np.full_like(data, timing["dma_plane_issue_cycles"])
        each = data // np.maximum(commands, 1)
        hidden = np.minimum(each, next_one)  # of the issue of every command but the first
        return first + (commands - 1) * next_one, np.maximum(data - (commands - 1) * hidden, each), wait
    plane = np.where(length == 1, 0, timing["dma_plane_cycles"])
    return np.full_like(data, dma_issue(timing)), data + (commands - 1) * plane, wait


def l3_copy(
    timing: Timing, *, commands: Sizes, size_bytes: Sizes
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(issue, data, wait) of ``commands`` requests to the external RAM of ``size_bytes`` each; estimate."""
    count, size = np.broadcast_arrays(as_array(commands), as_array(size_bytes))
    each = timing["l3_setup_cycles"] + ceil_div(size, timing["l3_bytes_per_cycle"])
    issue = count * timing["l3_issue_cycles"]
    data = count * each - (count - 1) * timing["l3_issue_cycles"]
    return issue, data, np.full_like(data, timing["l3_wait_cycles"])
