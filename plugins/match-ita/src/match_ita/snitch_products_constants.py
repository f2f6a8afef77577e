"""Figures of the product kernels."""

from __future__ import annotations

from match_core import Constant

_COUNT = (
    "instructions of GCC 12's code (-O2 -march=rv32im -mabi=ilp32) executed by qemu-riscv32, one a cycle, a division "
    "32 (python -m match_ita.counts): "
)


def _counted(name: str, value: int, what: str) -> Constant:
    return Constant(f"{name}_cycles", value, "cycles", _COUNT + what, estimate=True)


CONSTANTS: tuple[Constant, ...] = (
    _counted("products_call", 288, "a call on one core"),
    _counted("pack_panel", 82, "a panel of four vectors"),
    _counted("pack_tap", 26, "an index of four vectors packed"),
    _counted("panel", 105, "a panel in a product"),
    _counted("columns_wide", 364, "a panel by two columns besides its sums, 64 bits"),
    _counted("columns_narrow", 324, "a panel by two columns besides its sums, 32 bits"),
    _counted("pairs_step", 76, "four indices of a panel by two columns, pairs"),
    _counted("pairs_tap", 44, "one index of a panel by two columns, pairs"),
    _counted("plain_step", 92, "four indices of a panel by two columns, plain"),
    _counted("plain_tap", 26, "one index of a panel by two columns, plain"),
    _counted("matmul_head", 292, "a head of a product"),
    _counted("attention_fill", 18, "a column of it behind the keys"),
    _counted("attention_rows", 194, "four rows of an attention, besides products and softmax"),
    _counted("attention_group", 68, "a group of columns of four rows' softmax"),
    _counted("attention_column", 104, "a column of it"),
    _counted("shift_softmax_row", 52, "a row of softmax in powers of two"),
    _counted("shift_softmax_group", 12, "a group of columns of it"),
    _counted("shift_softmax_element", 33, "a value of it"),
    _counted("softmax_row", 345, "a row of softmax by table"),
    _counted("softmax_element", 68, "a value of it"),
    _counted("window", 104, "a window gathered"),
    _counted("window_row", 14, "a row of taps in it"),
    _counted("window_tap", 31, "a tap in it"),
    _counted("maxpool_output", 150, "a result of maximum pooling"),
    _counted("maxpool_row", 15, "a row of taps of it"),
    _counted("maxpool_tap", 15, "a tap of it"),
)
