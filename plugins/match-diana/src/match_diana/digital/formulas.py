"""Cycles of the digital array (sheet 3.1: the model that the MATCH paper publishes). The twin charges the same."""

from __future__ import annotations

import numpy as np
from match_core import Workload
from match_core.patterns.formulas import Cycles, Tile, Timing

from match_diana.digital.limits import CONV_BIAS_BYTES, DENSE_BIAS_BYTES, LANES

#: Accesses of the host to registers for one job, that of the state among them: convolutions and dense layers, sums,
#: each channel of a depthwise layer and what is written once before (ABurrello/dory-hal, src/digital_*.c).
_JOB_ACCESSES, _SUM_ACCESSES, _CHANNEL_ACCESSES, _ONCE_ACCESSES = 11, 9, 11, 3


def chunk_cycles(timing: Timing, size_bytes: Cycles) -> Cycles:
    """One contiguous piece between L2 and a memory of the array."""
    cycles: Cycles = timing["dma_chunk_cycles"] + -(-size_bytes // timing["dma_bytes_per_cycle"])
    return cycles


def copy_cycles(timing: Timing, row_bytes: Cycles) -> Cycles:
    """A piece of an activation: the engine moves multiples of 32 bytes, so others are moved as two pieces that
    overlap."""
    step = timing["dma_length_bytes"]
    whole = row_bytes // step * step
    rest = chunk_cycles(timing, np.full_like(row_bytes, step))
    cycles: Cycles = chunk_cycles(timing, whole) + np.where(whole != row_bytes, rest, 0)
    return cycles


def tile_cycles(timing: Timing, c: Cycles, rows: Cycles | int, fx: int) -> Cycles:
    """16 columns of a row and 16 channels, of a filter with this many rows."""
    cycles: Cycles = c * rows * fx + timing["row_load_cycles"] * c * rows + timing["tile_overhead_cycles"]
    return cycles


def kernel_cycles(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """Cycles of a kernel call, its weights fetched from L2, without what the host does."""
    return {
        "digital_conv": _conv,
        "digital_conv_channels": _conv,
        "digital_depthwise": _depthwise,
        "digital_depthwise_blocks": _depthwise_blocks,
        "digital_dense": _dense,
        "digital_add": _add,
        "digital_add_relu": _add_relu,
    }[workload.kind](timing, workload, tile)


def launch_cycles(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """The host composes the instructions, writes the registers, and finds the array done."""
    jobs, once, accesses = _jobs(workload, tile), 0, _JOB_ACCESSES
    if workload.kind == "digital_depthwise":
        once, accesses = _ONCE_ACCESSES, _CHANNEL_ACCESSES
    each = timing["encode_cycles"] + timing["job_load_cycles"]
    cycles: Cycles = jobs * (each + accesses * timing["register_cycles"]) + once * timing["register_cycles"]
    if workload.kind in ("digital_add", "digital_add_relu"):
        cycles = cycles + each + _SUM_ACCESSES * timing["register_cycles"]
    return cycles


def _jobs(workload: Workload, tile: Tile) -> Cycles:
    """Instructions of a call, without a sum's."""
    match workload.kind:
        case "digital_depthwise":
            return tile["K"]
        case "digital_dense":
            return np.minimum(tile["K"], workload.parameters["outputs"]) // LANES
        case "digital_add_relu" | "digital_depthwise_blocks":
            return tile["K"] // LANES
        case "digital_add":
            return np.zeros_like(tile["N"])
    return np.ones_like(tile["K"])


# ---- by kind ---------------------------------------------------------------------------------------------------


def _window_cycles(timing: Timing, workload: Workload, tile: Tile, c: Cycles) -> Cycles:
    """All rows of a tile for 16 output channels. Filter rows that lie in the padding are skipped. A tile does not say
    whether it touches the edge: each counts as its part of the layer's."""
    fy, fx, lines = workload.dim("FY").size, workload.dim("FX").size, tile["OX"] // LANES
    full = tile["OY"] * tile_cycles(timing, c, fy, fx)
    skipped, height = _skipped_rows(workload), workload.dim("OY").size
    saved = c * skipped * (fx + timing["row_load_cycles"]) * tile["OY"] // height
    cycles: Cycles = lines * (full - saved)
    return cycles


def _skipped_rows(workload: Workload) -> int:
    """Filter rows that lie in the padding, of all output rows."""
    axis = workload.operand("input").axes[1]
    stride, fy = dict(axis.terms)["OY"], workload.dim("FY").size
    first = np.arange(workload.dim("OY").size) * stride - axis.offset
    rows = first[:, None] + np.arange(fy)
    return int(np.count_nonzero((rows < 0) | (rows >= axis.size)))


def _conv(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    c, fy, fx = tile["C"], workload.dim("FY").size, workload.dim("FX").size
    channels = tile["K"] * workload.parameters.get("channels", 1)
    weights = channels * (c * fy * fx + CONV_BIAS_BYTES)
    cycles: Cycles = channels // LANES * _window_cycles(timing, workload, tile, c) + chunk_cycles(timing, weights)
    return cycles


def _depthwise(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    fy, fx = workload.dim("FY").size, workload.dim("FX").size
    one = np.ones_like(tile["K"])
    weights = chunk_cycles(timing, one * LANES * (fy * fx + CONV_BIAS_BYTES))
    return _jobs(workload, tile) * (_window_cycles(timing, workload, tile, one) + weights)


def _depthwise_blocks(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """The last block may have fewer inputs; then all channels are in one tile."""
    blocks = _jobs(workload, tile)
    rest = workload.parameters["channels"] % LANES
    full = _block(timing, workload, tile, LANES)
    if rest == 0:
        return blocks * full
    return (blocks - 1) * full + _block(timing, workload, tile, rest)


def _block(timing: Timing, workload: Workload, tile: Tile, channels: int) -> Cycles:
    taps = workload.dim("FY").size * workload.dim("FX").size
    inputs = np.full_like(tile["K"], channels)
    return _window_cycles(timing, workload, tile, inputs) + chunk_cycles(
        timing, LANES * (inputs * taps + CONV_BIAS_BYTES)
    )


def _dense(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """The published model is that of a convolution of one pixel."""
    c = tile["C"]
    weights = chunk_cycles(timing, LANES * (c + DENSE_BIAS_BYTES))
    return _jobs(workload, tile) * (tile_cycles(timing, c, 1, 1) + weights)


def _add(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """The published model is that of a convolution of one channel, 256 elements at a time."""
    return _sum(timing, tile["N"] * workload.parameters["elements"])


def _sum(timing: Timing, elements: Cycles) -> Cycles:
    cycles: Cycles = -(-elements // (LANES * LANES)) * tile_cycles(timing, np.ones_like(elements), 1, 1)
    return cycles


def _add_relu(timing: Timing, workload: Workload, tile: Tile) -> Cycles:
    """The sum, then a 1x1 convolution of 16 channels by 16 at a time, in rows of 16 pixels."""
    channels, plane = np.full_like(tile["K"], LANES), tile["P"] * workload.parameters["elements"]
    rows = plane // LANES
    copied = rows * tile_cycles(timing, channels, 1, 1) + chunk_cycles(timing, LANES * (channels + CONV_BIAS_BYTES))
    cycles: Cycles = _sum(timing, tile["K"] * plane) + _jobs(workload, tile) * copied
    return cycles
