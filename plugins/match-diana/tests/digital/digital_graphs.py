"""Small integer graphs as they are behind all passes, and a way from such a graph to a run on the twin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np
import onnx_graphsurgeon as gs
from match_core import Match
from match_core.host.operators import OPERATORS
from match_core.ir.functions import ensure_functions
from match_core.ir.model import Model
from match_core.mapping.result import Candidates
from match_core.patterns.candidates import find_candidates
from match_core.pipeline import Compilation, CompileRequest, compile_model
from match_core.plugin.host import Plugins
from match_core.twin.program import run_program
from match_core.twin.run import RunResult
from match_core.verify import reference_outputs
from match_diana.digital_patterns import DIGITAL_PATTERNS
from match_diana.hardware import DIGITAL
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass
class DigitalGraph:
    """Adds nodes with one output each."""

    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(11))
    nodes: list[gs.Node] = field(default_factory=list)
    inputs: list[gs.Variable] = field(default_factory=list)

    def input(self, *shape: int) -> gs.Variable:
        tensor = gs.Variable(f"input{len(self.inputs)}", np.int8, list(shape))
        self.inputs.append(tensor)
        return tensor

    def constant(self, values: object, dtype: type[np.generic] = np.int64) -> gs.Constant:
        return gs.Constant(f"constant{self.random.integers(1 << 60)}", np.asarray(values, dtype))

    def node(
        self, op: str, inputs: Sequence[gs.Tensor], shape: Sequence[int], dtype: type[np.generic], **attributes: object
    ) -> gs.Variable:
        domain, _, plain = op.rpartition("::")
        made = gs.Variable(f"value{len(self.nodes)}", dtype, list(shape))
        node = gs.Node(plain, f"node{len(self.nodes)}", dict(attributes), list(inputs), [made], domain=domain or None)
        self.nodes.append(node)
        return made

    def requant(
        self, sums: gs.Variable, shift: int, bias: object = 0, low: int = -128, high: int = 127, multiplier: int = 1
    ) -> gs.Variable:
        numbers = (multiplier, np.asarray(bias, np.int64) * multiplier, multiplier << shift, low, high)
        return self.node(
            "match.arith::RequantI8", [sums, *(self.constant(values) for values in numbers)], sums.shape, np.int8
        )

    def conv(
        self,
        source: gs.Variable,
        outputs: int,
        kernel: tuple[int, int] = (3, 3),
        stride: int = 1,
        pads: tuple[int, int, int, int] = (1, 1, 1, 1),
        shift: int = 9,
        low: int = -128,
        high: int = 127,
        multiplier: int = 1,
        depthwise: bool = False,
        group: int = 1,
        dilation: int = 1,
        strides: tuple[int, int] | None = None,
        bias: object = None,
    ) -> gs.Variable:
        """A convolution with random weights and biases."""
        _, c, height, width = (int(size) for size in source.shape)
        group = c if depthwise else group
        weight = self.constant(self.random.integers(-128, 128, (outputs, c // group, *kernel)), np.int8)
        down, right = strides or (stride, stride)
        oy = (height + pads[0] + pads[2] - dilation * (kernel[0] - 1) - 1) // down + 1
        ox = (width + pads[1] + pads[3] - dilation * (kernel[1] - 1) - 1) // right + 1
        sums = self.node(
            "ConvInteger",
            [source, weight],
            [1, outputs, oy, ox],
            np.int32,
            kernel_shape=list(kernel),
            strides=[down, right],
            pads=list(pads),
            group=group,
            dilations=[dilation, dilation],
        )
        biases = self.random.integers(-(1 << 13), 1 << 13, (outputs, 1, 1)) if bias is None else bias
        return self.requant(sums, shift, biases, low, high, multiplier)

    def dense(self, source: gs.Variable, outputs: int, shift: int = 9, low: int = -128) -> gs.Variable:
        """A dense layer with random weights and biases."""
        inputs = int(source.shape[-1])
        weight = self.constant(self.random.integers(-128, 128, (inputs, outputs)), np.int8)
        sums = self.node("MatMulInteger", [source, weight], [*source.shape[:-1], outputs], np.int32)
        return self.requant(sums, shift, self.random.integers(-(1 << 13), 1 << 13, outputs), low)

    def add(
        self,
        a: gs.Variable,
        b: gs.Variable,
        shift: int = 1,
        low: int = -128,
        high: int = 127,
        multipliers: tuple[int, int] = (1, 1),
        addend: int = 0,
    ) -> gs.Variable:
        numbers = (*multipliers, addend, multipliers[0] << shift, low, high)
        return self.node(
            "match.arith::AddRequantI8", [a, b, *(self.constant(values) for values in numbers)], a.shape, np.int8
        )

    # ---- what becomes of it ------------------------------------------------------------------------------------

    def graph(self, *outputs: gs.Variable) -> gs.Graph:
        made = gs.Graph(nodes=self.nodes, inputs=self.inputs, outputs=list(outputs), name="net", opset=21)
        ensure_functions(made)
        return made

    def candidates(self, *outputs: gs.Variable) -> Candidates:
        return find_candidates(self.graph(*outputs), [(DIGITAL, DIGITAL_PATTERNS)])

    def matches(self, output: gs.Variable) -> dict[str, Match]:
        """The match of each pattern whose result is ``output``."""
        return {c.pattern.name: c.match for c in self.candidates(output).legal if c.match.output is output}

    def refusals(self, output: gs.Variable, pattern: str) -> list[tuple[str, str]]:
        """(rule, value) of every refusal of a pattern."""
        return [(r.rule, r.value) for r in self.candidates(output).refused if r.pattern == pattern]


@dataclass(frozen=True)
class Deployed:
    """A program that ran on the twin, and what ONNX Runtime makes of its graph."""

    compilation: Compilation
    run: RunResult
    expected: Arrays

    @property
    def patterns(self) -> list[str]:
        return [task.assignment.candidate.pattern.name for task in self.compilation.program.tasks]

    def check(self) -> None:
        for name, values in self.expected.items():
            np.testing.assert_array_equal(self.run.outputs[name], values)


@contextmanager
def only(*names: str) -> Iterator[None]:
    """While it lasts, these patterns are the only ones of the arrays, and sums of two tensors are theirs: of small ones
    the host is cheaper."""
    patterns = {"digital": tuple(p for p in DIGITAL_PATTERNS if p.name in names), "analog": ()}
    others = tuple(operator for operator in OPERATORS if "AddRequant" not in operator.name)
    with (
        mock.patch("match_diana.patterns.PATTERNS", patterns),
        mock.patch("match_core.host.patterns.OPERATORS", others),
    ):
        yield


def compiled(
    graph: gs.Graph,
    plugins: Plugins,
    directory: Path,
    *,
    without: tuple[str, ...] = (),
    memory: tuple[tuple[str, int], ...] = (),
) -> Compilation:
    """The program of a graph that is behind all passes, in ``directory``/program."""
    model = Model("net", graph, "net.onnx", "0" * 64)
    request = CompileRequest(
        directory / "net.onnx", "diana", directory / "program", without_units=without, memory=memory, cache=False
    )
    with (
        mock.patch("match_core.pipeline._load", return_value=model),
        mock.patch("match_core.pipeline._transform", return_value=model),
    ):
        return compile_model(request, plugins).compilation


def deploy(
    graph: gs.Graph,
    plugins: Plugins,
    directory: Path,
    *,
    mode: str = "eager",
    without: tuple[str, ...] = (),
    memory: tuple[tuple[str, int], ...] = (),
    samples: int = 1,
    sanitize: bool = True,
) -> Deployed:
    """Compile a graph that is behind all passes, and run it on random inputs."""
    compilation = compiled(graph, plugins, directory, without=without, memory=memory)
    random = np.random.default_rng(5)
    inputs: Arrays = {
        tensor.name: random.integers(-128, 128, (samples, *tensor.shape)).astype(np.int8) for tensor in graph.inputs
    }
    result = run_program(directory / "program", inputs, plugins, sanitize, mode)
    expected = reference_outputs(compilation.model, inputs, len(next(iter(inputs.values()))))
    return Deployed(compilation, result, expected)
