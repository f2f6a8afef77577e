"""Figures of the product kernels."""

from __future__ import annotations

from match_core import Constant

from match_ita.snitch_counted import counted

CONSTANTS: tuple[Constant, ...] = (
    counted("products_call", 288, "a call on one core"),
    counted("pack_panel", 82, "a panel of four vectors"),
    counted("pack_tap", 26, "an index of four vectors packed"),
    counted("panel", 105, "a panel in a product"),
    counted("columns_wide", 364, "a panel by two columns besides its sums, 64 bits"),
    counted("columns_narrow", 324, "a panel by two columns besides its sums, 32 bits"),
    counted("pairs_step", 76, "four indices of a panel by two columns, pairs"),
    counted("pairs_tap", 44, "one index of a panel by two columns, pairs"),
    counted("plain_step", 92, "four indices of a panel by two columns, plain"),
    counted("plain_tap", 26, "one index of a panel by two columns, plain"),
    counted("matmul_head", 292, "a head of a product"),
    counted("attention_fill", 18, "a column of it behind the keys"),
    counted("attention_rows", 194, "four rows of an attention, besides products and softmax"),
    counted("attention_group", 68, "a group of columns of four rows' softmax"),
    counted("attention_column", 104, "a column of it"),
    counted("shift_softmax_row", 52, "a row of softmax in powers of two"),
    counted("shift_softmax_group", 12, "a group of columns of it"),
    counted("shift_softmax_element", 33, "a value of it"),
    counted("softmax_row", 345, "a row of softmax by table"),
    counted("softmax_element", 68, "a value of it"),
    counted("window", 104, "a window gathered"),
    counted("window_row", 14, "a row of taps in it"),
    counted("window_tap", 31, "a tap in it"),
    counted("maxpool_output", 150, "a result of maximum pooling"),
    counted("maxpool_row", 15, "a row of taps of it"),
    counted("maxpool_tap", 15, "a tap of it"),
)
