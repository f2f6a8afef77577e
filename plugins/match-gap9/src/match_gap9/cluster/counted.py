"""Cycles of the cluster's kernels: what the busiest core executes, times fitted figures.

The terms are the loops of PULP-NN (Garofalo et al. 2020) and of runtime/*.c; the figures were fitted to cycles of the
open simulator GVSoC (``benchmarks/gap9_simulator.py``). Each function returns the work between the team's start and its
last barrier, in cycles. The twin counts the terms where it executes them (``MATCH_GAP9_COUNT``).

Presets other than ``open-sdk`` take the published formulas of PULP-NN's kernels instead (``formulas.py``).
"""

from __future__ import annotations

import numpy as np
from match_core.patterns.formulas import Timing, touched
from numpy.typing import NDArray

from match_gap9.formula_types import Sizes, as_array, ceil_div

Cycles = NDArray[np.int64]

#: Kernel side for which the depthwise kernel with 64-bit requantisation goes along rows.
_ROW_KERNEL = 3
#: Elements of a column after which a transposition takes less for each.
_SHORT_COLUMN = 16
#: Bytes of a word; values of a SIMD product.
_WORD = 4


def _share(timing: Timing, items: Sizes) -> Cycles:
    return ceil_div(items, timing["core_count"])


def _words(timing: Timing, name: str, length: Cycles) -> Cycles:
    """A loop over words of four values and one over the values that are left."""
    return length // _WORD * timing[f"sdk_{name}_word_cycles"] + length % _WORD * timing[f"sdk_{name}_tap_cycles"]


def _matmul(timing: Timing, rows: Cycles, out_x: Sizes, k_out: Sizes, length: Cycles) -> Cycles:
    """Blocks of two pixels by four channels, their leftover channels, and the last pixel of odd rows."""
    k, pairs, odd = as_array(k_out), rows * (as_array(out_x) // 2), rows * (as_array(out_x) % 2)
    blocks = pairs * (k // timing["conv_channels"])
    cycles: Cycles = blocks * (timing["sdk_block_cycles"] + _words(timing, "block", length))
    cycles = cycles + pairs * (k % timing["conv_channels"]) * _words(timing, "rest", length)
    single: Cycles = odd * k * (length // _WORD) * timing["sdk_single_word_cycles"]
    return cycles + single


def conv(
    timing: Timing, *, out_y: Sizes, out_x: Sizes, k_out: Sizes, c_in: Sizes, kernel_y: Sizes, kernel_x: Sizes
) -> Cycles:
    """``pulp_nn_conv_Ho_parallel``: rows of the output are dealt out, each pixel's window is gathered."""
    length, rows = as_array(kernel_y) * as_array(kernel_x) * as_array(c_in), _share(timing, out_y)
    gathered: Cycles = rows * as_array(out_x) * length // _WORD
    cycles: Cycles = timing["sdk_conv_call_cycles"] + rows * timing["sdk_conv_row_cycles"]
    cycles = cycles + gathered * timing["sdk_im2col_word_cycles"]
    return cycles + _matmul(timing, rows, out_x, k_out, length)


def pointwise(timing: Timing, *, out_y: Sizes, out_x: Sizes, k_out: Sizes, c_in: Sizes) -> Cycles:
    """``pulp_nn_pointwise_Ho_parallel``."""
    rows = _share(timing, out_y)
    pairs = rows * (as_array(out_x) // 2) * timing["sdk_pointwise_pair_cycles"]
    return timing["sdk_conv_call_cycles"] + pairs + _matmul(timing, rows, out_x, k_out, as_array(c_in))


def linear(timing: Timing, *, rows: Sizes, c_in: Sizes, k_out: Sizes) -> Cycles:
    """``pulp_nn_linear``, called once per row."""
    output = timing["sdk_linear_output_cycles"] + _words(timing, "linear", as_array(c_in))
    row = timing["sdk_linear_row_cycles"] + _share(timing, k_out) * output
    return timing["sdk_linear_call_cycles"] + as_array(rows) * row


def turn(timing: Timing, *, in_y: Sizes, in_x: Sizes, channels: Sizes) -> Cycles:
    """``match_gap9_hwc_to_chw``: pixels with padding, channels are dealt out."""
    return _share(timing, channels) * as_array(in_y) * as_array(in_x) * timing["sdk_turn_pixel_cycles"]


def depthwise(
    timing: Timing,
    *,
    in_y: Sizes,
    in_x: Sizes,
    out_y: Sizes,
    out_x: Sizes,
    channels: Sizes,
    kernel_y: Sizes,
    kernel_x: Sizes,
) -> Cycles:
    """``match_gap9_hwc_to_chw`` and ``pulp_nn_depthwise_*``; ``in_y`` and ``in_x`` with padding."""
    mine, taps = _share(timing, channels), as_array(kernel_y) * as_array(kernel_x)
    gathered = as_array(out_x) * as_array(in_y) * timing["sdk_depthwise_row_cycles"]
    output = timing["sdk_depthwise_output_cycles"] + taps // _WORD * timing["sdk_depthwise_word_cycles"]
    outputs = as_array(out_y) * as_array(out_x) * output
    turned = turn(timing, in_y=in_y, in_x=in_x, channels=channels)
    return timing["sdk_depthwise_call_cycles"] + turned + mine * (gathered + outputs)


def add(timing: Timing, *, elements: Sizes) -> Cycles:
    """``match_gap9_add_requant``."""
    quads = ceil_div(_share(timing, elements), _WORD)
    return timing["sdk_add_call_cycles"] + quads * timing["sdk_add_quad_cycles"]


def flip(timing: Timing, *, elements: Sizes) -> Cycles:
    """``match_gap9_flip_bytes``, word by word."""
    words = _share(timing, ceil_div(elements, _WORD))
    return timing["sdk_bytes_call_cycles"] + words * timing["sdk_flip_word_cycles"]


def clip(timing: Timing, *, elements: Sizes) -> Cycles:
    """``match_gap9_clip_bytes``."""
    return timing["sdk_bytes_call_cycles"] + _share(timing, elements) * timing["sdk_clip_element_cycles"]


def quantize(timing: Timing, *, elements: Sizes) -> Cycles:
    """``match_gap9_quantize``."""
    return timing["sdk_quantize_call_cycles"] + _share(timing, elements) * timing["sdk_quantize_element_cycles"]


def transpose(timing: Timing, *, rows: Sizes, columns: Sizes) -> Cycles:
    """``match_gap9_transpose_bytes``; columns are dealt out. Long columns take less per element, as measured."""
    first = np.minimum(as_array(rows), _SHORT_COLUMN)
    column = timing["sdk_transpose_column_cycles"] + first * timing["sdk_transpose_element_cycles"]
    column = column + (as_array(rows) - first) * timing["sdk_transpose_later_cycles"]
    cycles: Cycles = timing["sdk_transpose_call_cycles"] + _share(timing, columns) * column
    return cycles


def pool(
    timing: Timing,
    *,
    out_y: Sizes,
    out_x: Sizes,
    channels: Sizes,
    kernel_y: Sizes,
    kernel_x: Sizes,
    average: bool,
) -> Cycles:
    """``match_gap9_avgpool_{requant,even}`` (``average``), whose elements are dealt out, and ``match_gap9_maxpool``,
    whose pixels are."""
    name, k, fy = ("avgpool" if average else "maxpool"), as_array(channels), as_array(kernel_y)
    pixels = as_array(out_y) * as_array(out_x)
    mine = _share(timing, pixels * k) if average else _share(timing, pixels) * k
    windows = touched(pixels, k, mine) if average else _share(timing, pixels)
    element = timing[f"sdk_{name}_element_cycles"] + fy * timing[f"sdk_{name}_row_cycles"]
    element = element + fy * as_array(kernel_x) * timing[f"sdk_{name}_tap_cycles"]
    return timing[f"sdk_{name}_call_cycles"] + windows * timing[f"sdk_{name}_pixel_cycles"] + mine * element


def _low(timing: Timing, shift: int) -> int:
    """What an output takes more whose shift is below 32: the whole 64-bit value counts."""
    return 0 if shift >= 32 else timing["sdk_wide_low_cycles"]


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
) -> Cycles:
    """``match_gap9_wide_conv2d`` and ``match_gap9_wide_linear``: blocks of one or two pixels by four channels."""
    spots, c, fy, fx = as_array(pixels), as_array(c_in), as_array(kernel_y), as_array(kernel_x)
    quads = ceil_div(k_out, timing["conv_channels"])
    ones, twos = _share(timing, spots * quads), _share(timing, ceil_div(spots, 2) * quads)
    paired = 3 * twos < 2 * ones
    side, blocks, words = np.where(paired, 2, 1), np.where(paired, twos, ones), ceil_div(c * fy * fx, _WORD)
    two = timing["sdk_wide_two_cycles"] + words * timing["sdk_wide_two_word_cycles"]
    one = timing["sdk_wide_one_cycles"] + words * timing["sdk_wide_one_word_cycles"]
    block = np.where(paired, two, one) + side * timing["conv_channels"] * _low(timing, shift)
    pixel = np.full_like(spots, timing["sdk_wide_pixel_cycles"])
    if not direct:
        row = timing["sdk_gather_row_cycles"] + _words(timing, "gather", fx * c)
        pixel = pixel + timing["sdk_gather_pixel_cycles"] + fy * row
    gathered = touched(-(-spots // side), quads, blocks) * side
    cycles: Cycles = timing["sdk_wide_call_cycles"] + blocks * block + gathered * pixel
    return cycles


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
) -> Cycles:
    """``match_gap9_wide_depthwise``: lines of 3x3 kernels, or taps of any kernel."""
    y, x, k = as_array(out_y), as_array(out_x), as_array(channels)
    fy, fx, low = as_array(kernel_y), as_array(kernel_x), _low(timing, shift)
    output = timing["sdk_wide_row_stride1_cycles" if stride_x == 1 else "sdk_wide_row_stride2_cycles"] + low
    lines = _share(timing, y * k) * (timing["sdk_wide_row_cycles"] + x * output)
    taps = _share(timing, y * x * k) * (fy * fx * timing["sdk_wide_tap_cycles"] + low)
    work = np.where((fy == _ROW_KERNEL) & (fx == _ROW_KERNEL), lines, taps)
    return timing["sdk_wide_depthwise_call_cycles"] + work


def wide_requant(timing: Timing, *, pixels: Sizes, channels: Sizes, shift: int, cores: int | None = None) -> Cycles:
    """Requantisation of NE16's 32-bit sums, channel after channel, or a few pixels one after the other, on so many
    cores (None: all workers)."""
    spots, k = np.broadcast_arrays(as_array(pixels), as_array(channels))
    outputs = ceil_div(spots * k, timing["core_count"] if cores is None else cores)
    by_channels = touched(k, spots, outputs) * timing["sdk_requant_channel_cycles"]
    by_channels = by_channels + outputs * timing["sdk_requant_output_cycles"]
    few = outputs * timing["sdk_requant_few_output_cycles"]
    work = np.where(spots < timing["wide_requant_few_pixels"], few, by_channels)
    low = 0 if shift >= 32 else timing["sdk_requant_low_cycles"]
    return timing["sdk_requant_call_cycles"] + work + outputs * low
