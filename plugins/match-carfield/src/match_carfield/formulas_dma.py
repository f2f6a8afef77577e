"""Cycle formulas of copies and of the hand-over of a layer; figures and their sources in ``constants``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from match_core.patterns.formulas import Cycles, Timing
from numpy.typing import ArrayLike, NDArray

Copy = tuple[Cycles, Cycles, Cycles]

#: Bytes that a command of MCHAN moves at most: its stride and length have 16 bits, and so has the size in the runtime.
COMMAND_BYTES = 65_535


def dma_copy(
    timing: Timing, *, unit: str, planes: ArrayLike, rows: ArrayLike, row_bytes: ArrayLike, dram: bool = False
) -> Copy:
    """(issue, data, wait) in cycles of a copy of ``planes`` times ``rows`` rows between L2 (or DRAM) and the L1 of
    ``unit`` ("pulp" or "spatz"); both directions cost the same."""
    p, r, length = (np.asarray(a, dtype=np.int64) for a in np.broadcast_arrays(planes, rows, row_bytes))
    p, r = np.where(r == 1, 1, p), np.where(r == 1, p, r)  # rows that are one row per plane are rows
    own = timing[f"{unit}_dma_bytes_per_cycle"]
    far = _Far(min(own, timing["dram_bytes_per_cycle"]), timing["dram_setup_cycles"]) if dram else _Far(own, 0)
    return _spatz_copy(timing, far, p, r, length) if unit == "spatz" else _pulp_copy(timing, far, p, r, length)


class _Far(NamedTuple):
    """The memory at the other end: its speed, and its latency to the first word of a command."""

    bytes_per_cycle: int
    setup_cycles: int


def _pulp_copy(timing: Timing, far: _Far, planes: Cycles, rows: Cycles, row_bytes: Cycles) -> Copy:
    """MCHAN: the core issues commands. Data of one move while it issues the next, which is left out here: it would make
    the DMA seem free for other copies in that time."""
    dense = rows * planes == 1
    commands = planes * pulp_commands(rows, row_bytes, dense)
    strided = _ceil(rows * row_bytes, far.bytes_per_cycle) + rows * timing["pulp_dma_row_cycles"]
    data = planes * np.where(dense, _ceil(row_bytes, far.bytes_per_cycle), strided)
    data = data + commands * far.setup_cycles + (commands - 1) * timing["pulp_dma_plane_cycles"]
    first = np.where(dense, timing["pulp_dma_dense_cycles"], timing["pulp_dma_strided_cycles"])
    first = first + np.where(commands > 1, timing["pulp_dma_planes_cycles"], 0)
    further = (commands - 1) * timing["pulp_dma_further_cycles"]
    return first + further, data, np.full_like(data, timing["pulp_dma_wait_cycles"])


def pulp_commands(rows: Cycles, row_bytes: Cycles, dense: NDArray[np.bool_]) -> Cycles:
    """Commands of one plane: more than one where 16 bits of size do not hold it."""
    parts = _ceil(row_bytes, COMMAND_BYTES & ~7)
    fit = np.maximum(COMMAND_BYTES // np.maximum(row_bytes, 1), 1)
    commands: Cycles = np.where(dense, parts, np.where(row_bytes > COMMAND_BYTES, rows * parts, _ceil(rows, fit)))
    return commands


def _spatz_copy(timing: Timing, far: _Far, planes: Cycles, rows: Cycles, row_bytes: Cycles) -> Copy:
    """One command per plane, each issued by the core."""
    strided = np.where(rows > 1, rows * timing["spatz_dma_row_cycles"], 0)
    data = _ceil(rows * row_bytes, far.bytes_per_cycle) + strided + far.setup_cycles
    issue = planes * timing["spatz_dma_issue_cycles"]
    return issue, planes * data, np.full_like(data, timing["spatz_dma_wait_cycles"])


def l3_copy(timing: Timing, *, commands: ArrayLike, size_bytes: ArrayLike) -> Copy:
    """(issue, data, wait) of ``commands`` copies between L2 and DRAM by the system DMA, ``size_bytes`` each. There is
    one set of registers, so the core waits for each copy before it starts the next."""
    count, size = (np.asarray(a, dtype=np.int64) for a in np.broadcast_arrays(commands, size_bytes))
    each = timing["dram_setup_cycles"] + _ceil(size, timing["dram_bytes_per_cycle"])
    before = (count - 1) * (each + timing["sysdma_poll_cycles"])
    issue = count * timing["sysdma_issue_cycles"] + before
    return issue, np.where(count > 0, each, 0), np.full_like(each, timing["sysdma_poll_cycles"])


def call_cycles(timing: Timing) -> int:
    """Host to unit and back for a layer of a sequential program: a letter each way, a wake-up each way."""
    letters = 2 * (timing["mailbox_send_cycles"] + timing["mailbox_receive_cycles"])
    return letters + timing["unit_wake_cycles"] + timing["irq_entry_cycles"]


def session_cycles(timing: Timing) -> int:
    """Once per run of a concurrent program: a message to each of the two units and one back, all handled by the
    host."""
    return 3 * timing["mailbox_send_cycles"] + 2 * (timing["mailbox_receive_cycles"] + timing["irq_entry_cycles"])


def _ceil(size: Cycles, divisor: int | Cycles) -> Cycles:
    return -(-size // divisor)
