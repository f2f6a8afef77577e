"""Figures of the product kernels: cycles, and uses of the shared unit.

A product counts as a use, also where one multiplication makes two of them (``pairs``): the published rate that the unit
is calibrated to is one of products, and no public measurement says what the cluster gains from fewer multiplications.
"""

from __future__ import annotations

from match_core import Constant

from match_ita.snitch_counted import counted

CONSTANTS: tuple[Constant, ...] = (
    *counted("products_call", 157, 3, "a call on one core"),
    *counted("pack_panel", 82, 5, "a panel of four vectors"),
    *counted("pack_tap", 26, 0, "an index of four vectors packed"),
    *counted("panel", 105, 9, "a panel in a product"),
    *counted("columns_wide", 364, 22, "a panel by two columns besides its sums, 64 bits"),
    *counted("columns_narrow", 324, 14, "a panel by two columns besides its sums, 32 bits"),
    *counted("pairs_step", 76, 32, "four indices of a panel by two columns, pairs"),
    *counted("pairs_tap", 44, 8, "one index of a panel by two columns, pairs"),
    *counted("plain_step", 92, 32, "four indices of a panel by two columns, plain"),
    *counted("plain_tap", 26, 8, "one index of a panel by two columns, plain"),
    *counted("matmul_head", 161, 9, "a head of a product"),
    *counted("attention_fill", 18, 0, "a column of it behind the keys"),
    *counted("attention_rows", 194, 200, "four rows of an attention, besides products and softmax"),
    *counted("attention_group", 68, 0, "a group of columns of four rows' softmax"),
    *counted("attention_column", 104, 0, "a column of it"),
    *counted("shift_softmax_row", 52, 33, "a row of softmax in powers of two"),
    *counted("shift_softmax_group", 12, 0, "a group of columns of it"),
    *counted("shift_softmax_element", 33, 0, "a value of it"),
    *counted("softmax_row", 345, 33, "a row of softmax by table"),
    *counted("softmax_element", 68, 7, "a value of it"),
    *counted("window", 104, 66, "a window gathered"),
    *counted("window_row", 14, 2, "a row of taps in it"),
    *counted("window_tap", 31, 3, "a tap in it"),
    *counted("maxpool_output", 150, 131, "a result of maximum pooling"),
    *counted("maxpool_row", 15, 3, "a row of taps of it"),
    *counted("maxpool_tap", 15, 1, "a tap of it"),
)
