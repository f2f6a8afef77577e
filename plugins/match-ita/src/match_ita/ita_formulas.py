"""Cycles of ITA's kernels and of the cluster's copies. The twin charges the same figures.

A job is a product of two blocks of 64x64. The DM core programs the next jobs while one runs, in as many contexts as
there are, so jobs follow each other without gaps: programming a job takes less time than running one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from match_core import Workload
from numpy.typing import ArrayLike, NDArray

from match_ita.ita_limits import BLOCK

Timing = Mapping[str, int]
Cycles = NDArray[np.int64]
Tile = Mapping[str, Cycles]
Copy = tuple[Cycles, Cycles, Cycles]


def _blocks(size: Cycles) -> Cycles:
    return -(-size // BLOCK)


def jobs(kind: str, tile: Tile) -> Cycles:
    """Jobs of a kernel call."""
    t = tile
    match kind:
        case "ita_linear":
            return _blocks(t["S"]) * t["K1"] * t["C1"]
        case "ita_linear_turned":
            return t["P1"] * t["T1"] * t["C1"]
        case "ita_attention":
            return 2 * t["H"] * _blocks(t["S"]) * t["T1"] * t["P1"]
        case "ita_matmul":
            return t["H"] * _blocks(t["M"]) * t["N1"] * t["C1"]
    raise KeyError(kind)


def kernel_cycles(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """Cycles of a kernel call: the first job is programmed, all jobs run, and what a short block left is moved."""
    kind = workload.kind
    overhead = "attention_job_overhead_cycles" if kind == "ita_attention" else "job_overhead_cycles"
    each = max(timing["job_cycles"] + timing[overhead], timing["job_program_cycles"])
    count = jobs(kind, tile)
    cycles: Cycles = timing["job_program_cycles"] + count * each + _tail_cycles(timing, workload, tile)
    return cycles + _setup_cycles(timing, workload, tile, count)


def _setup_cycles(timing: Timing, workload: Workload, tile: Tile, count: Cycles) -> Cycles:
    """A context is given what a layer's jobs have in common with the first job that it holds. Only the first job of a
    kernel call is programmed while ITA waits, so calls of fewer jobs than contexts see this again, until all contexts
    hold it. The layer's first time is part of its cycles; each call counts as its part of the others."""
    calls = np.ones_like(count)
    for dim in workload.dims:
        calls = calls * -(-dim.size // tile[dim.name])
    seen = np.minimum(calls, -(-timing["contexts"] // count))
    share: Cycles = timing["job_setup_cycles"] * (seen - 1) // calls
    return share


def _tail_cycles(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """What a short block leaves is moved. The tile of a turned layer does not say whether it has the last columns: each
    counts as its part of them."""
    rows = {"ita_linear": "S", "ita_attention": "S", "ita_matmul": "M"}.get(workload.kind)
    tail = timing["tail_cycles"] if workload.scratch else 0
    if rows is None:
        share: Cycles = tail * tile["T1"] // workload.dim("T1").size
        return share
    short: Cycles = tail * (tile[rows] % BLOCK != 0).astype(np.int64)
    return short


def dma_copy(timing: Timing, *, planes: ArrayLike, rows: ArrayLike, row_bytes: ArrayLike, ring: bool = False) -> Copy:
    """(issue, data, wait) in cycles of a copy of ``planes`` times ``rows`` rows between L2 and L1; both directions cost
    the same. The DMA takes rows, planes are a loop in software. Latencies of copies that follow each other overlap, so
    only who waits for the last one sees it. ``ring``: core 0 asks the DM core for it."""
    p, r, length = (np.asarray(a, dtype=np.int64) for a in np.broadcast_arrays(planes, rows, row_bytes))
    p, r = np.where(r == 1, 1, p), np.where(r == 1, p, r)  # rows that are one row per plane are rows
    every = -(-length // timing["dma_bytes_per_cycle"]) + np.where(r > 1, timing["dma_row_cycles"], 0)
    data = p * r * every
    issue = p * timing["dma_issue_cycles"]
    if ring:
        data = data + timing["ring_serve_cycles"] + issue
        issue = np.full_like(p, timing["ring_post_cycles"])
    return issue, data, np.full_like(data, timing["dma_latency_cycles"] + timing["dma_wait_cycles"])
