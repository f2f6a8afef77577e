"""Small integer graphs as they are behind all passes, and a way from such a graph to a run on the twin."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import numpy as np
import onnx_graphsurgeon as gs
from match_core.contract.compilation import Compilation
from match_core.contract.model import Model
from match_core.deploy.compile_options import Execution
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_ita.functions import function_protos
from match_ita.hardware import ITA
from match_ita.patterns import ITA_PATTERNS
from match_verify.verify import reference_outputs

from tests.integer_graph import Arrays, Deployed, IntegerGraph


class ItaGraph(IntegerGraph):
    """Graphs for the patterns of the accelerator."""

    units = ((ITA, ITA_PATTERNS),)
    functions = function_protos()

    def part(self, source: gs.Variable, rows: tuple[int, int, int], columns: tuple[int, int, int]) -> gs.Variable:
        """Rows and columns of a matrix, each as (first, end, step)."""
        limits = [self.constant(values) for values in zip(rows, columns, strict=True)]
        shape = [len(range(*rows)), len(range(*columns))]
        return self.node("Slice", [source, *limits[:2], self.constant([0, 1]), limits[2]], shape, np.int8)

    def requant(
        self, sums: gs.Variable, multiplier: int, shift: int, bias: object = 0, add: int = 0, low: int = -128
    ) -> gs.Variable:
        """ITA's requantisation with a bias."""
        half = (1 << shift) >> 1
        addend = multiplier * np.asarray(bias, np.int64) + half + (add << shift)
        numbers = (multiplier, addend, 1 << shift, low, 127)
        constants = [self.constant(values) for values in numbers]
        return self.node("match.arith::RequantI8", [sums, *constants], sums.shape, np.int8)

    def linear(
        self,
        source: gs.Variable,
        columns: int,
        multiplier: int = 37,
        shift: int = 15,
        add: int = 0,
        low: int = -128,
        bias: bool = True,
    ) -> gs.Variable:
        """A linear layer with random weights and biases."""
        c = int(source.shape[-1])
        weight = self.constant(self.random.integers(-128, 128, (c, columns)), np.int8)
        sums = self.node("MatMulInteger", [source, weight], [*source.shape[:-1], columns], np.int32)
        biases = self.random.integers(-(1 << 17), 1 << 17, columns) if bias else 0
        return self.requant(sums, multiplier, shift, biases, add, low)

    def gelu(
        self, source: gs.Variable, b: int = -80, c: int = -7091, multiplier: int = 74, shift: int = 20
    ) -> gs.Variable:
        numbers = (b, c, multiplier, (1 << shift) >> 1, 1 << shift)
        return self.node("match.ita::Gelu", [source, *map(self.constant, numbers)], source.shape, np.int8)

    def turned(self, source: gs.Variable, columns: int) -> gs.Variable:
        """Rows and columns change places; columns are filled up with zeros."""
        rows, width = (int(size) for size in source.shape)
        turned = self.node("Transpose", [source], [width, rows], np.int8, perm=[1, 0])
        if columns == rows:
            return turned
        amounts = self.constant([0, 0, 0, columns - rows])
        return self.node("Pad", [turned, amounts, self.constant(0, np.int8)], [width, columns], np.int8)

    def attention(
        self,
        q: gs.Variable,
        k: gs.Variable,
        vt: gs.Variable,
        heads: int = 1,
        softmax: tuple[int, int] = (0, 65280),
        qk: tuple[int, int, int] = (29, 15, 0),
        av: tuple[int, int, int] = (57, 13, 0),
    ) -> gs.Variable:
        """``qk``, ``av``: multiplier, shift, add."""
        qk_numbers, av_numbers = ((m, ((1 << s) >> 1) + (a << s), 1 << s) for m, s, a in (qk, av))
        constants = map(self.constant, (*qk_numbers, softmax[1], *av_numbers))
        attributes = {"heads": heads, "shift": softmax[0], "group": 16}
        return self.node("match.ita::Attention", [q, k, vt, *constants], q.shape, np.int8, **attributes)

    def matmul(
        self, a: gs.Variable, b: gs.Variable, multiplier: int = 31, shift: int = 15, add: int = 0
    ) -> gs.Variable:
        """a times b turned."""
        rank = len(b.shape)
        shape = [*b.shape[:-2], b.shape[-1], b.shape[-2]]
        order = [*range(rank - 2), rank - 1, rank - 2]
        turned = self.node("Transpose", [b], shape, np.int8, perm=order)
        sums = self.node("MatMulInteger", [a, turned], [*a.shape[:-1], b.shape[-2]], np.int32)
        return self.requant(sums, multiplier, shift, 0, add)


def compiled(
    graph: gs.Graph,
    plugins: Plugins,
    directory: Path,
    *,
    execution: Execution = "sequential",
    preset: str = "rtl",
    without: tuple[str, ...] = ("snitch",),
    memory: tuple[tuple[str, int], ...] = (),
) -> Compilation:
    """The program of a graph that is behind all passes, in ``directory``/program."""
    model = Model("net", graph, "net.onnx", "0" * 64)
    request = CompileRequest(
        directory / "net.onnx",
        "ita",
        directory / "program",
        execution=execution,
        preset=preset,
        without_units=without,
        memory=memory,
        cache=False,
    )
    with (
        mock.patch("match_core.pipeline._load", return_value=model),
        mock.patch("match_core.pipeline.transform", return_value=model),
    ):
        return compile_model(request, plugins).compilation


def deploy(
    graph: gs.Graph,
    plugins: Plugins,
    directory: Path,
    *,
    mode: str = "eager",
    execution: Execution = "sequential",
    preset: str = "rtl",
    without: tuple[str, ...] = ("snitch",),
    memory: tuple[tuple[str, int], ...] = (),
    arrays: Arrays | None = None,
    samples: int = 1,
    sanitize: bool = True,
) -> Deployed:
    """Compile a graph that is behind all passes, and run it on random inputs."""
    options = {"execution": execution, "preset": preset, "without": without, "memory": memory}
    compilation = compiled(graph, plugins, directory, **options)  # type: ignore[arg-type]
    random = np.random.default_rng(5)
    inputs: Arrays = arrays or {
        tensor.name: random.integers(-128, 128, (samples, *tensor.shape)).astype(np.int8) for tensor in graph.inputs
    }
    result = run_program(directory / "program", inputs, plugins, sanitize, mode)
    expected = reference_outputs(compilation.model, inputs, len(next(iter(inputs.values()))))
    return Deployed(compilation, result, expected)
