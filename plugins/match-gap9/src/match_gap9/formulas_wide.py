"""Cycle formulas of the layers with 64-bit requantisation: kernels on the cores, and NE16 with the cores behind it.

What the cores do is computed in C too (``twin/src/gap9_cost_wide.c``); how NE16 and cores overlap follows from the
twin's clocks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from match_gap9.formula_types import Sizes, Timing, as_array, ceil_div
from match_gap9.formulas_ne16 import Ne16Quant, Operation, ne16_conv3x3, ne16_depthwise3x3, ne16_job

#: How runtime/match_gap9_ne16_wide.c cuts a tile into bands.
_BAND_ELEMENTS = 1024
_BANDS_MAX = 8
_CONTEXTS = 2


def _per_output(timing: Timing, shift: int) -> int:
    return timing["wide_requant_cycles"] if shift >= 32 else timing["wide_requant_low_cycles"]


def wide_requant(timing: Timing, *, elements: Sizes, shift: int) -> NDArray[np.int64]:
    """Cycles of requantising 32-bit sums, fork and barrier not included; estimate."""
    return ceil_div(elements, timing["core_count"]) * _per_output(timing, shift)


def _touched(pixels: NDArray[np.int64], k: NDArray[np.int64], outputs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pixels that a core's contiguous ``outputs`` of ``k`` per pixel lie in, at most."""
    parts = np.where(k % outputs == 0, 1, (outputs - 2) // k + 2)
    return np.minimum(np.where(outputs % k == 0, outputs // k, parts), pixels)


def wide_conv(
    timing: Timing, *, pixels: Sizes, k_out: Sizes, taps: Sizes, direct: bool, shift: int
) -> NDArray[np.int64]:
    """Cycles of ``match_gap9_wide_conv2d`` and ``match_gap9_wide_linear``; ``taps`` inputs per output. ``direct``:
    inputs are read where they are, else gathered once per pixel and core; estimate."""
    spots, k, length = as_array(pixels), as_array(k_out), as_array(taps)
    outputs = ceil_div(spots * k, timing["core_count"])
    macs = outputs * ceil_div(length, timing["simd_values"]) * timing["simd_values"]
    gather = 0 if direct else length * timing["wide_gather_byte_cycles"]
    cycles: NDArray[np.int64] = _touched(spots, k, outputs) * (timing["wide_pixel_cycles"] + gather)
    return cycles + outputs * _per_output(timing, shift) + ceil_div(macs * timing["wide_dot_centicycles"], 100)


def wide_depthwise(
    timing: Timing, *, pixels: Sizes, channels: Sizes, kernel_y: Sizes, kernel_x: Sizes, shift: int
) -> NDArray[np.int64]:
    """Cycles of ``match_gap9_wide_depthwise``, all windows as those without padding; estimate."""
    spots, k, rows = as_array(pixels), as_array(channels), as_array(kernel_y)
    outputs = ceil_div(spots * k, timing["core_count"])
    per_row = as_array(kernel_x) * timing["wide_depthwise_tap_cycles"] + timing["wide_depthwise_row_cycles"]
    per_output = rows * per_row + timing["wide_depthwise_output_cycles"] + _per_output(timing, shift)
    cycles: NDArray[np.int64] = _touched(spots, k, outputs) * timing["wide_pixel_cycles"] + outputs * per_output
    return cycles


def ne16_wide_build(timing: Timing) -> int:
    """Core cycles to fill a task descriptor with four setters (no scales, no requantisation) and the geometry;
    estimate."""
    return 4 * timing["ne16_build_setter_cycles"] + timing["ne16_build_dims_cycles"]


def _bands(timing: Timing, rows: NDArray[np.int64], elements: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """How many bands a tile of stride 1 is cut into, and the rows of each but the last."""
    side = timing["ne16_tile_pixels"]
    subtiles = ceil_div(rows, side)
    wanted = np.maximum(np.minimum(np.minimum(elements // _BAND_ELEMENTS, _BANDS_MAX), subtiles), 1)
    height = side * -(-subtiles // wanted)
    return -(-rows // height), height


def ne16_wide(
    timing: Timing,
    operation: Operation,
    *,
    out_y: Sizes,
    out_x: Sizes,
    k_out: Sizes,
    k_in: Sizes,
    stride: int,
    weight_bits: int,
    shift: int,
) -> NDArray[np.int64]:
    """Elapsed cycles of a tile: NE16 jobs with 32-bit outputs, their programming, fork, requantisation and barrier of
    each band. With stride 1 the cores work on a band while NE16 works on the next two (its contexts)."""
    quant = Ne16Quant(weight_bits=weight_bits, scale_bits=0, out_bits=32)
    y, x, k, c = np.broadcast_arrays(as_array(out_y), as_array(out_x), as_array(k_out), as_array(k_in))
    team = timing["team_fork_cycles"] + timing["team_barrier_cycles"]
    if stride != 1:
        if operation == "depthwise3x3":
            layer = ne16_depthwise3x3(timing, out_y=y, out_x=x, channels=k, stride=stride, quant=quant)
        else:
            layer = ne16_conv3x3(timing, out_y=y, out_x=x, k_out=k, k_in=c, stride=stride, quant=quant)
        return layer + team + wide_requant(timing, elements=y * x * k, shift=shift)

    bands, height = _bands(timing, y, y * x * k)
    last = y - (bands - 1) * height

    def job(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return ne16_job(timing, operation, out_y=rows, out_x=x, k_out=k, k_in=c, quant=quant)

    # Of all bands but the last, and of the last.
    jobs = (job(height), job(last))
    epilogues = tuple(team + wide_requant(timing, elements=rows * x * k, shift=shift) for rows in (height, last))
    core = np.zeros_like(y)
    free = np.zeros_like(y)
    ends: list[NDArray[np.int64]] = []

    def issue(band: int) -> None:
        nonlocal core, free
        exists = band < bands
        core = core + np.where(exists, timing["ne16_program_cycles"], 0)
        end = np.maximum(free, core) + np.where(band + 1 < bands, *jobs)
        free = np.where(exists, end, free)
        ends.append(free)

    for band in range(_CONTEXTS):
        issue(band)
    for band in range(int(bands.max(initial=1))):
        exists = band < bands
        core = np.where(exists, np.maximum(core, ends[band]), core)
        issue(band + _CONTEXTS)
        core = core + np.where(exists, np.where(band + 1 < bands, *epilogues), 0)
    return core
