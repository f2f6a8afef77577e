"""Cycle formulas of the layers with 64-bit requantisation: kernels on the cores, and NE16 with the cores behind it.

What the cores do is computed in C too (``twin/src/gap9_cost_wide.c``); how NE16 and cores overlap follows from the
twin's clocks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from match_gap9.formula_types import Sizes, Timing, as_array, ceil_div
from match_gap9.formulas_ne16 import Ne16Quant, Operation, ne16_job, ne16_layer

#: How runtime/match_gap9_ne16_wide.c cuts a tile into bands.
_BAND_ELEMENTS = 1024
_BANDS_MAX = 8
_CONTEXTS = 2


def _per_output(timing: Timing, shift: int) -> int:
    return timing["wide_requant_cycles"] if shift >= 32 else timing["wide_requant_low_cycles"]


def _touched(rows: NDArray[np.int64], size: NDArray[np.int64], items: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of ``rows`` rows of ``size`` items each, how many a core's ``items`` contiguous ones lie in, at most."""
    parts = np.where(size % items == 0, 1, (items - 2) // size + 2)
    return np.minimum(np.where(items % size == 0, items // size, parts), rows)


def wide_requant(
    timing: Timing, *, pixels: Sizes, channels: Sizes, shift: int, cores: int | None = None
) -> NDArray[np.int64]:
    """Cycles of requantising 32-bit sums channel after channel, or a few pixels one after the other, on so many cores
    (None: all workers); barrier not included; estimate."""
    spots, k = np.broadcast_arrays(as_array(pixels), as_array(channels))
    outputs = ceil_div(spots * k, timing["core_count"] if cores is None else cores)
    each = _per_output(timing, shift)
    by_channels = _touched(k, spots, outputs) * timing["wide_requant_channel_cycles"]
    by_channels = by_channels + outputs * (each - timing["wide_requant_kept_loads"])
    few = spots < timing["wide_requant_few_pixels"]
    cycles: NDArray[np.int64] = timing["wide_requant_call_cycles"] + np.where(few, outputs * each, by_channels)
    return cycles


def _gather(timing: Timing, c_in: NDArray[np.int64], y: NDArray[np.int64], x: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cycles of copying a pixel's window: rows of whole words, short ones, or calls of memcpy."""
    size, step = x * c_in, timing["wide_gather_step_cycles"]
    copied = timing["wide_gather_call_cycles"] + size * timing["wide_gather_byte_cycles"]
    copied = np.where(size < timing["wide_gather_short_bytes"], size * step, copied)
    copied = np.where(c_in % timing["simd_values"] == 0, size // timing["simd_values"] * step, copied)
    cycles: NDArray[np.int64] = timing["wide_gather_pixel_cycles"] + y * (timing["wide_gather_row_cycles"] + copied)
    return cycles


def wide_conv(
    timing: Timing,
    *,
    pixels: Sizes,
    k_out: Sizes,
    c_in: Sizes,
    kernel_y: Sizes,
    kernel_x: Sizes,
    direct: bool,
    shift: int,
) -> NDArray[np.int64]:
    """Cycles of ``match_gap9_wide_conv2d`` and ``match_gap9_wide_linear``: blocks of one or two pixels by four
    channels. ``direct``: inputs are read where they are, else gathered once per pixel and core; estimate."""
    spots, c, fy, fx = as_array(pixels), as_array(c_in), as_array(kernel_y), as_array(kernel_x)
    quads = ceil_div(k_out, timing["conv_channels"])
    ones = ceil_div(spots * quads, timing["core_count"])
    twos = ceil_div(ceil_div(spots, timing["conv_pixels"]) * quads, timing["core_count"])
    paired = 3 * twos < 2 * ones
    side, blocks = np.where(paired, timing["conv_pixels"], 1), np.where(paired, twos, ones)
    step = np.where(
        paired,
        timing["conv_block_loads"] + timing["conv_block_macs"],
        timing["wide_single_loads"] + timing["wide_single_macs"],
    )
    block = timing["wide_block_cycles"] + step * ceil_div(c * fy * fx, timing["simd_values"])
    block = block + side * timing["conv_channels"] * _per_output(timing, shift)
    pixel = timing["wide_pixel_cycles"] + (0 if direct else _gather(timing, c, fy, fx))
    cycles: NDArray[np.int64] = _touched(-(-spots // side), quads, blocks) * side * pixel + blocks * block
    return cycles + timing["wide_call_cycles"]


#: Kernel side for which the depthwise kernel goes along rows.
_ROW_KERNEL = 3


def wide_depthwise(
    timing: Timing,
    *,
    out_y: Sizes,
    out_x: Sizes,
    channels: Sizes,
    kernel_y: Sizes,
    kernel_x: Sizes,
    stride_x: int,
    shift: int,
) -> NDArray[np.int64]:
    """Cycles of ``match_gap9_wide_depthwise``: rows of 3x3 kernels, or pixel after pixel; estimate."""
    y, x, k = as_array(out_y), as_array(out_x), as_array(channels)
    fy, fx = as_array(kernel_y), as_array(kernel_x)
    per_output = _per_output(timing, shift)
    lines = ceil_div(y * k, timing["core_count"])
    window = timing[f"wide_row_stride{min(stride_x, 3)}_cycles"]
    by_rows = _touched(k, y, lines) * timing["wide_row_channel_cycles"]
    by_rows = by_rows + lines * (timing["wide_row_cycles"] + x * (window + per_output))

    outputs = ceil_div(y * x * k, timing["core_count"])
    row = fx * timing["wide_depthwise_tap_cycles"] + timing["wide_depthwise_row_cycles"]
    output = fy * row + timing["wide_depthwise_output_cycles"] + per_output
    by_pixels = _touched(y * x, k, outputs) * timing["wide_depthwise_pixel_cycles"] + outputs * output
    cycles: NDArray[np.int64] = np.where((fy == _ROW_KERNEL) & (fx == _ROW_KERNEL), by_rows, by_pixels)
    return cycles + timing["wide_call_cycles"]


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
    pad_bottom: Sizes = 0,
    pad_right: Sizes = 0,
    alone: bool = False,
) -> NDArray[np.int64]:
    """Elapsed cycles of a tile on the team: core 0 fills the words and issues jobs with 32-bit outputs, all cores
    requantise band after band. With stride 1 they work on a band while NE16 works on the next two (its contexts).
    ``alone``: the controller does all of it, without a team."""
    quant = Ne16Quant(weight_bits=weight_bits, scale_bits=0, out_bits=32)
    y, x, k, c = np.broadcast_arrays(as_array(out_y), as_array(out_x), as_array(k_out), as_array(k_in))
    barrier, begin = timing["team_barrier_cycles"], timing["team_start_cycles"] + timing["ne16_words_cycles"]
    cores = None
    if alone:
        barrier, begin, cores = 0, timing["ne16_words_cycles"], 1
    if stride != 1:
        layer = ne16_layer(timing, operation, out_y=y, out_x=x, k_out=k, k_in=c, stride=stride, quant=quant)
        return begin + layer + 2 * barrier + wide_requant(timing, pixels=y * x, channels=k, shift=shift, cores=cores)

    bands, height = _bands(timing, y, y * x * k)
    last = y - (bands - 1) * height

    def job(rows: NDArray[np.int64], below: Sizes) -> NDArray[np.int64]:
        sizes = {"out_y": rows, "out_x": x, "k_out": k, "k_in": c, "pad_bottom": below, "pad_right": pad_right}
        return ne16_job(timing, operation, quant=quant, **sizes)

    # Of all bands but the last, and of the last.
    jobs = (job(height, 0), job(last, pad_bottom))
    epilogues = tuple(
        barrier + wide_requant(timing, pixels=rows * x, channels=k, shift=shift, cores=cores) for rows in (height, last)
    )
    program = timing["ne16_program_cycles"] + np.where(bands > 1, timing["ne16_rows_cycles"], 0)
    core = np.full_like(y, begin)
    free = np.zeros_like(y)
    ends: list[NDArray[np.int64]] = []

    def issue(band: int) -> None:
        nonlocal core, free
        exists = band < bands
        core = core + np.where(exists, program, 0)
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
    return core + barrier
