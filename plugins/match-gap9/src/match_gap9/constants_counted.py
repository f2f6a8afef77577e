"""Figures of the preset ``open-sdk``: fitted to cycles of emitted programs on the open simulator GVSoC.

Simulator: gvsoc 209c147, target pulp-open with eight cores, a controller and NE16; gcc 12 -O3 with the instructions of
XpulpV2, statics of the runtime in L1, a thin layer instead of the vendor's runtime. Not silicon.
"""

from __future__ import annotations

from collections.abc import Iterable

from match_core import Constant
from match_core.patterns.formulas import cycles

_ISSUE = "GVSoC 209c147, referee/issue.csv, statics in L1: "
_FIT = "fitted to GVSoC 209c147, referee/kernels.csv, half of the rows: python -m benchmarks.gap9_simulator --fit"
_FLOAT = (
    "instruction count of the loop in runtime/match_gap9_layout.c, one per cycle, a division of 12 is half of it: "
    "the simulated cores have no floating-point unit, GAP9's have"
)
_BYTES = "instructions in runtime/bytes by gcc 12 -O3 -march=rv32imafc, one per cycle"
_LAYERS = "GVSoC 209c147, referee/layers.csv, what is left of layers behind kernels, tiles and copies"

#: Software around copies and steps that the other presets do not charge.
AROUND = (
    cycles("dma_rows_cycles", 101, _ISSUE + "copy_in_2d, what rows add"),
    cycles("dma_plane_issue_cycles", 144, _ISSUE + "copy_in_3d, each plane but the first"),
    cycles("step_cycles", 300, _LAYERS, estimate=True),
    cycles("ne16_cold_cycles", 1340, _LAYERS + "; issue.csv: parts of the first tile take 979 longer", estimate=True),
)

#: The same that replaces figures of the other presets.
SOFTWARE = (
    cycles("dma_setup_cycles", 0, "in the issue of a copy"),
    cycles("dma_api_cycles", 91, _ISSUE + "copy_in_1d, until the call returns"),
    cycles("dma_wait_in_cycles", 28, _ISSUE + "copies_in_1d_x8, waits by copies"),
    cycles("dma_wait_out_cycles", 28, _ISSUE + "copies_in_1d_x8, waits by copies"),
    cycles("cluster_offload_cycles", 280, "GVSoC 209c147, referee: median of a task call from the host"),
    cycles("team_offload_cycles", 20, _ISSUE + "team_empty, until the call returns"),
    cycles("team_start_cycles", 61, _ISSUE + "an empty kernel takes 91 from launch to the end of its wait"),
    cycles("team_barrier_cycles", 10, _ISSUE + "team_barriers, what one adds"),
    cycles("ne16_words_cycles", 310, _ISSUE + "median of the tiles in a row, 695, without writing the words"),
    cycles("ne16_program_cycles", 385, _ISSUE + "ne16_conv3x3_s2_tile, jobs in a row, 24 words each"),
    cycles("ne16_word_cycles", 13, "GVSoC 209c147, referee: a register write of NE16 takes about 13", estimate=True),
)

#: What a core executes in the kernels of PULP-NN (cluster/counted.py); the other presets take the published formulas.
LIBRARY = (
    cycles("sdk_block_cycles", 126, _FIT),
    cycles("sdk_block_tap_cycles", 121, _FIT),
    cycles("sdk_block_word_cycles", 23, _FIT),
    cycles("sdk_conv_call_cycles", 232, _FIT),
    cycles("sdk_conv_row_cycles", 1336, _FIT),
    cycles("sdk_depthwise_call_cycles", 604, _FIT),
    cycles("sdk_depthwise_output_cycles", 42, _FIT),
    cycles("sdk_depthwise_row_cycles", 22, _FIT),
    cycles("sdk_depthwise_word_cycles", 2, _FIT),
    cycles("sdk_im2col_word_cycles", 8, _FIT),
    cycles("sdk_linear_call_cycles", 41, _FIT),
    cycles("sdk_linear_output_cycles", 22, _FIT),
    cycles("sdk_linear_row_cycles", 58, _FIT),
    cycles("sdk_linear_tap_cycles", 70, _FIT),
    cycles("sdk_linear_word_cycles", 8, _FIT),
    cycles("sdk_pointwise_pair_cycles", 174, _FIT),
    cycles("sdk_rest_tap_cycles", 6, _FIT),
    cycles("sdk_rest_word_cycles", 68, _FIT),
    cycles("sdk_single_word_cycles", 9, _FIT),
)

#: What a core executes in the kernels of bytes (elements/cost.py, moves/cost.py): in all presets.
BYTES = (
    cycles("sdk_dequantize_element_cycles", 9, _BYTES, estimate=True),
    cycles("sdk_elements_call_cycles", 60, _BYTES, estimate=True),
    cycles("sdk_lut_quad_cycles", 19, _BYTES, estimate=True),
    cycles("sdk_move_byte_cycles", 5, _BYTES, estimate=True),
    cycles("sdk_move_call_cycles", 130, _BYTES + ", divisions of 20", estimate=True),
    cycles("sdk_move_fill_cycles", 3, _BYTES, estimate=True),
    cycles("sdk_move_run_cycles", 24, _BYTES, estimate=True),
    cycles("sdk_move_word_cycles", 5, _BYTES, estimate=True),
    cycles("sdk_pad_row_cycles", 45, _BYTES, estimate=True),
    cycles("sdk_product_element_cycles", 18, _BYTES, estimate=True),
    cycles("sdk_product_wide_element_cycles", 23, _BYTES + ", mulh of 5", estimate=True),
    cycles("sdk_requant_element_cycles", 17, _BYTES, estimate=True),
    cycles("sdk_rows_call_cycles", 130, _BYTES + ", divisions of 20", estimate=True),
    cycles("sdk_rows_row_cycles", 20, _BYTES, estimate=True),
)

#: What a core executes in the package's own kernels, for which no figure is published: in all presets.
OWN = (
    cycles("sdk_add_call_cycles", 64, _FIT),
    cycles("sdk_add_quad_cycles", 53, _FIT),
    cycles("sdk_avgpool_call_cycles", 227, _FIT),
    cycles("sdk_avgpool_element_cycles", 17, _FIT),
    cycles("sdk_avgpool_pixel_cycles", 148, _FIT),
    cycles("sdk_avgpool_row_cycles", 6, _FIT),
    cycles("sdk_avgpool_tap_cycles", 7, _FIT),
    cycles("sdk_bytes_call_cycles", 32, _FIT),
    cycles("sdk_clip_element_cycles", 11, _FIT),
    cycles("sdk_flip_word_cycles", 8, _FIT),
    cycles("sdk_gather_pixel_cycles", 129, _FIT),
    cycles("sdk_gather_row_cycles", 26, _FIT),
    cycles("sdk_gather_tap_cycles", 4, _FIT),
    cycles("sdk_gather_word_cycles", 7, _FIT),
    cycles("sdk_maxpool_call_cycles", 20, _FIT),
    cycles("sdk_maxpool_element_cycles", 6, _FIT),
    cycles("sdk_maxpool_pixel_cycles", 180, _FIT),
    cycles("sdk_maxpool_row_cycles", 15, _FIT),
    cycles("sdk_maxpool_tap_cycles", 10, _FIT),
    cycles("sdk_quantize_call_cycles", 32, _FLOAT, estimate=True),
    cycles("sdk_quantize_element_cycles", 24, _FLOAT, estimate=True),
    cycles("sdk_requant_call_cycles", 784, _FIT),
    cycles("sdk_requant_channel_cycles", 26, _FIT),
    cycles("sdk_requant_few_output_cycles", 28, _FIT),
    cycles("sdk_requant_low_cycles", 19, _FIT),
    cycles("sdk_requant_output_cycles", 21, _FIT),
    cycles("sdk_transpose_call_cycles", 120, _FIT),
    cycles("sdk_transpose_column_cycles", 19, _FIT),
    cycles("sdk_transpose_element_cycles", 6, _FIT),
    cycles("sdk_transpose_later_cycles", 6, _FIT),
    cycles("sdk_turn_pixel_cycles", 22, _FIT),
    cycles("sdk_wide_call_cycles", 418, _FIT),
    cycles("sdk_wide_depthwise_call_cycles", 696, _FIT),
    cycles("sdk_wide_low_cycles", 32, _FIT),
    cycles("sdk_wide_one_cycles", 140, _FIT),
    cycles("sdk_wide_one_word_cycles", 18, _FIT),
    cycles("sdk_wide_pixel_cycles", 73, _FIT),
    cycles("sdk_wide_row_cycles", 186, _FIT),
    cycles("sdk_wide_row_stride1_cycles", 38, _FIT),
    cycles("sdk_wide_row_stride2_cycles", 60, _FIT),
    cycles("sdk_wide_tap_cycles", 23, _FIT),
    cycles("sdk_wide_two_cycles", 261, _FIT),
    cycles("sdk_wide_two_word_cycles", 24, _FIT),
)


def left_out(constants: Iterable[Constant]) -> tuple[Constant, ...]:
    """The same names with nothing to charge."""
    return tuple(Constant(c.name, 0, c.unit, "not charged in this preset") for c in constants)
