"""Figures of the binary16 kernels, each with its source; all are estimates, because none of their speeds is public.

The figures of loops are instructions that the kernels execute (``python -m benchmarks.carfield_counts`` prints them:
clang 22 of ziglang 0.17.0, -O2, under QEMU 7.2), one cycle each, less what the cores' extensions save. RI5CY is counted
as rv32im_zfinx, whose binary32 numbers lie in the integer registers, with one binary32 instruction for each instruction
on a pair of binary16 numbers; Spatz with vectors of binary32, whose instructions are as many.
"""

from __future__ import annotations

from match_core import Constant

_COUNT = "python -m benchmarks.carfield_counts"
_RI5CY = f"{_COUNT}, pulp"
_SPATZ = f"{_COUNT}, spatz"
_SAVED = "less post-increments and the hardware loop (XpulpV2): "
_FLOATS = "an addition or product that needs the one before waits one cycle (FPU with one pipeline stage)"
_DIVISION = "a division without a divider, about 100 instructions of libgcc"
_REDMULE = "pulp-platform/redmule 51cd064 rtl/"


def _cycles(name: str, value: int, source: str) -> Constant:
    return Constant(name, value, "cycles", source, estimate=True)


#: One RI5CY core; vectors of four channels, blocks of four pixels.
_PULP = (
    _cycles("pulp_step4_cycles", 14, f"{_RI5CY}: step of four pixels, 21 {_SAVED}5 and 2 (6 loads, 8 multiply-adds)"),
    _cycles("pulp_step1_cycles", 5, f"{_RI5CY}: step of one pixel, 9 {_SAVED}2 and 2 (3 loads, 2 multiply-adds)"),
    _cycles("pulp_step4_rest_cycles", 21, f"{_RI5CY}: step of four pixels, 3 lanes, 28 {_SAVED}5 and 2"),
    _cycles("pulp_step1_rest_cycles", 12, f"{_RI5CY}: step of one pixel, 3 lanes, 16 {_SAVED}2 and 2"),
    _cycles("pulp_tap_cycles", 13, f"{_RI5CY}: tap of four pixels"),
    _cycles("pulp_row_cycles", 26, f"{_RI5CY}: row of taps"),
    _cycles("pulp_block_cycles", 201, f"{_RI5CY}: block of four pixels"),
    _cycles("pulp_call_cycles", 279, f"{_RI5CY}: call"),
    _cycles("pulp_edge_cycles", 28, f"{_RI5CY}: edge, a tap more"),
    _cycles("pulp_depthwise4_cycles", 29, f"{_RI5CY}: depthwise: tap of four pixels"),
    _cycles("pulp_depthwise1_cycles", 42, f"{_RI5CY}: depthwise: tap of one pixel"),
    _cycles("pulp_depthwise_block_cycles", 289, f"{_RI5CY}: depthwise: block of four pixels"),
    _cycles("pulp_depthwise_row_cycles", 50, f"{_RI5CY}: depthwise: row of taps"),
    _cycles("pulp_depthwise_edge_cycles", 52, f"{_RI5CY}: depthwise: edge, a tap more"),
    _cycles("pulp_pool4_cycles", 26, f"{_RI5CY}: average, maximum: tap of four pixels"),
    _cycles("pulp_pool1_cycles", 24, f"{_RI5CY}: average, maximum: tap of one pixel"),
    _cycles("pulp_pool_block_cycles", 204, f"{_RI5CY}: average: block of four pixels"),
    _cycles("pulp_pool_row_cycles", 33, f"{_RI5CY}: average: row of taps"),
    _cycles("pulp_pool_edge_cycles", 21, f"{_RI5CY}: average: edge, a tap more"),
    _cycles("pulp_sum_cycles", 12, f"{_RI5CY}: sum of a vector, 17 {_SAVED}3 and 2"),
    _cycles("pulp_gather_cycles", 13, f"{_RI5CY}: gathered vector, 17 {_SAVED}2 and 2"),
    _cycles("pulp_gather_row_cycles", 18, f"{_RI5CY}: gathered row"),
    _cycles("pulp_softmax_cycles", 106, f"{_RI5CY}: softmax: element, 78; {_FLOATS}, 14 in each of two exponentials"),
    _cycles("pulp_softmax_row_cycles", 121, f"{_RI5CY}: softmax: row, 21; {_DIVISION}"),
    _cycles("pulp_layernorm_cycles", 37, f"{_RI5CY}: normalisation: element, 31; {_FLOATS}, 6"),
    _cycles("pulp_layernorm_row_cycles", 64, f"{_RI5CY}: normalisation: row, 44; {_FLOATS}, 20 in the root"),
    _cycles("pulp_gelu_cycles", 72, f"{_RI5CY}: gelu: element, 48; {_FLOATS}, 24"),
    # Before and after RedMulE, per vector of four.
    _cycles("pulp_clear_cycles", 5, "two stores, a comparison, two instructions of the loop"),
    _cycles(
        "pulp_finish_cycles",
        24,
        "6 loads, 2 multiply-adds, 2 maxima, 2 stores, 2 comparisons, 10 for addresses and loop",
    ),
)

#: One Spatz core. FPUs and ports are those of the sheet (3.2); both process vectors concurrently with the scalar core.
_SPATZ_FIGURES = (
    Constant(
        "spatz_lanes",
        128,
        "elements",
        "four registers of 512 bits: MATCH_CARFIELD_LANES of match_carfield_half_spatz.c",
    ),
    Constant("spatz_fpu_elements", 16, "elements/cycle", "four FPUs of 64 bits (sheet 3.2)"),
    Constant(
        "spatz_fpu_percent", 96, "percent", "7.7 of 8 multiply-adds a cycle, measured for binary64 [Spatz] (sheet 3.2)"
    ),
    Constant("spatz_load_elements", 16, "elements/cycle", "four ports of 64 bits (sheet 3.2)"),
    Constant(
        "spatz_single_elements",
        4,
        "elements/cycle",
        "pulp-platform/spatz db8b2a3 spatz_vlsu.sv: operands that do not begin at multiples of 8 bytes go element by "
        "element through each port",
    ),
    Constant(
        "spatz_strided_elements",
        1,
        "elements/cycle",
        "element by element as above; rows of a power of two meet one bank at all four ports",
        estimate=True,
    ),
    _cycles(
        "spatz_load_cycles",
        6,
        "no public figure: the first elements of a load pass the interconnect and the register file before a "
        "multiply-add can follow",
    ),
    _cycles("spatz_step4_cycles", 15, f"{_SPATZ}: step of four pixels, instructions of the scalar core"),
    _cycles("spatz_step1_cycles", 7, f"{_SPATZ}: step of one pixel"),
    _cycles("spatz_tap_cycles", 25, f"{_SPATZ}: tap of four pixels"),
    _cycles("spatz_row_cycles", 40, f"{_SPATZ}: row of taps"),
    _cycles("spatz_block_cycles", 199, f"{_SPATZ}: block of four pixels"),
    _cycles("spatz_call_cycles", 262, f"{_SPATZ}: call"),
    _cycles("spatz_edge_cycles", 17, f"{_SPATZ}: edge, a tap more"),
    _cycles("spatz_depthwise4_cycles", 24, f"{_SPATZ}: depthwise: tap of four pixels"),
    _cycles("spatz_depthwise1_cycles", 22, f"{_SPATZ}: depthwise: tap of one pixel"),
    _cycles("spatz_depthwise_block_cycles", 181, f"{_SPATZ}: depthwise: block of four pixels"),
    _cycles("spatz_depthwise_row_cycles", 19, f"{_SPATZ}: depthwise: row of taps"),
    _cycles("spatz_depthwise_edge_cycles", 20, f"{_SPATZ}: depthwise: edge, a tap more"),
    _cycles("spatz_pool4_cycles", 18, f"{_SPATZ}: average, maximum: tap of four pixels"),
    _cycles("spatz_pool1_cycles", 19, f"{_SPATZ}: average, maximum: tap of one pixel"),
    _cycles("spatz_pool_block_cycles", 138, f"{_SPATZ}: average: block of four pixels"),
    _cycles("spatz_pool_row_cycles", 17, f"{_SPATZ}: average: row of taps"),
    _cycles("spatz_pool_edge_cycles", 19, f"{_SPATZ}: average: edge, a tap more"),
    _cycles("spatz_sum_cycles", 17, f"{_SPATZ}: sum of a vector"),
    _cycles("spatz_gather_cycles", 10, f"{_SPATZ}: gathered vector"),
    _cycles("spatz_gather_row_cycles", 18, f"{_SPATZ}: gathered row"),
    _cycles("spatz_softmax_cycles", 112, f"{_COUNT}, spatz_scalar: softmax: element, 84; {_FLOATS}, 28"),
    _cycles("spatz_softmax_row_cycles", 119, f"{_COUNT}, spatz_scalar: softmax: row, 19; {_DIVISION}"),
    _cycles("spatz_layernorm_cycles", 37, f"{_COUNT}, spatz_scalar: normalisation: element, 31; {_FLOATS}, 6"),
    _cycles("spatz_layernorm_row_cycles", 66, f"{_COUNT}, spatz_scalar: normalisation: row, 46; {_FLOATS}, 20"),
    _cycles("spatz_gelu_cycles", 74, f"{_COUNT}, spatz_scalar: gelu: element, 50; {_FLOATS}, 24"),
)

#: RedMulE: 12 rows of 4 elements with 3 pipeline stages each.
_REDMULE_FIGURES = (
    Constant("redmule_rows", 12, "rows", f"{_REDMULE}redmule_pkg.sv: ARRAY_WIDTH, rows of X at once"),
    Constant("redmule_height", 4, "elements", f"{_REDMULE}redmule_pkg.sv: ARRAY_HEIGHT, steps of N in a row"),
    Constant("redmule_columns", 16, "columns", f"{_REDMULE}redmule_pkg.sv: DATAW / BITW, columns of W at once"),
    Constant(
        "redmule_step_cycles",
        4,
        "cycles",
        f"{_REDMULE}redmule_scheduler.sv: a row of W each PIPE_REGS + 1 cycles, so 12 * 16 / 4 = 48 products a cycle",
    ),
    _cycles(
        "redmule_job_cycles",
        110,
        f"{_REDMULE}redmule_tiler.sv: two sequential products of 16 bits, 36; redmule_memory_scheduler.sv: 12 rows of "
        "X and of Z before the start, 24; redmule_row.sv: 16 through the row; 12 stores; start and event, 22",
    ),
    _cycles("redmule_program_cycles", 40, "a load and seven stores to the cluster's peripherals, 5 each"),
)

#: Percent of their cycles that a unit's kernels take (those of RedMulE and of 8 bits are pulp's): other values, as
#: presets have them, show what depends on the speeds.
_SCALES = (
    Constant("pulp_scale_percent", 100, "percent", "the figures as they are"),
    Constant("spatz_scale_percent", 100, "percent", "the figures as they are"),
)

KERNEL_CONSTANTS: tuple[Constant, ...] = (*_PULP, *_SPATZ_FIGURES, *_REDMULE_FIGURES, *_SCALES)
