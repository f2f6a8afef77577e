"""What the figures of ``snitch_rows_constants`` are counted from: whole calls, and differences of two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from match_ita.snitch_rows.interfaces import INTERFACES

from benchmarks.ita_counts.build import RUNTIME, CountedKernel, Program, build

Numbers = Mapping[str, int]
Figures = Iterator[tuple[str, float]]

_CORES = 8
#: Results within bounds; steps that change nothing.
_COMMON = {"low": -128, "high": 127, "flip": 128, "flip_b": 128, "epsilon_low": 1000}


def build_rows(folder: Path) -> Program:
    """The kernels for rows and elements."""
    return build(folder, INTERFACES, sorted(RUNTIME.glob("match_snitch_rows_*.c")))


def _kernel(program: Program, kind: str, numbers: Numbers) -> CountedKernel:
    return CountedKernel(program, f"snitch_{kind}", {**_COMMON, **numbers})


def row_figures(program: Program) -> Figures:
    """Every figure by its name, without ``rows_`` and ``_cycles``."""
    for figures in (_flat, _columns, _sums, _norms, _moves, _turns):
        yield from figures(program)


def _flat(program: Program) -> Figures:
    lut = _kernel(program, "lut", {"r": 1})
    yield "call", lut.cycles(c=0)
    for kind, name in (("add", "add"), ("lut", "lut"), ("offset_each", "offset"), ("sum_three", "sum_three")):
        kernel = _kernel(program, kind, {"r": 1})
        yield f"{name}_block", kernel.per("c", 64, 640) * 8 * _CORES
        yield name, kernel.per("c", 1, 3)
    yield "add_wide", _kernel(program, "add", {"r": 1, "wide": 1}).per("c", 64, 640) * _CORES


def _columns(program: Program) -> Figures:
    for kind in ("requant", "requant_twice", "add_requant", "add_requant_twice"):
        kernel = _kernel(program, kind, {})
        yield f"{kind}_row", kernel.per("r", 16, 64, c=32)
        yield kind, kernel.per("r", 16, 64, c=1)
    yield "requant_wide", _kernel(program, "requant", {"c": 32, "wide": 1}).per("r", 16, 64) / 4
    twice = _kernel(program, "add_requant_twice", {"r": 0})
    yield "column", twice.per("c", 32, 320) * 4 * _CORES


def _sums(program: Program) -> Figures:
    kernel = _kernel(program, "sum", {"s": 1, "o": 1})
    part, single = kernel.per("n", 4, 12, c=64), kernel.per("n", 4, 12, c=1)
    yield "sum_part", part
    yield "sum_single_part", single
    yield "sum_block", kernel.per("c", 64, 640, n=4) * 8 * _CORES - 4 * part
    yield "sum", kernel.per("c", 1, 3, n=4) - 4 * single
    yield "sum_outer", kernel.per("o", 1, 9, c=64, n=4) - kernel.per("c", 64, 640, n=4) * 8 * _CORES
    add = _kernel(program, "sum_add", {"s": 1})
    yield "sum_add_block", add.per("c", 64, 640, n=4) * 8 * _CORES - 4 * add.per("n", 4, 12, c=64)
    yield "sum_add", add.per("c", 1, 3, n=4) - 4 * add.per("n", 4, 12, c=1)


def _norms(program: Program) -> Figures:
    norm = _kernel(program, "layernorm", {"epsilon_high": 16})
    # A core has one row of eight, two of sixteen, which it takes together, three of 24.
    one, two, three = (norm.cycles(r=rows * _CORES, c=64) for rows in (1, 2, 3))
    for name, rows, row in (("norm", _CORES, three - two), ("norm_pair", 2 * _CORES, three - one)):
        block = norm.per("c", 64, 128, r=rows) * 8
        yield f"{name}_row", row - 8 * block
        yield f"{name}_block", block
        yield name, norm.cycles(r=rows, c=65) - norm.cycles(r=rows, c=64)
    integer = _kernel(program, "integer_norm", {"r": 8})
    plain, centred = integer.per("c", 64, 128), integer.per("c", 64, 128, centred=1)
    yield "integer_norm", plain
    yield "mean", centred - plain
    yield "integer_norm_row", integer.per("r", 8, 64, c=64, centred=1) * _CORES - 64 * centred


def _moves(program: Program) -> Figures:
    copy = _kernel(program, "copy", {"o": 1, "p": 1, "a": 1, "b": 1, "flip": 0})
    yield "copy_block", copy.per("c", 256, 2560) * 32 * _CORES
    yield "copy_word", copy.per("c", 4, 12) * 4
    yield "copy_byte", copy.per("c", 1, 3)
    gather = _kernel(program, "gather", {"v": 1})
    yield "run", gather.per("n", 8, 64, c=32) * _CORES - copy.per("c", 256, 2560) * 32 * _CORES
    windows = _kernel(program, "windows", {"k": 3, "input_v": 256, "stride": 1, "dilation": 1})
    yield "window_run", windows.per("t", 8, 64, c=32) * _CORES / 3 - copy.per("c", 256, 2560) * 32 * _CORES
    pad = _kernel(program, "pad", {"i": 1, "size": 32})
    yield "pad_row", pad.per("o", 8, 64) * _CORES - copy.per("c", 256, 2560) * 32 * _CORES
    yield "fill_word", pad.per("before", 16, 80, o=8) * 4
    yield "fill_byte", pad.per("before", 1, 65, o=8, after=2, size=1)


def _turns(program: Program) -> Figures:
    kernel = _kernel(program, "transpose", {"p": 1, "a": 1})
    block = kernel.per("r", 8, 64, c=32) * 4
    yield "turn_block", block
    yield "turn_row", kernel.cycles(r=11, c=32) - kernel.cycles(r=10, c=32)
    yield "turn", kernel.per("r", 8, 64, c=1)
    column = kernel.per("c", 32, 320, r=8) * 4 * _CORES
    yield "turn_column", column - 2 * block
    yield "turn_matrix", kernel.per("a", 1, 5, r=8, c=32) - column
