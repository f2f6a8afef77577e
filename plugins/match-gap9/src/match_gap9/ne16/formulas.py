"""Cycle formulas of NE16: as published (GAP9 sheet 3.3) and as the open simulator counts (3.5).

Stride 2 (sheet 5.5) is derived: the sum of the one-subtile jobs that the driver issues.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from match_core.patterns.formulas import Timing
from numpy.typing import NDArray

from match_gap9.formula_types import Sizes, as_array, ceil_div, is_engine

Operation: TypeAlias = Literal["conv3x3", "conv1x1", "depthwise3x3"]


@dataclass(frozen=True, slots=True)
class Ne16Quant:
    """Number formats of a job. ``scale_bits`` 0 means no requantisation: results are raw 32-bit accumulators."""

    weight_bits: int = 8
    scale_bits: int = 32
    bias: bool = False
    shift: bool = False  # one shift amount per channel instead of a global one
    out_bits: int = 8


def _published_tile(
    timing: Timing, operation: Operation, quant: Ne16Quant, k: NDArray[np.int64], n_in: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Cycles of one output subtile with ``k`` valid output channels (0 for k = 0)."""
    fifo, memory_bits = timing["ne16_fifo_cycles"], timing["ne16_memory_bits"]
    side = timing["ne16_tile_pixels"]
    pixel = -(-timing["ne16_tile_inputs"] * 8 // memory_bits)
    if operation == "conv1x1":
        step = timing["ne16_load_1x1_cycles"] + side * side * pixel + fifo + (fifo + k)
    else:
        step = fifo + (side + 2) * (side + 2) * pixel + fifo + (fifo + k * quant.weight_bits)
    step = step + timing["ne16_update_cycles"]
    total = (step + k) if operation == "depthwise3x3" else n_in * step
    if quant.scale_bits > 0:
        scale_bytes = k * (quant.scale_bits // 8)
        total = total + timing["ne16_scale_cycles"] + ceil_div(scale_bytes, timing["ne16_multipliers"])
        if quant.shift:
            total = total + -(-timing["ne16_tile_outputs"] // timing["ne16_shifters"])
        if quant.bias:
            total = total + timing["ne16_bias_cycles"] + ceil_div(k, timing["ne16_adders"])
    store = -(-timing["ne16_tile_outputs"] * quant.out_bits // memory_bits)
    return np.where(k > 0, total + timing["ne16_streamout_cycles"] + side * side * store, 0)


@dataclass(frozen=True, slots=True)
class _Subtile:
    """Output pixels h x w, input pixels loaded, whether it is in the last tile of output channels."""

    h: NDArray[np.int64]
    w: NDArray[np.int64]
    loaded: NDArray[np.int64]
    last: bool


def _engine_tile(
    timing: Timing,
    operation: Operation,
    quant: Ne16Quant,
    k: NDArray[np.int64],
    n_in: NDArray[np.int64],
    subtile: _Subtile,
) -> NDArray[np.int64]:
    """Cycles of one output subtile with ``k`` valid output channels (0 for k = 0)."""
    h, w = subtile.h, subtile.w
    side = timing["ne16_tile_pixels"]
    words = ceil_div(k, timing["ne16_out_words"]) if quant.out_bits == 32 else np.ones_like(k)
    store = (side * (h - 1) + w) * words
    if operation == "conv3x3":
        total = n_in * (subtile.loaded + quant.weight_bits * k + timing["ne16_conv3x3_step_cycles"])
    elif operation == "conv1x1":
        total = n_in * (k + timing["ne16_conv1x1_step_cycles"])
        store = store + np.maximum(side * side - h * w * (quant.out_bits // 8), 0)
    else:
        total = subtile.loaded + quant.weight_bits * k + timing["ne16_depthwise_step_cycles"]
    if quant.scale_bits > 0:
        scales_per_word = 32 // quant.scale_bits
        steps = ceil_div(k, scales_per_word)
        if operation == "depthwise3x3" and not subtile.last:
            # The simulator runs the steps of a 32-channel tile in every depthwise tile but the last.
            steps = np.full_like(k, timing["ne16_tile_outputs"] // scales_per_word)
        total = total + steps
        total = total + (timing["ne16_engine_bias_cycles"] if quant.bias else 0)
        total = total + (timing["ne16_engine_shift_cycles"] if quant.shift else 0)
    return np.where(k > 0, total + store, 0)


def ne16_job(
    timing: Timing,
    operation: Operation,
    *,
    out_y: Sizes,
    out_x: Sizes,
    k_out: Sizes,
    k_in: Sizes = 1,
    pad_bottom: Sizes = 0,
    pad_right: Sizes = 0,
    quant: Ne16Quant = Ne16Quant(),
) -> NDArray[np.int64]:
    """Cycles of one NE16 job from trigger to its end; ``k_in`` is ignored for depthwise.

    Padding matters to the engine preset only: rows and columns that the counters leave out are not loaded.
    """
    depthwise = operation == "depthwise3x3"
    tile = timing["ne16_tile_inputs"] if depthwise else timing["ne16_tile_outputs"]
    side = timing["ne16_tile_pixels"]
    halo = 0 if operation == "conv1x1" else 2
    height, width, k, n_in, below, beside = np.broadcast_arrays(
        as_array(out_y),
        as_array(out_x),
        as_array(k_out),
        ceil_div(k_in, timing["ne16_tile_inputs"]),
        as_array(pad_bottom),
        as_array(pad_right),
    )
    whole, full_tiles, last_k = np.full_like(k, tile), (k - 1) // tile, (k - 1) % tile + 1
    n_y, n_x = ceil_div(height, side), ceil_div(width, side)
    if not is_engine(timing):
        body = _published_tile(timing, operation, quant, whole, n_in)
        return n_y * n_x * (full_tiles * body + _published_tile(timing, operation, quant, last_k, n_in))
    total = np.full_like(k, timing["ne16_job_cycles"])
    for last_row in (False, True):
        h = (height - 1) % side + 1 if last_row else np.full_like(height, side)
        load_h = h + halo - (below if last_row else 0)
        for last_column in (False, True):
            w = (width - 1) % side + 1 if last_column else np.full_like(width, side)
            load_w = w + halo - (beside if last_column else 0)
            count = (1 if last_row else n_y - 1) * (1 if last_column else n_x - 1)
            inner = _Subtile(h, w, load_h * load_w, last=False)
            outer = _Subtile(h, w, load_h * load_w, last=True)
            total = total + count * full_tiles * _engine_tile(timing, operation, quant, whole, n_in, inner)
            total = total + count * _engine_tile(timing, operation, quant, last_k, n_in, outer)
    return total


#: Words of a job, and those that change from one job of stride 2 to the next (runtime/match_gap9_ne16_stride2.c).
_JOB_WORDS, _CHANGED_WORDS = 24, 3


def _programming(timing: Timing) -> tuple[int, int]:
    """Cycles to program a job of stride 2: one of the first of each context, and a later one."""
    whole = timing["ne16_program_cycles"]
    return whole, whole - (_JOB_WORDS - _CHANGED_WORDS) * timing["ne16_word_cycles"]


def _elapsed(timing: Timing, jobs: NDArray[np.int64], job: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cycles of equal jobs in a row. The core programs the next job while one runs (two contexts)."""
    whole, changed = _programming(timing)
    second = np.where(jobs > 1, np.maximum(whole, job), 0)
    cycles: NDArray[np.int64] = whole + second + np.maximum(jobs - 2, 0) * np.maximum(changed, job) + job
    return cycles


def ne16_layer(
    timing: Timing,
    operation: Operation,
    *,
    out_y: Sizes,
    out_x: Sizes,
    k_out: Sizes,
    k_in: Sizes,
    stride: int = 1,
    in_y: Sizes = 5,
    pad_top: Sizes = 0,
    pad_bottom: Sizes = 0,
    pad_right: Sizes = 0,
    program: bool = True,
    quant: Ne16Quant = Ne16Quant(),
) -> NDArray[np.int64]:
    """Elapsed cycles of the jobs of a tile, with their programming. ``program`` False leaves out that of the job of
    stride 1. With stride 2 one job computes 2x2 outputs as the corners of a subtile; ``in_y`` and ``pad_top`` matter
    there only. ``pad_bottom``, ``pad_right``: rows and columns that the counters leave out."""
    if stride == 1:
        job = ne16_job(
            timing,
            operation,
            out_y=out_y,
            out_x=out_x,
            k_out=k_out,
            k_in=k_in,
            pad_bottom=pad_bottom,
            pad_right=pad_right,
            quant=quant,
        )
        return job + timing["ne16_program_cycles"] if program else job
    if stride != 2:
        raise ValueError(f"NE16 has strides 1 and 2, not {stride}")
    jobs = ceil_div(out_y, 2) * ceil_div(out_x, 2)
    job = _stride2_job(timing, operation, out_y, out_x, k_out, k_in, in_y, pad_top, pad_bottom, quant)
    return _elapsed(timing, jobs, job)


def _stride2_job(
    timing: Timing,
    operation: Operation,
    out_y: Sizes,
    out_x: Sizes,
    k_out: Sizes,
    k_in: Sizes,
    in_y: Sizes,
    pad_top: Sizes,
    pad_bottom: Sizes,
    quant: Ne16Quant,
) -> NDArray[np.int64]:
    """One of the jobs of a tile with stride 2."""
    side = timing["ne16_tile_pixels"]
    # pulp-nnx leaves padded rows out of the counters only where the whole input is smaller than a subtile.
    small = as_array(in_y) + as_array(pad_top) < side + 2
    return ne16_job(
        timing,
        operation,
        out_y=np.where(as_array(out_y) > 1, side, 1),
        out_x=np.where(as_array(out_x) > 1, side, 1),
        k_out=k_out,
        k_in=k_in,
        pad_bottom=np.where(small, as_array(pad_bottom), 0),
        quant=quant,
    )


def ne16_stride2_rest(
    timing: Timing,
    operation: Operation,
    *,
    out_y: Sizes,
    out_x: Sizes,
    k_out: Sizes,
    k_in: Sizes,
    in_y: Sizes = 5,
    pad_top: Sizes = 0,
    pad_bottom: Sizes = 0,
    pad_right: Sizes = 0,
    quant: Ne16Quant = Ne16Quant(),
) -> NDArray[np.int64]:
    """Cycles of ``ne16_layer`` with stride 2 that are left when the last job has been written. A job is written when a
    context is free, that is as soon as the one before the last has ended; the sizes are those of ``ne16_layer``."""
    job = _stride2_job(timing, operation, out_y, out_x, k_out, k_in, in_y, pad_top, pad_bottom, quant)
    jobs = ceil_div(out_y, 2) * ceil_div(out_x, 2)
    programming = np.where(jobs > 2, *reversed(_programming(timing)))
    return np.where((jobs > 1) & (job > programming), 2 * job - programming, job)
