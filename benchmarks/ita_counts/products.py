"""What the figures of ``snitch_products_constants`` are counted from: whole calls, and differences of two. A product
without columns only packs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from match_ita.ita.limits import CORES
from match_ita.snitch_products.interfaces import INTERFACES

from benchmarks.ita_counts.build import RUNTIME, CountedKernel, Program, build

Numbers = Mapping[str, int]
Figures = Iterator[tuple[str, float]]

_COMMON = {"low": -128, "high": 127, "shift": 8}
#: Vectors, and columns, of which every core has one panel, and a panel by two columns.
_ROWS, _COLUMNS = 32, 16


def build_products(folder: Path) -> Program:
    """The product kernels."""
    sources = (*RUNTIME.glob("match_snitch_products*.c"),)
    return build(folder, INTERFACES, sorted(sources))


def _kernel(program: Program, kind: str, numbers: Numbers) -> CountedKernel:
    return CountedKernel(program, f"snitch_{kind}", {**_COMMON, **numbers})


def product_figures(program: Program) -> Figures:
    """Every figure by its name, without ``_cycles``."""
    found: dict[str, float] = {}
    for figures in (_linear, _matmul, _attention, _softmax, _windows):
        for name, cycles in figures(program, found):
            found[name] = cycles
            yield name, cycles


def _linear(program: Program, found: Mapping[str, float]) -> Figures:
    linear = _kernel(program, "linear", {"n": 4, "wide": 1})
    yield "products_call", linear.cycles(n=0, k=0, c=4)
    tap = linear.per("c", 32, 64, n=_ROWS, k=0)
    panel = linear.per("n", _ROWS, 5 * _ROWS, k=0, c=32) * _ROWS
    yield "pack_tap", tap
    yield "pack_panel", panel - 32 * tap

    def block(**numbers: int) -> float:
        return linear.per("k", _COLUMNS, 9 * _COLUMNS, **numbers) * _COLUMNS

    step = (block(c=64) - block(c=32)) / 8
    yield "pairs_step", step
    yield "pairs_tap", block(c=33) - block(c=32)
    yield "columns_wide", block(c=32) - 8 * step
    yield "columns_narrow", block(c=32, wide=0) - 8 * step
    whole = linear.per("n", _ROWS, 5 * _ROWS, k=2, c=32) * _ROWS
    yield "panel", whole - panel - block(c=32)


def _matmul(program: Program, found: Mapping[str, float]) -> Figures:
    """Values less a zero point of their own, which takes the plain way."""
    matmul = _kernel(program, "matmul", {"h": 1, "m": 4, "b_rows": 1, "a_zero": 1})

    def block(**numbers: int) -> float:
        return matmul.per("n", _COLUMNS, 9 * _COLUMNS, **numbers) * _COLUMNS

    step = (block(c=64) - block(c=32)) / 8
    yield "plain_step", step
    yield "plain_tap", block(c=33) - block(c=32)
    yield "matmul_head", matmul.per("h", 1, 9, m=0, n=0, c=4)


def _attention(program: Program, found: Mapping[str, float]) -> Figures:
    sizes = {"h": 1, "s": _ROWS, "group": 16, "softmax_shift": 5, "numerator": 65280, "qk_shift": 8, "av_shift": 8}
    attention = _kernel(program, "attention", {**sizes, "qk_multiplier": 1, "av_multiplier": 1})
    logits = (found["columns_narrow"] + found["pairs_step"]) / 2  # of a key
    mixed = 2 * found["plain_step"] / 4  # of four columns of a head
    whole, half = ({"t": size, "tp": size, "p": 4} for size in (128, 64))
    column = (attention.cycles(**whole) - attention.cycles(**half)) / 64 - logits - mixed
    grouped = (attention.cycles(**whole, group=32) - attention.cycles(**half, group=32)) / 64 - logits - mixed
    group = (column - grouped) * 32
    yield "attention_group", group
    yield "attention_column", column - group / 16
    yield "attention_fill", logits - attention.per("t", 64, 128, tp=128, p=4)
    item = attention.per("s", _ROWS, 5 * _ROWS, **half) * _ROWS
    packed = found["pack_panel"] + 4 * found["pack_tap"] + 2 * found["panel"]
    yield "attention_rows", item - packed - 64 * (column + logits + mixed) - 2 * found["columns_narrow"]


def _softmax(program: Program, found: Mapping[str, float]) -> Figures:
    softmax = _kernel(program, "softmax", {"numerator": 255, "rounded": 1})
    element = softmax.per("c", 64, 128, r=CORES)
    yield "softmax_element", element
    yield "softmax_row", softmax.per("r", CORES, 5 * CORES, c=64) * CORES - 64 * element
    shifted = _kernel(program, "shift_softmax", {"softmax_shift": 5, "numerator": 65280, "group": 16})
    column = shifted.per("c", 64, 128, r=CORES)
    group = (column - shifted.per("c", 64, 128, r=CORES, group=32)) * 32
    yield "shift_softmax_group", group
    yield "shift_softmax_element", column - group / 16
    yield "shift_softmax_row", shifted.per("r", CORES, 5 * CORES, c=64) * CORES - 64 * column


def _windows(program: Program, found: Mapping[str, float]) -> Figures:
    image = {"oy": 1, "input_y": 8, "input_x": 200, "stride_y": 1, "stride_x": 1, "dilation_y": 1, "dilation_x": 1}
    conv = _kernel(program, "conv2d", {**image, "ox": _ROWS, "c": 1, "k": 0})
    tap = conv.per("fx", 2, 6, fy=1) / 4
    row = conv.per("fy", 2, 6, fx=2) / 4 - 2 * tap
    yield "window_tap", tap
    yield "window_row", row
    yield "window", conv.per("ox", _ROWS, 5 * _ROWS, fx=2, fy=1) * CORES - row - 2 * tap
    pool = _kernel(program, "maxpool2d", {**image, "ox": CORES, "c": 1})
    tap = pool.per("fx", 2, 6, fy=1)
    row = pool.per("fy", 2, 6, fx=2) - 2 * tap
    yield "maxpool_tap", tap
    yield "maxpool_row", row
    yield "maxpool_output", pool.per("ox", CORES, 9 * CORES, fx=2, fy=1) * CORES - row - 2 * tap
