"""Figures of the 8-bit kernels."""

from __future__ import annotations

from match_core.patterns.formulas import cycles

_PULP_NN = "PULP-NN's inner loop on 8 cores, MATCH TCAD 2025 code for GAP9, the same ISA (GAP9 sheet 3.2)"
_OWN = "instructions of the loop in runtime/match_carfield_int8_*.c with XpulpV2, one a cycle"


INT8_CONSTANTS = (
    cycles("int8_loop_cycles", 15, _PULP_NN + ": 5 to enter and 10 to leave"),
    cycles("int8_block_word_cycles", 14, _PULP_NN + ": 6 loads and 8 products of 4 values for 2 pixels, 4 channels"),
    cycles("int8_single_word_cycles", 9, _PULP_NN + " for one pixel: 5 loads and 4 products", estimate=True),
    cycles("int8_gather_byte_cycles", 1, _PULP_NN + ": im2col"),
    cycles(
        "int8_requant_cycles",
        17,
        "4 loads, mul, mulh of 5 cycles (CV32E40P manual), 4 to add 64 bits, shift, clip, store",
        estimate=True,
    ),
    cycles("int8_block_cycles", 40, _OWN + ": addresses, channels clamped, sums cleared", estimate=True),
    cycles("int8_pixel_cycles", 40, _OWN + ": addresses of a column; a division is half of it", estimate=True),
    cycles("int8_tap_cycles", 8, _OWN + ": two loads, product, bounds and address of the input", estimate=True),
    cycles("int8_output_cycles", 60, _OWN + ": two divisions are most of it", estimate=True),
    cycles("int8_add_element_cycles", 24, _OWN + ": two products of 64 bits, shift, clip", estimate=True),
    cycles("int8_transpose_element_cycles", 5, _OWN, estimate=True),
    cycles("int8_call_cycles", 40, _OWN + ": arguments, the share of a core", estimate=True),
)
