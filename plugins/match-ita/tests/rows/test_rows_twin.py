"""Small graphs through the emitted program on the twin: the pattern that is meant, the bits of ONNX Runtime, and cycles
close to the model's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from ita_graphs import ItaGraph, deploy
from match_core.plugin.host import Plugins

Made = tuple[ItaGraph, gs.Variable]


def _requant(g: ItaGraph, x: gs.Variable, multiplier: object, addend: object, shift: int = 31) -> gs.Variable:
    constants = [g.constant(values) for values in (multiplier, addend, 1 << shift, -128, 127)]
    return g.node("match.arith::RequantI8", [x, *constants], x.shape, np.int8)


def _channels(g: ItaGraph, x: gs.Variable) -> gs.Variable:
    c = int(x.shape[-1])
    return _requant(g, x, g.random.integers(2**28, 2**31, c), g.random.integers(-(2**36), 2**36, c))


def _add(g: ItaGraph, a: gs.Variable, b: gs.Variable, factors: tuple[int, int], shift: int) -> gs.Variable:
    constants = [g.constant(values) for values in (*factors, 3 << (shift - 1), 1 << shift, -128, 127)]
    return g.node("match.arith::AddRequantI8", [a, b, *constants], a.shape, np.int8)


def add(factors: tuple[int, int], shift: int) -> Made:
    g = ItaGraph()
    return g, _add(g, g.input(1, 33, 96), g.input(1, 33, 96), factors, shift)


def requant(steps: int, *, add_first: bool = False) -> Made:
    g = ItaGraph()
    y = g.input(1, 65, 128)
    y = _add(g, y, g.input(1, 65, 128), (147, 221), 8) if add_first else y
    for _ in range(steps):
        y = _channels(g, y)
    return g, y


def each() -> Made:
    g = ItaGraph()
    return g, _requant(g, g.input(1, 30, 64), 1234567890, g.random.integers(-(2**37), 2**37, (1, 30, 64)))


def total(*shape: int, axis: int = 0) -> Made:
    g = ItaGraph()
    return g, _total(g, g.input(*shape), axis)


def _total(g: ItaGraph, x: gs.Variable, axis: int = 0) -> gs.Variable:
    wide = g.node("Cast", [x], x.shape, np.int32, to=6)
    shape = [size for number, size in enumerate(x.shape) if number != axis]
    return _requant(
        g, g.node("ReduceSum", [wide, g.constant([axis])], shape, np.int32, keepdims=0), 91, (5 << 7) + 64, 7
    )


def total_add(*, swapped: bool) -> Made:
    g = ItaGraph()
    a, b = _total(g, g.input(5, 20, 64)), g.input(20, 64)
    return g, _add(g, *((b, a) if swapped else (a, b)), (99, 200), 8)


def shares(count: int) -> Made:
    g = ItaGraph()
    parts = [g.input(1, 20, 64) for _ in range(count)]
    return g, _total(g, g.node("Concat", parts, [count, 20, 64], np.int8, axis=0))


def lut() -> Made:
    g = ItaGraph()
    x = g.input(1, 40, 70)
    return g, g.node("match.arith::LutI8", [x, g.constant(g.random.permutation(256) - 128, np.int8)], x.shape, np.int8)


def gelu() -> Made:
    g = ItaGraph()
    return g, g.gelu(g.input(40, 70))


def layernorm() -> Made:
    g = ItaGraph()
    x = g.input(1, 45, 384)
    numbers = (g.random.integers(2**25, 2**28, 384), g.random.integers(-(2**24), 2**24, 384), 1 << 17, 54321)
    constants = [g.constant(values) for values in (*numbers, -128, 127)]
    return g, g.node("match.arith::LayerNormRequantI8", [x, *constants], x.shape, np.int8)


def integer_norm(name: str) -> Made:
    g = ItaGraph()
    x = g.input(1, 30, 128)
    bias = (g.random.integers(-(2**20), 2**20, 128),) if name == "LayerNormI8" else ()
    numbers = (g.random.integers(1, 2**20, 128), *bias, 1 << 14, -128, 127)
    return g, g.node(f"match.arith::{name}", [x, *map(g.constant, numbers)], x.shape, np.int8)


def transpose(shape: tuple[int, ...], *order: int) -> Made:
    g = ItaGraph()
    x = g.input(*shape)
    return g, g.node("Transpose", [x], [shape[axis] for axis in order], np.int8, perm=list(order))


def part() -> Made:
    g = ItaGraph()
    x = g.input(1, 30, 64)
    numbers = [g.constant(values) for values in ([3, 8], [29, 40], [1, 2], [2, 1])]
    return g, g.node("Slice", [x, *numbers], [1, 13, 32], np.int8)


def gather(index: object, size: int = 30) -> Made:
    g = ItaGraph()
    x, rows = g.input(size, 48), g.constant(index)
    return g, g.node("Gather", [x, rows], [*rows.shape, 48], np.int8, axis=0)


def pad() -> Made:
    g = ItaGraph()
    x, amounts = g.input(1, 30, 80), g.constant([0, 0, 0, 0, 0, 48])
    return g, g.node("Pad", [x, amounts, g.constant(-3, np.int8)], [1, 30, 128], np.int8)


def concat(*sizes: int, constant: int = 0) -> Made:
    g = ItaGraph()
    parts: list[gs.Tensor] = [g.input(1, size, 40) for size in sizes]
    if constant:
        parts = [g.constant(g.random.integers(-128, 128, (1, constant, 40)), np.int8), *parts]
    return g, g.node("Concat", parts, [1, sum(sizes) + constant, 40], np.int8, axis=1)


CASES: dict[str, tuple[str, Callable[[], Made]]] = {
    "add": ("add", lambda: add((147, 221), 8)),
    "add_of_31_bits": ("add", lambda: add((1234567890, 987654321), 30)),
    "requant": ("requant", lambda: requant(1)),
    "requant_twice": ("requant_twice", lambda: requant(2)),
    "add_requant": ("add_requant", lambda: requant(1, add_first=True)),
    "add_requant_twice": ("add_requant_twice", lambda: requant(2, add_first=True)),
    "each": ("requant_each", each),
    "partial_sums": ("sum", lambda: total(6, 20, 64)),
    "mean": ("sum", lambda: total(1, 64, 128, axis=1)),
    "partial_sums_add": ("sum_add", lambda: total_add(swapped=False)),
    "add_partial_sums": ("add_sum", lambda: total_add(swapped=True)),
    "two_shares": ("sum_two", lambda: shares(2)),
    "three_shares": ("sum_three", lambda: shares(3)),
    "lut": ("lut", lut),
    "gelu": ("gelu", gelu),
    "layernorm": ("layernorm", layernorm),
    "integer_layernorm": ("integer_layernorm", lambda: integer_norm("LayerNormI8")),
    "rmsnorm": ("rmsnorm", lambda: integer_norm("RmsNormI8")),
    "heads_outside": ("transpose_rows", lambda: transpose((1, 50, 4, 32), 0, 2, 1, 3)),
    "heads_turned": ("transpose", lambda: transpose((1, 50, 4, 32), 0, 2, 3, 1)),
    "channels_first": ("transpose", lambda: transpose((1, 30, 52), 0, 2, 1)),
    "reversed": ("transpose", lambda: transpose((6, 10, 7), 2, 1, 0)),
    "part": ("slice", part),
    "embedding": ("gather", lambda: gather([[3, 29, 0, 3], [7, 8, 8, -1]])),
    "im2col": ("gather", lambda: gather(np.arange(10)[:, None] * 2 + np.arange(3))),
    "pad": ("pad", pad),
    "concat": ("concat", lambda: concat(12, 21)),
    "concat_three": ("concat_three", lambda: concat(12, 21, 5)),
    "class_token": ("concat_constant", lambda: concat(30, constant=1)),
}


@pytest.mark.parametrize("case", CASES)
def test_bits(case: str, plugins: Plugins, tmp_path: Path) -> None:
    pattern, make = CASES[case]
    g, y = make()
    deployed = deploy(g.graph(y), plugins, tmp_path, mode="lazy", without=())
    assert deployed.patterns == [pattern]
    deployed.check()
    for node in deployed.run.nodes:
        assert abs(node.predicted_cycles / node.cycles - 1) < 0.04, node


@pytest.mark.parametrize("case", ["add", "layernorm", "heads_turned"])
def test_little_memory_means_more_tiles(case: str, plugins: Plugins, tmp_path: Path) -> None:
    pattern, make = CASES[case]
    g, y = make()
    deployed = deploy(g.graph(y), plugins, tmp_path, mode="lazy", without=(), memory=(("l1", 6 * 1024),))
    assert deployed.patterns == [pattern]
    assert max(task.assignment.schedule.steps for task in deployed.compilation.program.tasks) > 1
    deployed.check()
