"""Cycle formulas of GAP9 as pure numpy functions.

Every function takes the figures of a preset (``constants.values(preset)``, name to value) and sizes that are
ints or int arrays of one shape, and returns an int64 array of that shape (shape () for ints). No figure stands
in a formula. The twin computes the same formulas in C (``twin/src/gap9_cost.c``); tests hold the two equal.

This module holds the cluster's kernels (GAP9 sheet 3.2) and re-exports NE16 (3.3, 3.5), DMA (3.1, 3.5) and
64-bit requantisation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from match_gap9.formula_types import Direction, Sizes, Timing, as_array, ceil_div, is_engine
from match_gap9.formulas_dma import dma_commands, dma_copy, dma_issue, dma_transfer, dma_wait, l3_copy
from match_gap9.formulas_ne16 import Ne16Quant, Operation, ne16_job, ne16_layer, ne16_stride2_rest
from match_gap9.formulas_wide import ne16_wide, wide_conv, wide_depthwise, wide_requant

__all__ = [
    "Direction",
    "Ne16Quant",
    "Operation",
    "Sizes",
    "Timing",
    "add",
    "avgpool",
    "conv",
    "depthwise",
    "dma_commands",
    "dma_copy",
    "dma_issue",
    "dma_transfer",
    "dma_wait",
    "is_engine",
    "l3_copy",
    "led_kernel",
    "led_launch",
    "linear",
    "maxpool",
    "ne16_job",
    "ne16_layer",
    "ne16_stride2_rest",
    "ne16_wide",
    "own_add",
    "own_pool",
    "own_quantize",
    "own_requant",
    "own_transpose",
    "pointwise",
    "team_kernel",
    "team_launch",
    "wide_conv",
    "wide_depthwise",
    "wide_requant",
]


def _rows_per_core(timing: Timing, rows: Sizes) -> NDArray[np.int64]:
    """Rows of the busiest core when rows are dealt out in equal chunks."""
    return ceil_div(rows, timing["core_count"])


def _row_chunk(timing: Timing, rows: Sizes, *, mask_active: bool = False) -> NDArray[np.int64]:
    """Rows of the busiest core in the add and pooling kernels. With fewer rows than cores they divide by the
    largest power of two not above the rows, and add one for a remainder modulo the core count, or in the
    average pooling (``mask_active``) modulo the cores in use."""
    count = as_array(rows)
    cores = timing["core_count"]
    active = np.minimum(count, cores)
    mask = active - 1 if mask_active else np.full_like(active, cores - 1)
    log_cores = np.zeros_like(active)
    for power in range(1, cores.bit_length()):
        log_cores = np.where(active >= (1 << power), power, log_cores)
    chunk: NDArray[np.int64] = np.minimum((count >> log_cores) + ((count & mask) != 0), count)
    return chunk


def _dot(timing: Timing, length: NDArray[np.int64], loads: str, macs: str) -> NDArray[np.int64]:
    """One pass of an inner loop over ``length`` values: SIMD part and scalar rest, both always entered."""
    bounds = timing["loop_setup_cycles"] + timing["loop_finish_cycles"]
    vector = ceil_div(length, timing["simd_values"]) * (timing[loads] + timing[macs])
    scalar = (length % timing["simd_values"]) * (
        timing[loads] * timing["scalar_load_cycles"] + timing[macs] * timing["scalar_mac_cycles"]
    )
    return vector + scalar + 2 * bounds


def _matmul(timing: Timing, length: NDArray[np.int64], k_out: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two pixels times all output channels."""
    blocks = ceil_div(k_out, timing["conv_channels"])
    rest = k_out % timing["conv_channels"]
    block = _dot(timing, length, "conv_block_loads", "conv_block_macs")
    return blocks * block + rest * _dot(timing, length, "conv_channel_loads", "conv_channel_macs")


def conv(
    timing: Timing, *, out_y: Sizes, out_x: Sizes, k_out: Sizes, c_in: Sizes, kernel_y: Sizes, kernel_x: Sizes
) -> NDArray[np.int64]:
    """Cycles of ``pulp_nn_conv_*_parallel`` (3.2), start of the team and barrier not included."""
    k, width = as_array(k_out), as_array(out_x)
    length = as_array(kernel_y) * as_array(kernel_x) * as_array(c_in)
    passes = _rows_per_core(timing, out_y) * ceil_div(width, timing["conv_pixels"])
    im2col = timing["conv_pixels"] * length
    odd = (width % timing["conv_pixels"]) * k * _dot(timing, length, "conv_pixel_loads", "conv_pixel_macs")
    cycles: NDArray[np.int64] = passes * (im2col + _matmul(timing, length, k)) + odd
    return cycles


def pointwise(timing: Timing, *, out_y: Sizes, out_x: Sizes, k_out: Sizes, c_in: Sizes) -> NDArray[np.int64]:
    """Cycles of ``pulp_nn_pointwise_*_parallel`` (3.2)."""
    k, width, length = as_array(k_out), as_array(out_x), as_array(c_in)
    passes = _rows_per_core(timing, out_y) * ceil_div(width, timing["conv_pixels"])
    odd = (width % timing["conv_pixels"]) * k * _dot(timing, length, "conv_pixel_loads", "conv_pixel_macs")
    return passes * (_matmul(timing, length, k) + odd)


def depthwise(
    timing: Timing,
    *,
    in_y: Sizes,
    out_y: Sizes,
    out_x: Sizes,
    channels: Sizes,
    kernel_y: Sizes,
    kernel_x: Sizes,
) -> NDArray[np.int64]:
    """Cycles of ``pulp_nn_depthwise_*`` (3.2)."""
    taps = as_array(kernel_y) * as_array(kernel_x)
    bounds = timing["loop_setup_cycles"] + timing["loop_finish_cycles"]
    vector = ceil_div(taps, timing["simd_values"]) * timing["depthwise_vector_step_cycles"] + bounds
    scalar = (taps % timing["simd_values"]) * timing["depthwise_scalar_step_cycles"] + bounds
    per_output = vector + scalar + timing["depthwise_quant_cycles"]
    passes = _rows_per_core(timing, channels) * as_array(out_x)
    cycles: NDArray[np.int64] = passes * (as_array(in_y) * as_array(kernel_y) + as_array(out_y) * per_output)
    return cycles


def linear(timing: Timing, *, c_in: Sizes, k_out: Sizes) -> NDArray[np.int64]:
    """Cycles of ``pulp_nn_linear`` and ``pulp_nn_linear_out_32`` (3.2)."""
    return ceil_div(c_in, timing["linear_inputs"]) * ceil_div(k_out, timing["linear_outputs"])


def add(timing: Timing, *, out_y: Sizes, out_x: Sizes, channels: Sizes) -> NDArray[np.int64]:
    """Cycles of ``pulp_nn_add``; estimate."""
    return _row_chunk(timing, out_y) * as_array(out_x) * as_array(channels) * timing["add_element_cycles"]


def avgpool(
    timing: Timing, *, out_y: Sizes, out_x: Sizes, channels: Sizes, kernel_y: Sizes, kernel_x: Sizes
) -> NDArray[np.int64]:
    """Cycles of ``pulp_nn_avgpool``; estimate."""
    taps = as_array(kernel_y) * as_array(kernel_x) * timing["avgpool_tap_cycles"]
    per_pixel = timing["pool_pixel_cycles"] + as_array(channels) * (taps + timing["avgpool_element_cycles"])
    cycles: NDArray[np.int64] = _row_chunk(timing, out_y, mask_active=True) * as_array(out_x) * per_pixel
    return cycles


def maxpool(
    timing: Timing,
    *,
    in_y: Sizes,
    out_y: Sizes,
    out_x: Sizes,
    channels: Sizes,
    kernel_y: Sizes,
    kernel_x: Sizes,
) -> NDArray[np.int64]:
    """Cycles of ``pulp_nn_maxpool``, a pass along x over all input rows and one along y; estimate."""
    c, width = as_array(channels), as_array(out_x)
    copy, word, simd = timing["maxpool_copy_cycles"], timing["maxpool_word_cycles"], timing["simd_values"]
    along_x = timing["pool_pixel_cycles"] + c * copy + (as_array(kernel_x) - 1) * ceil_div(c, simd) * word
    along_y = (
        timing["pool_pixel_cycles"] + width * c * copy + (as_array(kernel_y) - 1) * ceil_div(width * c, simd) * word
    )
    return _row_chunk(timing, in_y) * width * along_x + _row_chunk(timing, out_y) * along_y


def own_add(timing: Timing, *, elements: Sizes) -> NDArray[np.int64]:
    """Cycles of ``match_gap9_add_requant``; estimate."""
    return ceil_div(elements, timing["core_count"]) * timing["own_add_element_cycles"]


def own_requant(timing: Timing, *, elements: Sizes) -> NDArray[np.int64]:
    """Cycles of ``match_gap9_requant_u8``; estimate."""
    return ceil_div(elements, timing["core_count"]) * timing["own_requant_element_cycles"]


def own_quantize(timing: Timing, *, elements: Sizes) -> NDArray[np.int64]:
    """Cycles of ``match_gap9_quantize``; estimate."""
    return ceil_div(elements, timing["core_count"]) * timing["own_quantize_element_cycles"]


def own_transpose(timing: Timing, *, pixels: Sizes, channels: Sizes) -> NDArray[np.int64]:
    """Cycles of ``match_gap9_hwc_to_chw``, channels dealt out to the cores; estimate."""
    cycles: NDArray[np.int64] = _rows_per_core(timing, channels) * as_array(pixels)
    return cycles * timing["own_transpose_element_cycles"]


def own_pool(
    timing: Timing,
    *,
    out_y: Sizes,
    out_x: Sizes,
    channels: Sizes,
    kernel_y: Sizes,
    kernel_x: Sizes,
    requant: bool,
) -> NDArray[np.int64]:
    """Cycles of ``match_gap9_avgpool_{requant,even}`` (``requant``), whose elements are dealt out to the cores, and of
    ``match_gap9_maxpool``, whose pixels are; estimate."""
    taps = as_array(kernel_y) * as_array(kernel_x) * timing["own_pool_tap_cycles"]
    pixels = as_array(out_y) * as_array(out_x)
    element = taps + timing["own_pool_element_cycles"]
    if requant:
        element = element + timing["own_pool_requant_cycles"] + timing["own_pool_pixel_cycles"]
        shares = ceil_div(pixels * as_array(channels), timing["core_count"])
    else:
        element = timing["own_pool_pixel_cycles"] + as_array(channels) * element
        shares = ceil_div(pixels, timing["core_count"])
    cycles: NDArray[np.int64] = shares * element
    return cycles


def team_launch(timing: Timing) -> int:
    """Cycles of the controller to offload a kernel to the team and to join it; estimate."""
    return timing["team_offload_cycles"]


def team_kernel(timing: Timing, barriers: Sizes = 1) -> NDArray[np.int64]:
    """Cycles of the team around the work of a kernel: its start, and its barriers; estimate."""
    cycles: NDArray[np.int64] = timing["team_start_cycles"] + as_array(barriers) * timing["team_barrier_cycles"]
    return cycles


def led_launch(timing: Timing) -> int:
    """Cycles of core 0 before the barrier at which it hands a kernel to the other workers; estimate."""
    return timing["team_lead_cycles"]


def led_kernel(timing: Timing, barriers: Sizes = 1) -> NDArray[np.int64]:
    """Cycles of the workers around the work of a kernel that core 0 leads: its barriers, and one on each side."""
    cycles: NDArray[np.int64] = (as_array(barriers) + 2) * timing["team_barrier_cycles"]
    return cycles
