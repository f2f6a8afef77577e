"""Small integer graphs as they are behind all passes, and a way from such a graph to a run on the twin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import onnx_graphsurgeon as gs
from match_core.contract.compilation import Compilation
from match_core.contract.model import Model
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_diana.digital.patterns import DIGITAL_PATTERNS
from match_diana.hardware import DIGITAL
from match_host.operators import OPERATORS
from match_verify.verify import reference_outputs

from tests.integer_graph import Arrays, Deployed, IntegerGraph


class DigitalGraph(IntegerGraph):
    """Graphs for the patterns of the array."""

    units = ((DIGITAL, DIGITAL_PATTERNS),)

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


@contextmanager
def only(*names: str) -> Iterator[None]:
    """While it lasts, these patterns are the only ones of the arrays, and sums of two tensors are theirs: of small ones
    the host is cheaper."""
    patterns = {"digital": tuple(p for p in DIGITAL_PATTERNS if p.name in names), "analog": ()}
    others = tuple(operator for operator in OPERATORS if "AddRequant" not in operator.name)
    with (
        mock.patch("match_diana.patterns.PATTERNS", patterns),
        mock.patch("match_host.patterns.OPERATORS", others),
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
        mock.patch("match_core.pipeline.transform", return_value=model),
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
