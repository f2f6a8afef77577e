"""Figures of the kernels for rows and elements: cycles, and uses of the shared unit."""

from __future__ import annotations

from match_core import Constant

from match_ita.snitch_counted import counted


def _counted(name: str, cycles: int, uses: int, what: str) -> tuple[Constant, Constant]:
    return counted(f"rows_{name}", cycles, uses, what)


CONSTANTS: tuple[Constant, ...] = (
    *_counted("call", 61, 2, "a call on one core: context, the core's share"),
    *_counted("add_block", 92, 8, "eight sums of int8"),
    *_counted("add", 16, 1, "one sum"),
    *_counted("add_wide", 25, 4, "one sum of 64 bits"),
    *_counted("column", 36, 0, "start of a loop down four columns, or one"),
    *_counted("requant_row", 32, 4, "a row of four columns"),
    *_counted("requant", 11, 1, "a row of one column"),
    *_counted("requant_wide", 18, 2, "one value with 64 bits"),
    *_counted("requant_twice_row", 52, 8, "a row of four columns, two steps"),
    *_counted("requant_twice", 16, 2, "a row of one column, two steps"),
    *_counted("add_requant_row", 61, 8, "a row of four columns, a sum first"),
    *_counted("add_requant", 19, 2, "a row of one column, a sum first"),
    *_counted("add_requant_twice_row", 92, 12, "a row of four columns, a sum and two steps"),
    *_counted("add_requant_twice", 26, 3, "a row of one column, a sum and two steps"),
    *_counted("lut_block", 35, 0, "eight values of a table"),
    *_counted("lut", 7, 0, "one value of a table"),
    *_counted("offset_block", 68, 8, "eight values with addends of their own"),
    *_counted("offset", 12, 1, "one value with an addend of its own"),
    *_counted("sum_three_block", 93, 8, "eight sums of three requantised"),
    *_counted("sum_three", 17, 1, "one sum of three requantised"),
    *_counted("sum_outer", 30, 0, "an index outside of a summed axis"),
    *_counted("sum_part", 19, 0, "eight values of one part of a sum"),
    *_counted("sum_block", 76, 8, "eight sums requantised"),
    *_counted("sum_single_part", 5, 0, "one value of one part of a sum"),
    *_counted("sum", 13, 1, "one sum requantised"),
    *_counted("sum_add_block", 141, 24, "eight sums requantised, and another tensor"),
    *_counted("sum_add", 22, 3, "one sum requantised, and another value"),
    *_counted("norm_pair_row", 374, 44, "means, roots and reciprocals of two rows"),
    *_counted("norm_pair_block", 330, 32, "eight values of two rows: moments, normalised"),
    *_counted("norm_pair", 57, 4, "one value of two rows: moments, normalised"),
    *_counted("norm_row", 192, 22, "mean, root and reciprocal of a row"),
    *_counted("norm_block", 174, 16, "eight values of one row: moments, normalised"),
    *_counted("norm", 31, 2, "one value of one row: moments, normalised"),
    *_counted("integer_norm_row", 218, 97, "mean, root and reciprocal of a row in QuantLib's integers"),
    *_counted("integer_norm", 30, 4, "one value normalised in QuantLib's integers"),
    *_counted("mean", 6, 0, "one value of the sum for the mean"),
    *_counted("copy_block", 27, 0, "32 bytes copied"),
    *_counted("copy_word", 6, 0, "four bytes copied"),
    *_counted("copy_byte", 7, 0, "one byte copied"),
    *_counted("fill_byte", 3, 0, "one byte filled"),
    *_counted("fill_word", 3, 0, "four bytes filled"),
    *_counted("run", 32, 1, "start of a run of bytes"),
    *_counted("window_run", 40, 1, "start of a row of a window"),
    *_counted("pad_row", 49, 0, "start of a padded run"),
    *_counted("turn_matrix", 46, 1, "start of a matrix that is turned"),
    *_counted("turn_column", 45, 0, "start of a loop down four columns that are turned, or one"),
    *_counted("turn_block", 41, 0, "a block of four by four bytes turned"),
    *_counted("turn_row", 15, 0, "a row of four columns turned"),
    *_counted("turn", 5, 0, "a byte turned"),
)
