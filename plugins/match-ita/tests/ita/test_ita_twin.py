"""Small graphs through the emitted program on the twin, bit for bit as ONNX Runtime computes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from ita_graphs import ItaGraph, deploy
from match_core.deploy.compile_options import Execution
from match_core.plugin.facade import Plugins

Made = tuple[ItaGraph, gs.Variable]


def linear(rows: int, c: int, k: int, **numbers: int) -> Made:
    g = ItaGraph()
    return g, g.linear(g.input(rows, c), k, **numbers)


def gelu(rows: int) -> Made:
    g = ItaGraph()
    return g, g.gelu(g.linear(g.input(rows, 64), 128))


def turned(rows: int, c: int, k: int) -> Made:
    g = ItaGraph()
    return g, g.turned(g.linear(g.input(rows, c), k), -(-rows // 64) * 64)


def attention(rows: int, keys: int, heads: int, width: int, softmax: tuple[int, int] = (0, 65280)) -> Made:
    g = ItaGraph()
    columns = heads * width
    q, k, values = g.input(rows, columns), g.input(keys, columns), g.input(keys, 64)
    return g, g.attention(q, k, g.turned(g.linear(values, columns), -(-keys // 64) * 64), heads, softmax)


def matmul(batch: int, rows: int, columns: int, c: int) -> Made:
    g = ItaGraph()
    return g, g.matmul(g.input(batch, rows, c), g.input(batch, columns, c), add=2)


def some_columns(first: int, last: int) -> Made:
    """Of a matrix with 588 columns, as an image's patches have."""
    g = ItaGraph()
    return g, g.linear(g.part(g.input(70, 588), (0, 70, 1), (first, last, 1)), 128)


def every_second_row() -> Made:
    """As a convolution with a step of 2 takes them."""
    g = ItaGraph()
    return g, g.gelu(g.linear(g.part(g.input(200, 64), (1, 190, 2), (0, 64, 1)), 64))


CASES: dict[str, Callable[[], Made]] = {
    "block": lambda: linear(64, 64, 64),
    "row": lambda: linear(1, 64, 128, add=-7),
    "short": lambda: linear(241, 384, 192),
    "long_sums": lambda: linear(128, 512, 128),
    "many_columns": lambda: linear(65, 64, 1088),
    "relu": lambda: linear(100, 128, 64, low=0, add=3),
    "gelu": lambda: gelu(70),
    "first_columns": lambda: some_columns(0, 320),
    "last_columns": lambda: some_columns(268, 588),
    "every_second_row": every_second_row,
    "turned": lambda: turned(100, 128, 128),
    "attention": lambda: attention(64, 64, 1, 64),
    "heads": lambda: attention(128, 128, 3, 64),
    "dino": lambda: attention(241, 241, 2, 64),
    "cross": lambda: attention(100, 70, 2, 128),
    "matmul": lambda: matmul(2, 70, 128, 64),
}


@pytest.mark.parametrize("case", CASES)
def test_bits(case: str, plugins: Plugins, tmp_path: Path) -> None:
    g, y = CASES[case]()
    deployed = deploy(g.graph(y), plugins, tmp_path, mode="lazy")
    assert all(name.startswith("ita_") for name in deployed.patterns)
    deployed.check()
    for node in deployed.run.nodes:
        assert abs(node.predicted_cycles / node.cycles - 1) < 0.04, node


@pytest.mark.parametrize("mode", ["eager", "lazy:ita", "threads"])
@pytest.mark.parametrize("case", ["dino", "gelu"])
def test_side_by_side_with_the_host(case: str, mode: str, plugins: Plugins, tmp_path: Path) -> None:
    g, y = CASES[case]()
    execution: Execution = "concurrent"
    deployed = deploy(g.graph(y), plugins, tmp_path, mode=mode, execution=execution, samples=2)
    assert deployed.compilation.program.queues
    deployed.check()


@pytest.mark.parametrize(("preset", "softmax"), [("quantlib", (5, 127 * 256)), ("islped", (5, 65280))])
def test_presets_have_their_softmax(preset: str, softmax: tuple[int, int], plugins: Plugins, tmp_path: Path) -> None:
    g, y = attention(70, 70, 1, 64, softmax)
    deploy(g.graph(y), plugins, tmp_path, preset=preset).check()


@pytest.mark.parametrize("keys", [256, 250])
def test_a_flat_row_of_many_keys_is_all_zeros(keys: int, plugins: Plugins, tmp_path: Path) -> None:
    """The sum of a flat row of 256 logits exceeds the numerator: every probability is 0 (sheet 2.3)."""
    g, y = attention(64, keys, 1, 64)
    arrays = {t.name: np.zeros((1, *t.shape), np.int8) for t in g.inputs[:2]}
    arrays[g.inputs[2].name] = g.random.integers(-128, 128, (1, *g.inputs[2].shape)).astype(np.int8)
    deployed = deploy(g.graph(y), plugins, tmp_path, arrays=arrays)
    deployed.check()
    assert (not deployed.expected[y.name].any()) == (keys == 256)


def test_little_memory_means_more_tiles(plugins: Plugins, tmp_path: Path) -> None:
    g, y = attention(241, 241, 2, 64)
    deployed = deploy(g.graph(y), plugins, tmp_path, mode="lazy", memory=(("l1", 66 * 1024),))
    assert max(task.assignment.schedule.steps for task in deployed.compilation.program.tasks) > 4
    deployed.check()


_SLOW = [pytest.param(mode, marks=pytest.mark.slow) for mode in ("eager", "lazy:snitch")]


@pytest.mark.parametrize("mode", ["lazy:ita", "threads", *_SLOW])
def test_both_units_side_by_side(mode: str, plugins: Plugins, tmp_path: Path) -> None:
    """Two branches that meet in a sum on the cores; one of them has a table in between."""
    g = ItaGraph()
    x = g.input(130, 128)
    table = g.constant(np.arange(127, -129, -1), np.int8)
    first = g.node("match.arith::LutI8", [g.linear(x, 128), table], [130, 128], np.int8)
    second = g.linear(g.linear(x, 192, low=0), 128)
    numbers = [g.constant(number) for number in (3, 5, 1 << 3, 1 << 4, -128, 127)]
    y = g.node("match.arith::AddRequantI8", [first, second, *numbers], [130, 128], np.int8)
    execution: Execution = "concurrent"
    deployed = deploy(g.graph(y), plugins, tmp_path, mode=mode, execution=execution, without=())
    deployed.check()
    assert {queue.name for queue in deployed.compilation.program.queues} >= {"ita", "snitch"}
    assert {name.split("_")[0] for name in deployed.patterns} >= {"ita", "lut"}


def test_512_keys_fit_side_by_side(plugins: Plugins, tmp_path: Path) -> None:
    g, y = attention(512, 512, 1, 64)
    deployed = deploy(g.graph(y), plugins, tmp_path, execution="concurrent")
    deployed.check()
    (unit, part), _ = ((part.unit, part.size_bytes) for part in deployed.compilation.soc.parts)
    attentions = deployed.compilation.program.tasks[-1].assignment
    assert unit == "ita"
    assert attentions.candidate.pattern.name == "ita_attention"
    assert attentions.schedule.bytes_in("l1") <= part
