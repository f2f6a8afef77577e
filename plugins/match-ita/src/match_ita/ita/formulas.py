"""Cycles of ITA's kernels and of the cluster's copies. The twin charges the same figures.

A job is a product of two blocks of 64x64. The DM core programs the next jobs while one runs, in as many contexts as
there are, so jobs follow each other without gaps: programming a job takes less time than running one.
"""

from __future__ import annotations

import numpy as np
from match_core import Workload
from match_core.patterns.formulas import Cycles, Tile, Timing
from numpy.typing import ArrayLike

from match_ita.ita.limits import BLOCK

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


def _stores(kind: str, tile: Tile) -> Cycles:
    """Jobs of a kernel call that store results: the last of each sum."""
    t = tile
    match kind:
        case "ita_attention":
            return t["H"] * _blocks(t["S"]) * (t["T1"] + t["P1"])
        case _:
            return jobs(kind, {**t, "C1": np.ones_like(t["C1"])})


def job_cycles(timing: Timing, *, stores: bool, bias: bool = True) -> int:
    """Cycles from the start of a job to the start of the next one. Streams share one port of L1, so that a job with
    results takes longer than its products; jobs do not overlap."""
    accesses = timing["job_input_reads"] + timing["job_weight_reads"] + timing["job_first_weight_reads"]
    accesses += timing["job_bias_reads"] if bias else 0
    accesses += timing["job_writes"] if stores else 0
    drain = timing["job_drain_cycles"] if stores else 0
    return timing["job_fill_cycles"] + max(timing["job_cycles"], accesses) + drain + timing["job_turn_cycles"]


def kernel_cycles(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """Cycles of a kernel call: the first job is programmed, all jobs run, and what a short block left is moved."""
    kind, count = workload.kind, jobs(workload.kind, tile)
    stores, bias = _stores(kind, tile), kind in ("ita_linear", "ita_linear_turned")
    run = (count - stores) * job_cycles(timing, stores=False, bias=bias)
    run = run + stores * job_cycles(timing, stores=True, bias=bias) + _ends_cycles(timing, kind, tile)
    cycles: Cycles = timing["job_program_cycles"] + run + _tail_cycles(timing, workload, tile)
    return cycles + _setup_cycles(timing, workload, tile, count)


def _ends_cycles(timing: Timing, kind: str, tile: Tile) -> Cycles:
    """What the first and the last job of a call have more: the first one waits for its first weights; where it stores,
    its port also serves them. The last one has no next weights to load."""
    inner = tile["P1"] if kind == "ita_attention" else tile["C1"]
    reads: Cycles = timing["job_first_weight_reads"] * (inner == 1).astype(np.int64)
    return reads


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
