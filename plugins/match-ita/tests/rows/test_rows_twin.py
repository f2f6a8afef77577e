"""Small graphs through the emitted program on the twin: the pattern that is meant, the bits of ONNX Runtime, and cycles
close to the model's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from ita_graphs import ItaGraph, deploy
from match_concurrent.share import restricted
from match_core.contract.geometry import axis_tile
from match_core.plugin.facade import Plugins

Make = Callable[[ItaGraph], gs.Variable]


def _requant(g: ItaGraph, x: gs.Variable, multiplier: object, addend: object, shift: int = 31) -> gs.Variable:
    constants = [g.constant(values) for values in (multiplier, addend, 1 << shift, -128, 127)]
    return g.node("match.arith::RequantI8", [x, *constants], x.shape, np.int8)


def _channels(g: ItaGraph, x: gs.Variable) -> gs.Variable:
    c = int(x.shape[-1])
    return _requant(g, x, g.random.integers(2**28, 2**31, c), g.random.integers(-(2**36), 2**36, c))


def _add(g: ItaGraph, a: gs.Variable, b: gs.Variable, factors: tuple[int, int], shift: int) -> gs.Variable:
    constants = [g.constant(values) for values in (*factors, 3 << (shift - 1), 1 << shift, -128, 127)]
    return g.node("match.arith::AddRequantI8", [a, b, *constants], a.shape, np.int8)


def add(g: ItaGraph, factors: tuple[int, int], shift: int) -> gs.Variable:
    return _add(g, g.input(1, 33, 96), g.input(1, 33, 96), factors, shift)


def requant(g: ItaGraph, steps: int, *, add_first: bool = False) -> gs.Variable:
    y = g.input(1, 65, 128)
    y = _add(g, y, g.input(1, 65, 128), (147, 221), 8) if add_first else y
    for _ in range(steps):
        y = _channels(g, y)
    return y


def each(g: ItaGraph) -> gs.Variable:
    return _requant(g, g.input(1, 30, 64), 1234567890, g.random.integers(-(2**37), 2**37, (1, 30, 64)))


def total(g: ItaGraph, *shape: int, axis: int = 0) -> gs.Variable:
    return _total(g, g.input(*shape), axis)


def _total(g: ItaGraph, x: gs.Variable, axis: int = 0) -> gs.Variable:
    wide = g.node("Cast", [x], x.shape, np.int32, to=6)
    shape = [size for number, size in enumerate(x.shape) if number != axis]
    return _requant(
        g, g.node("ReduceSum", [wide, g.constant([axis])], shape, np.int32, keepdims=0), 91, (5 << 7) + 64, 7
    )


def total_add(g: ItaGraph, *, swapped: bool) -> gs.Variable:
    a, b = _total(g, g.input(5, 20, 64)), g.input(20, 64)
    return _add(g, *((b, a) if swapped else (a, b)), (99, 200), 8)


def shares(g: ItaGraph, count: int) -> gs.Variable:
    parts = [g.input(1, 20, 64) for _ in range(count)]
    return _total(g, g.node("Concat", parts, [count, 20, 64], np.int8, axis=0))


def lut(g: ItaGraph) -> gs.Variable:
    x = g.input(1, 40, 70)
    return g.node("match.arith::LutI8", [x, g.constant(g.random.permutation(256) - 128, np.int8)], x.shape, np.int8)


def gelu(g: ItaGraph) -> gs.Variable:
    return g.gelu(g.input(40, 70))


def layernorm(g: ItaGraph) -> gs.Variable:
    x = g.input(1, 45, 384)
    numbers = (g.random.integers(2**25, 2**28, 384), g.random.integers(-(2**24), 2**24, 384), 1 << 17, 54321)
    constants = [g.constant(values) for values in (*numbers, -128, 127)]
    return g.node("match.arith::LayerNormRequantI8", [x, *constants], x.shape, np.int8)


def integer_norm(g: ItaGraph, name: str) -> gs.Variable:
    x = g.input(1, 30, 128)
    bias = (g.random.integers(-(2**20), 2**20, 128),) if name == "LayerNormI8" else ()
    numbers = (g.random.integers(1, 2**20, 128), *bias, 1 << 14, -128, 127)
    return g.node(f"match.arith::{name}", [x, *map(g.constant, numbers)], x.shape, np.int8)


def transpose(g: ItaGraph, shape: tuple[int, ...], *order: int) -> gs.Variable:
    x = g.input(*shape)
    return g.node("Transpose", [x], [shape[axis] for axis in order], np.int8, perm=list(order))


def part(g: ItaGraph) -> gs.Variable:
    x = g.input(1, 30, 64)
    numbers = [g.constant(values) for values in ([3, 8], [29, 40], [1, 2], [2, 1])]
    return g.node("Slice", [x, *numbers], [1, 13, 32], np.int8)


def gather(g: ItaGraph, index: object, size: int = 30) -> gs.Variable:
    x, rows = g.input(size, 48), g.constant(index)
    return g.node("Gather", [x, rows], [*rows.shape, 48], np.int8, axis=0)


def pad(g: ItaGraph) -> gs.Variable:
    x, amounts = g.input(1, 30, 80), g.constant([0, 0, 0, 0, 0, 48])
    return g.node("Pad", [x, amounts, g.constant(-3, np.int8)], [1, 30, 128], np.int8)


def pad_rows(g: ItaGraph) -> gs.Variable:
    x, amounts = g.input(100, 48), g.constant([2, 0, 1, 0])
    return g.node("Pad", [x, amounts, g.constant(-3, np.int8)], [103, 48], np.int8)


def concat(g: ItaGraph, *sizes: int, constant: int = 0) -> gs.Variable:
    parts: list[gs.Tensor] = [g.input(1, size, 40) for size in sizes]
    if constant:
        parts = [g.constant(g.random.integers(-128, 128, (1, constant, 40)), np.int8), *parts]
    return g.node("Concat", parts, [1, sum(sizes) + constant, 40], np.int8, axis=1)


CASES: dict[str, tuple[str, Make]] = {
    "add": ("add", lambda g: add(g, (147, 221), 8)),
    "add_of_31_bits": ("add", lambda g: add(g, (1234567890, 987654321), 30)),
    "requant": ("requant", lambda g: requant(g, 1)),
    "requant_twice": ("requant_twice", lambda g: requant(g, 2)),
    "add_requant": ("add_requant", lambda g: requant(g, 1, add_first=True)),
    "add_requant_twice": ("add_requant_twice", lambda g: requant(g, 2, add_first=True)),
    "each": ("requant_each", each),
    "partial_sums": ("sum", lambda g: total(g, 6, 20, 64)),
    "mean": ("sum", lambda g: total(g, 1, 64, 128, axis=1)),
    "partial_sums_add": ("sum_add", lambda g: total_add(g, swapped=False)),
    "add_partial_sums": ("add_sum", lambda g: total_add(g, swapped=True)),
    "two_shares": ("sum_two", lambda g: shares(g, 2)),
    "three_shares": ("sum_three", lambda g: shares(g, 3)),
    "lut": ("lut", lut),
    "gelu": ("gelu", gelu),
    "layernorm": ("layernorm", layernorm),
    "integer_layernorm": ("integer_layernorm", lambda g: integer_norm(g, "LayerNormI8")),
    "rmsnorm": ("rmsnorm", lambda g: integer_norm(g, "RmsNormI8")),
    "heads_outside": ("transpose_rows", lambda g: transpose(g, (1, 50, 4, 32), 0, 2, 1, 3)),
    "heads_turned": ("transpose", lambda g: transpose(g, (1, 50, 4, 32), 0, 2, 3, 1)),
    "channels_first": ("transpose", lambda g: transpose(g, (1, 30, 52), 0, 2, 1)),
    "reversed": ("transpose", lambda g: transpose(g, (12, 20, 14), 2, 1, 0)),
    "part": ("slice", part),
    "embedding": ("gather", lambda g: gather(g, [[3, 29, 0, 3], [7, 8, 8, -1]])),
    "im2col": ("gather", lambda g: gather(g, np.arange(10)[:, None] * 2 + np.arange(3))),
    "pad": ("pad", pad),
    "pad_rows": ("pad_rows", pad_rows),
    "concat": ("concat", lambda g: concat(g, 12, 21)),
    "concat_three": ("concat_three", lambda g: concat(g, 12, 21, 5)),
    "class_token": ("concat_constant", lambda g: concat(g, 30, constant=1)),
}


#: A program for as many cases, for compiling the twin takes most of the time.
GROUP = 10


@pytest.mark.parametrize("first", range(0, len(CASES), GROUP))
def test_bits(first: int, plugins: Plugins, tmp_path: Path) -> None:
    g, cases = ItaGraph(), list(CASES.values())[first : first + GROUP]
    outputs = [make(g) for _, make in cases]
    deployed = deploy(g.graph(*outputs), plugins, tmp_path, mode="lazy", without=())
    assert sorted(deployed.patterns) == sorted(pattern for pattern, _ in cases)
    deployed.check()
    for node in deployed.run.nodes:
        assert abs(node.predicted_cycles / node.cycles - 1) < 0.04, node


def test_parts_of_padded_rows_know_their_ends(plugins: Plugins, tmp_path: Path) -> None:
    """The last part has padding behind it, though none is before it."""
    g = ItaGraph()
    deployed = deploy(g.graph(pad_rows(g)), plugins, tmp_path, mode="lazy", without=())
    workload = deployed.compilation.program.tasks[0].assignment.candidate.workload
    rows = restricted(workload, "T", 60, 43).operand("input").axes[0]
    assert rows.windowed
    tile = axis_tile(rows, {"T": 0}, {"T": 43, "K": 1})
    assert (tile.first, tile.extent, tile.pad_before, tile.pad_after) == (0, 42, 0, 1)


def test_little_memory_means_more_tiles(plugins: Plugins, tmp_path: Path) -> None:
    g, cases = ItaGraph(), [CASES[name] for name in ("add", "layernorm", "heads_turned")]
    outputs = [make(g) for _, make in cases]
    deployed = deploy(g.graph(*outputs), plugins, tmp_path, mode="lazy", without=(), memory=(("l1", 6 * 1024),))
    assert sorted(deployed.patterns) == sorted(pattern for pattern, _ in cases)
    assert min(task.assignment.schedule.steps for task in deployed.compilation.program.tasks) > 1
    deployed.check()


def test_axes_of_patches(plugins: Plugins, tmp_path: Path) -> None:
    """Five axes. Cycles are not compared: the twin's DMA moves short planes while the core writes the next command."""
    g = ItaGraph()
    y = transpose(g, (3, 2, 4, 5, 6), 1, 3, 0, 2, 4)
    deployed = deploy(g.graph(y), plugins, tmp_path, mode="lazy", without=())
    assert deployed.patterns == ["transpose_rows"]
    deployed.check()
