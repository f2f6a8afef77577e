"""Cycle formulas of GAP9 as pure numpy functions.

Every function takes the figures of a preset (``constants.values(preset)``, name to value) and sizes that are
ints or int arrays of one shape, and returns an int64 array of that shape (shape () for ints). Formulas
contain no figures.

This module holds the published formulas of PULP-NN's kernels (GAP9 sheet 3.2), which the twin computes in C too
(``twin/src/gap9_cost.c``); ``cluster/counted.py`` all kernels by what a core executes, ``formulas_dma`` copies,
``ne16/formulas.py`` NE16's jobs, ``wide/formulas.py`` NE16 with the cores behind it.
"""

from __future__ import annotations

import numpy as np
from match_core.patterns.formulas import Timing
from numpy.typing import NDArray

from match_gap9.formula_types import Sizes, as_array, ceil_div


def _rows_per_core(timing: Timing, rows: Sizes) -> NDArray[np.int64]:
    """Rows of the busiest core when rows are dealt out in equal chunks."""
    return ceil_div(rows, timing["core_count"])


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
    """Cycles of ``pulp_nn_conv_Ho_parallel`` (3.2), start of the team and barrier not included."""
    k, width = as_array(k_out), as_array(out_x)
    length = as_array(kernel_y) * as_array(kernel_x) * as_array(c_in)
    passes = _rows_per_core(timing, out_y) * ceil_div(width, timing["conv_pixels"])
    im2col = timing["conv_pixels"] * length
    odd = (width % timing["conv_pixels"]) * k * _dot(timing, length, "conv_pixel_loads", "conv_pixel_macs")
    cycles: NDArray[np.int64] = passes * (im2col + _matmul(timing, length, k)) + odd
    return cycles


def pointwise(timing: Timing, *, out_y: Sizes, out_x: Sizes, k_out: Sizes, c_in: Sizes) -> NDArray[np.int64]:
    """Cycles of ``pulp_nn_pointwise_Ho_parallel`` (3.2)."""
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
    """Cycles of ``pulp_nn_linear`` (3.2)."""
    return ceil_div(c_in, timing["linear_inputs"]) * ceil_div(k_out, timing["linear_outputs"])


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
