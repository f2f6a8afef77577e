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
    _counted("products_call", 200, "a call on one core"),
    _counted("pack_panel", 80, "a panel of four vectors"),
    _counted("pack_tap", 20, "an index of four vectors packed"),
    _counted("panel", 60, "a panel in a product"),
    _counted("columns", 60, "a panel by two columns"),
    _counted("pairs_step", 76, "four indices of a panel by two columns, pairs"),
    _counted("pairs_tap", 28, "one index of a panel by two columns, pairs"),
    _counted("plain_step", 88, "four indices of a panel by two columns, plain"),
    _counted("plain_tap", 25, "one index of a panel by two columns, plain"),
    _counted("products_wide", 20, "a result with 64 bits"),
    _counted("products_narrow", 12, "a result with 32 bits"),
    _counted("attention_rows", 100, "four rows of an attention, besides products and softmax"),
    _counted("itamax_row", 60, "a row of softmax in powers of two"),
    _counted("itamax_group", 20, "a group of columns of it"),
    _counted("itamax_element", 30, "a value of it"),
    _counted("softmax_row", 200, "a row of softmax by table"),
    _counted("softmax_element", 60, "a value of it"),
    _counted("window", 60, "a window gathered"),
    _counted("window_row", 20, "a row of taps in it"),
    _counted("window_tap", 20, "a tap in it"),
    _counted("maxpool_output", 50, "a result of maximum pooling"),
    _counted("maxpool_row", 20, "a row of taps of it"),
    _counted("maxpool_tap", 12, "a tap of it"),
)
