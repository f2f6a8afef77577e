"""Quantised networks of the kinds of layers that the arrays of target ``diana`` take, and of those that they refuse.

As in ``residual``, the float network runs on seeded samples while a model is built, and scales cover what occurs: the
scales are arbitrary real numbers and zero points are not 0, as exporters write them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from match_core.contract.compilation import Compilation
from match_core.contract.runner import RunResult
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.build import build
from match_core.run.compiled_program import read_manifest, units_of_program
from match_core.run.compiler import BuildOptions
from match_core.run.execute import run_twin
from match_verify.verify import reference_of_file, reference_outputs
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from tests.end_to_end.residual import Activation, CalibratedBuilder, Floats

Arrays = dict[str, NDArray[np.generic]]
MODES = ("eager", "lazy")
#: Bounds of float outputs, as share of the largest value: exponentials of C and of ONNX Runtime differ in last bits.
FLOAT_BOUND = 1e-4
#: Weights nearer to 0 than this become 0 where they are to be ternary: about half of them.
TERNARY_THRESHOLD = np.float32(0.67)
ACTIVATION_SCALE = np.float32(2**-5)
#: Top, left, bottom, right, as ONNX orders them.
Pads = tuple[int, int, int, int]


class DianaBuilder(CalibratedBuilder):
    """Also has padding that is not the same on all sides, groups, sums without ReLU, pooling and chains of dense
    layers; a model may have several outputs."""

    def __init__(self, seed: int, shape: tuple[int, int, int], zero_point: int = 0) -> None:
        super().__init__(seed, shape)
        self.input = Activation("input", np.float32(3 / 127), zero_point, self.input.values)

    def layer(
        self,
        source: Activation,
        channels: int,
        kernel: tuple[int, int] = (3, 3),
        stride: int = 1,
        pads: Pads | None = None,
        group: int = 1,
        relu: bool = False,
        ternary: bool = False,
    ) -> Activation:
        """Convolution; ``pads`` None: half the kernel on all sides. ``ternary``: weights are -a, 0 or a."""
        pads = pads or (kernel[0] // 2, kernel[1] // 2, kernel[0] // 2, kernel[1] // 2)
        per_group = source.values.shape[1] // group
        weight = self._normal((channels, per_group, *kernel))
        if ternary:
            weight = np.sign(weight) * (np.abs(weight) > TERNARY_THRESHOLD)
        sums = grouped(source.values, weight, stride, pads, group)
        deviation = _rounded(sums.astype(np.float64).std(axis=(0, 2, 3))) + np.float32(1e-3)
        weight = weight / deviation[:, None, None, None]
        bias = -_rounded(sums.astype(np.float64).mean(axis=(0, 2, 3))) / deviation
        label = f"conv{len(self.nodes)}"
        inputs = [self._dequantize(source), *self._parameters(label, weight, bias, source.scale)]
        numbers = {"kernel_shape": list(kernel), "strides": [stride] * 2, "pads": list(pads), "group": group}
        self._append("Conv", inputs, label, **numbers)
        return self._finish(label, sums / deviation[:, None, None] + bias[:, None, None], relu)

    def sum(self, left: Activation, right: Activation, relu: bool = False) -> Activation:
        """Sum of two tensors."""
        label = f"add{len(self.nodes)}"
        self._append("Add", [self._dequantize(left), self._dequantize(right)], label)
        return self._finish(label, left.values + right.values, relu)

    def pool(self, source: Activation, kernel: int, stride: int) -> Activation:
        """Average of windows, with a scale of its own."""
        label = f"pool{len(self.nodes)}"
        sizes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2}
        self._append("AveragePool", [self._dequantize(source)], label, **sizes)
        return self._quantize(
            label, _rounded(windows(source.values.astype(np.float64), kernel, kernel, stride).mean(axis=(4, 5)))
        )

    def flat(self, source: Activation) -> Activation:
        """All values of a sample in a row."""
        label = f"flat{len(self.nodes)}"
        self._append("Flatten", [self._dequantize(source)], label)
        return self._quantize(label, source.values.reshape(len(source.values), -1, 1, 1))

    def dense(self, source: Activation, features: int, relu: bool = False) -> Activation:
        """Dense layer behind ``flat``; values are kept as [samples, features, 1, 1]."""
        weight = self._normal((features, source.values.shape[1])) / np.float32(np.sqrt(source.values.shape[1]))
        bias = self._normal((features,)) / 4
        label = f"dense{len(self.nodes)}"
        inputs = [self._dequantize(source), *self._parameters(label, weight, bias, source.scale)]
        self._append("Gemm", inputs, label, transB=1)
        sums = (
            np.einsum("kc,ncyx->nkyx", weight.astype(np.float64), source.values.astype(np.float64))
            + bias[:, None, None]
        )
        return self._finish(label, sums.astype(np.float32), relu)

    def save_all(self, path: Path, *outputs: Activation) -> Path:
        """Write the model with these outputs and return its path."""
        shapes = [[1, *output.values.shape[1:]] for output in outputs]
        ends = [
            helper.make_tensor_value_info(output.name, TensorProto.INT8, shape[:2] if "dense" in output.name else shape)
            for output, shape in zip(outputs, shapes, strict=True)
        ]
        graph = helper.make_graph(
            self.nodes,
            path.stem,
            [helper.make_tensor_value_info("input", TensorProto.INT8, [1, *self.shape])],
            ends,
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return path


class PowersBuilder(DianaBuilder):
    """Scales are powers of two, those of all activations equal, and zero points 0: what the digital array computes
    without any change."""

    def __init__(self, seed: int, shape: tuple[int, int, int]) -> None:
        super().__init__(seed, shape)
        self.input = replace(self.input, scale=ACTIVATION_SCALE)

    def _parameters(self, label: str, weight: Floats, bias: Floats, scale: np.float32) -> tuple[str, str]:
        step = np.float32(2.0 ** np.ceil(np.log2(np.abs(weight).max() / 127)))
        tensors = (("w", weight, step, np.int8), ("b", bias, step * scale, np.int32))
        for kind, values, size, dtype in tensors:
            name = f"{label}_{kind}"
            stored = self._const(name, np.rint(values / size).astype(dtype))
            sizes = [self._const(f"{name}_s", np.float32(size)), self._const(f"{name}_z", dtype(0))]
            self._append("DequantizeLinear", [stored, *sizes], f"{name}_f")
        return f"{label}_w_f", f"{label}_b_f"

    def _quantize(self, tensor: str, values: Floats) -> Activation:
        out = f"{tensor}_q"
        inputs = [tensor, self._const(f"{out}_s", ACTIVATION_SCALE), self._const(f"{out}_z", np.int8(0))]
        self._append("QuantizeLinear", inputs, out)
        return Activation(out, ACTIVATION_SCALE, 0, values)


def windows(values: Floats, height: int, width: int, stride: int) -> Floats:
    """[samples, channels, rows, columns, height, width]."""
    found = np.lib.stride_tricks.sliding_window_view(values, (height, width), axis=(2, 3))
    return found[:, :, ::stride, ::stride]


def grouped(values: Floats, weight: Floats, stride: int, pads: Pads, group: int) -> Floats:
    """Float convolution in groups of channels."""
    padded = np.pad(values, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    picked = windows(padded, weight.shape[2], weight.shape[3], stride)
    parts = zip(np.split(picked, group, axis=1), np.split(weight, group), strict=True)
    sums = [
        np.einsum("nchwij,kcij->nkhw", part.astype(np.float64), own.astype(np.float64), optimize=True)
        for part, own in parts
    ]
    return np.concatenate(sums, axis=1).astype(np.float32)


def convolutions(path: Path) -> Path:
    """Kernels of 1, 3, 5 and 7, strides, rectangles, widths that are no multiples of 4, and 5 channels."""
    b = DianaBuilder(1, (5, 13, 11), zero_point=-7)
    x = b.layer(b.input, 20, relu=True)
    outputs = [
        b.layer(x, 16, (1, 1)),
        b.layer(x, 33, (5, 5), stride=2, relu=True),
        b.layer(x, 8, (7, 3)),
        b.layer(x, 24, (1, 1), stride=2),
        b.layer(b.layer(x, 17, stride=2), 3, relu=True),
    ]
    return b.save_all(path, *outputs)


def paddings(path: Path) -> Path:
    """Padding at one side only, at none, and more than half of the kernel."""
    b = DianaBuilder(2, (3, 16, 18))
    x = b.layer(b.input, 16, (3, 3), stride=2, pads=(0, 0, 1, 1), relu=True)
    outputs = [
        b.layer(x, 16, (3, 3), pads=(1, 0, 1, 2)),
        b.layer(x, 16, (3, 3), pads=(0, 0, 0, 0), relu=True),
        b.layer(x, 16, (3, 3), pads=(2, 2, 2, 2)),
        b.layer(x, 16, (5, 5), stride=2, pads=(1, 1, 2, 2)),
        b.layer(x, 16, (2, 2), pads=(0, 0, 1, 1)),
        b.layer(x, 16, (3, 3), stride=2, group=16, pads=(0, 0, 1, 1)),
    ]
    return b.save_all(path, *outputs)


def sums(path: Path) -> Path:
    """Residual blocks: with and without ReLU, with a shortcut that is a convolution, and a tensor added to itself."""
    b = DianaBuilder(3, (3, 12, 10), zero_point=12)
    x = b.layer(b.input, 16, relu=True)
    y = b.sum(b.layer(b.layer(x, 16, relu=True), 16), x, relu=True)
    z = b.sum(b.layer(y, 32, stride=2), b.layer(y, 32, (1, 1), stride=2))
    twice = b.sum(z, z)
    return b.save_all(path, b.layer(b.sum(twice, b.layer(z, 32), relu=True), 8, (1, 1)), twice)


def depthwise(path: Path) -> Path:
    """Blocks of MobileNet, two of them with channels that are no multiple of 16, and a layer of two groups."""
    b = DianaBuilder(4, (3, 15, 17), zero_point=-128)
    x = b.layer(b.input, 24, stride=2, relu=True)
    x = b.layer(b.layer(x, 24, group=24, relu=True), 32, (1, 1), relu=True)
    x = b.layer(b.layer(x, 32, (5, 5), group=32, stride=2, relu=True), 10, (1, 1))
    return b.save_all(path, b.layer(x, 10, group=10, relu=True), b.layer(x, 12, group=2))


def classifier(path: Path) -> Path:
    """Pooling of windows and of the whole, then a chain of dense layers with widths that are no multiples of 16."""
    b = DianaBuilder(5, (2, 10, 9))
    x = b.pool(b.layer(b.input, 18, relu=True), 3, 2)
    x = b.pool(b.layer(x, 35, relu=True), 4, 4)
    for features in (70, 33):
        x = b.dense(b.flat(x) if x.name.startswith("pool") else x, features, relu=True)
    return b.save_all(path, b.dense(x, 10))


def powers(path: Path) -> Path:
    """A residual block, a depthwise layer and a dense one with powers of two for scales."""
    b = PowersBuilder(6, (16, 10, 12))
    x = b.layer(b.input, 16, relu=True)
    x = b.layer(b.sum(b.layer(x, 16), x), 16, group=16, stride=2)
    return b.save_all(path, b.dense(b.flat(x), 10), x)


def inputs_like(model: Path, samples: int, seed: int = 77) -> Arrays:
    """Inputs of the spread that a model of this module was calibrated for."""
    graph = onnx.load(model).graph
    (entry,) = graph.input
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    reader = next(node for node in graph.node if entry.name in node.input)
    scale, zero_point = (constants[name] for name in reader.input[1:])
    shape = (samples, *(size.dim_value for size in entry.type.tensor_type.shape.dim))
    values = np.random.default_rng(seed).standard_normal(shape) / scale + zero_point
    return {entry.name: np.clip(np.rint(values), -128, 127).astype(np.int8)}


@dataclass(frozen=True)
class Program:
    """A compiled program, its twin, and inputs with what the integer graph and the original make of them."""

    compilation: Compilation
    document: dict[str, Any]
    twin: Path
    inputs: Arrays
    expected: Arrays
    original: Arrays

    @property
    def patterns(self) -> set[str]:
        """Patterns of the layers."""
        return {task.assignment.candidate.pattern.name for task in self.compilation.program.tasks}

    def run(self, mode: str = "eager") -> RunResult:
        """All samples on the twin."""
        return run_twin(self.twin, self.document, self.inputs, self.twin.parent, mode)

    def different(self, run: RunResult) -> dict[str, int]:
        """How many values of which outputs are not those of the integer graph; no entry where all are."""
        counts = {name: _count_different(run.outputs[name], values) for name, values in self.expected.items()}
        return {name: count for name, count in counts.items() if count}

    def mean_lsb(self) -> dict[str, float]:
        """Mean distance of the integer graph's outputs to those of the original model."""
        pairs = {name: (values.astype(np.float64), self.original[name]) for name, values in self.expected.items()}
        return {name: float(np.abs(ours - theirs).mean()) for name, (ours, theirs) in pairs.items()}


def _count_different(got: NDArray[Any], expected: NDArray[Any]) -> int:
    if got.dtype.kind != "f":
        return int(np.count_nonzero(got != expected))
    return int(np.count_nonzero(np.abs(got - expected) > FLOAT_BOUND * np.abs(expected).max()))


def compiled(
    model: Path, folder: Path, plugins: Plugins, samples: int = 2, sanitize: bool = True, **options: Any
) -> Program:
    """The model as a program for ``diana`` in ``folder``, built once for all its runs."""
    directory = folder / "program"
    compilation = compile_model(CompileRequest(model, "diana", directory, cache=False, **options), plugins).compilation
    inputs = inputs_like(model, samples)
    document = read_manifest(directory)
    host, apis = units_of_program(document, plugins)
    twin = build(directory, folder / "twin", apis, host, BuildOptions(sanitize=sanitize))
    expected = reference_outputs(compilation.model, inputs, samples)
    return Program(compilation, document, twin, inputs, expected, reference_of_file(model, inputs, samples))


def check(program: Program) -> set[str]:
    """Assert that the program gives the integer graph's values in both modes; the units that took cycles."""
    runs = {mode: program.run(mode) for mode in MODES}
    assert {mode: program.different(run) for mode, run in runs.items()} == {mode: {} for mode in MODES}
    assert runs["lazy"].cycles_total == runs["eager"].cycles_total
    return {node.unit for node in runs["eager"].nodes if node.cycles}


@dataclass(frozen=True)
class Step:
    """One step of a random network: ``kind`` of layer, and numbers that it uses where they are legal."""

    kind: str
    channels: int
    kernel: tuple[int, int]
    stride: int
    pads: Pads
    relu: bool


def network(path: Path, seed: int, shape: tuple[int, int, int], zero_point: int, steps: Sequence[Step]) -> Path:
    """Steps one after another; sums join a step's input and result, pools and strides stop at small pictures."""
    b = DianaBuilder(seed, shape, zero_point)
    x = b.layer(b.input, 8, (1, 1), relu=True)
    for step in steps:
        x = _step(b, x, step)
    return b.save_all(path, b.dense(b.flat(x), 5) if steps[-1].relu else x)


def _step(b: DianaBuilder, x: Activation, step: Step) -> Activation:
    channels, height, width = x.values.shape[1:]
    if step.kind == "sum":
        rows, columns = step.kernel
        same = ((rows - 1) // 2, (columns - 1) // 2, rows // 2, columns // 2)
        return b.sum(b.layer(x, channels, step.kernel, pads=same, relu=step.relu), x, relu=not step.relu)
    if step.kind == "pool" and min(height, width) >= 3:
        return b.pool(x, 2, step.stride)
    pads = tuple(min(pad, step.kernel[axis % 2] - 1) for axis, pad in enumerate(step.pads))
    top, left, bottom, right = pads
    fits = height + top + bottom >= step.kernel[0] and width + left + right >= step.kernel[1]
    kernel, pads = (step.kernel, (top, left, bottom, right)) if fits else ((1, 1), (0, 0, 0, 0))
    if step.kind == "depthwise":
        return b.layer(x, channels, kernel, step.stride, pads, group=channels, relu=step.relu)
    return b.layer(x, step.channels, kernel, step.stride, pads, relu=step.relu, ternary=step.kind == "ternary")


def readable(path: Path) -> Path:
    """A picture's layer, three with ternary weights, a residual sum, pooling on the host: something of each unit."""
    b = DianaBuilder(36, (3, 16, 16))
    x = b.layer(b.input, 64, relu=True)
    x = b.sum(b.layer(b.layer(x, 64, relu=True, ternary=True), 64, ternary=True), x)
    return b.save_all(path, b.pool(b.layer(x, 32, stride=2, ternary=True), 8, 8))


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Sums of many numbers are made in float64: in float32 their last bits differ from machine to machine."""
    return np.asarray(values, np.float32)
