"""Small 8-bit networks (QDQ) with fixed numbers, for a package's capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from match_kit.testing.capabilities import SampleModel

if TYPE_CHECKING:
    import onnx
    from match_core.contract.passes import Precision
    from numpy.typing import NDArray

#: The scale of each stage's output, chosen so that values use their whole range.
_INPUT_SCALE, _WEIGHT_SCALE = 0.05, 0.01


class Network:
    """Builds a network stage by stage; every tensor between stages is int8 with a zero point of -128 (as uint8 with 0)
    or of 0."""

    def __init__(self, shape: Sequence[int], zero: int = -128) -> None:
        self._random = np.random.default_rng(11)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._input = tuple(shape)
        self._zero = zero
        self.tensor, self.scale, self.shape = "input", _INPUT_SCALE, tuple(shape)

    def dense(self, outputs: int) -> Network:
        """A dense layer with bias and ReLU."""
        inputs = self.shape[-1]
        product = self._weighted("Gemm", (outputs, inputs), {"transB": 1})
        return self._quantised(self._node("Relu", [product]), self._after(inputs), (*self.shape[:-1], outputs))

    def conv(
        self, outputs: int, kernel: int = 3, stride: int = 1, *, depthwise: bool = False, ternary: bool = False
    ) -> Network:
        """A convolution with bias and ReLU, padded to keep the size. ``ternary``: weights are -1, 0 or 1 times their
        scale."""
        _, channels, height, width = self.shape
        inner, pad = (1 if depthwise else channels), kernel // 2
        attributes = {
            "kernel_shape": [kernel] * 2,
            "strides": [stride] * 2,
            "pads": [pad] * 4,
            "group": channels if depthwise else 1,
        }
        taps = inner * kernel * kernel
        product = self._weighted("Conv", (outputs, inner, kernel, kernel), attributes, 1 if ternary else 127)
        sizes = ((size + 2 * pad - kernel) // stride + 1 for size in (height, width))
        return self._quantised(self._node("Relu", [product]), self._after(taps), (1, outputs, *sizes))

    def add(self, other: Network) -> Network:
        """The sum with the result of another stage of the same network."""
        total = self._node("Add", [self._dequantised(), other._dequantised()])
        return self._quantised(total, self.scale + other.scale, self.shape)

    def pool(self, kind: Literal["MaxPool", "AveragePool"], kernel: int = 2) -> Network:
        """Pooling."""
        result = self._node(kind, [self._dequantised()], kernel_shape=[kernel] * 2, strides=[kernel] * 2)
        sizes = (size // kernel for size in self.shape[2:])
        return self._quantised(result, self.scale, (*self.shape[:2], *sizes))

    def flat(self) -> Network:
        """All values in one row."""
        count = int(np.prod(self.shape))
        result = self._node("Flatten", [self._dequantised()])
        return self._quantised(result, self.scale, (1, count))

    def branch(self) -> Network:
        """This stage of the network, as the start of a branch."""
        other = object.__new__(Network)
        other.__dict__.update(self.__dict__)
        return other

    def model(self, name: str) -> onnx.ModelProto:
        """The finished network."""
        import onnx
        from onnx import TensorProto, helper

        ends = [
            helper.make_tensor_value_info(tensor, TensorProto.INT8, shape)
            for tensor, shape in (("input", self._input), (self.tensor, self.shape))
        ]
        graph = helper.make_graph(self._nodes, name, ends[:1], ends[1:], self._constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        return model

    def _after(self, terms: int) -> float:
        return float(np.float32(self.scale * _WEIGHT_SCALE * 73 * 73 * np.sqrt(terms) / 60))

    def _constant(self, values: NDArray[np.generic]) -> str:
        from onnx import numpy_helper

        name = f"c{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(values, name))
        return name

    def _node(self, op: str, inputs: list[str], **attributes: Any) -> str:
        from onnx import helper

        name = f"{op.lower()}{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, inputs, [f"{name}_y"], name=name, **attributes))
        return f"{name}_y"

    def _scaled(self, op: str, tensor: str, scale: float | NDArray[np.float32], zero: NDArray[np.generic]) -> str:
        per_channel: dict[str, Any] = {"axis": 0} if np.ndim(scale) else {}
        constants = [self._constant(np.asarray(scale, np.float32)), self._constant(zero)]
        return self._node(op, [tensor, *constants], **per_channel)

    def _dequantised(self) -> str:
        return self._scaled("DequantizeLinear", self.tensor, self.scale, np.array(self._zero, np.int8))

    def _quantised(self, tensor: str, scale: float, shape: tuple[int, ...]) -> Network:
        self.tensor = self._scaled("QuantizeLinear", tensor, scale, np.array(self._zero, np.int8))
        self.scale, self.shape = float(np.float32(scale)), tuple(shape)
        return self

    def _weighted(self, op: str, shape: tuple[int, ...], attributes: dict[str, Any], most: int = 127) -> str:
        outputs = shape[0]
        scales = self._random.uniform(0.5, 1.5, outputs).astype(np.float32) * np.float32(_WEIGHT_SCALE)
        weight = self._random.integers(-most, most + 1, shape).astype(np.int8)
        scales = (scales * np.float32(127 / most)).astype(np.float32)
        bias = self._random.integers(-3000, 3000, outputs).astype(np.int32)
        real = [
            self._scaled("DequantizeLinear", self._constant(weight), scales, np.zeros(outputs, np.int8)),
            self._scaled(
                "DequantizeLinear",
                self._constant(bias),
                (scales * np.float32(self.scale)).astype(np.float32),
                np.zeros(outputs, np.int32),
            ),
        ]
        return self._node(op, [self._dequantised(), *real], **attributes)


def dense(
    name: str,
    sizes: Sequence[int],
    rows: int = 1,
    *,
    zero: int = -128,
    runs: bool = True,
    precision: Precision = "exact",
) -> SampleModel:
    """A chain of dense layers: ``sizes`` of the input and of each layer's output."""

    def make() -> onnx.ModelProto:
        network = Network((rows, sizes[0]), zero)
        for size in sizes[1:]:
            network.dense(size)
        return network.model(name)

    return SampleModel(name, make, runs, precision)


def image(
    name: str,
    channels: int = 8,
    size: int = 8,
    *,
    classes: int = 10,
    zero: int = -128,
    runs: bool = True,
    precision: Precision = "exact",
) -> SampleModel:
    """Convolutions of an image (3x3, depthwise, 1x1 with a residual sum), both poolings, a dense layer."""

    def make() -> onnx.ModelProto:
        network = Network((1, 3, size, size), zero).conv(channels)
        around = network.branch()
        network.conv(channels, depthwise=True).conv(channels, kernel=1).add(around)
        return network.pool("MaxPool").pool("AveragePool").flat().dense(classes).model(name)

    return SampleModel(name, make, runs, precision)


def ternary(name: str, channels: int = 64, size: int = 8, *, layers: int = 3, classes: int = 10) -> SampleModel:
    """An 8-bit convolution of an image, convolutions whose weights are -1, 0 or 1 times a scale, a dense layer; zero
    points are 0."""

    def make() -> onnx.ModelProto:
        network = Network((1, 3, size, size), 0).conv(channels)
        for _ in range(layers):
            network.conv(channels, ternary=True)
        return network.pool("AveragePool", size).flat().dense(classes).model(name)

    return SampleModel(name, make)


def float_dense(name: str, sizes: Sequence[int], rows: int = 1) -> SampleModel:
    """A chain of dense layers in float32, with ReLU between them: ``sizes`` of the input and of each layer's output."""

    def make() -> onnx.ModelProto:
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        random = np.random.default_rng(11)
        nodes, constants, tensor = [], [], "input"
        for number, (inputs, outputs) in enumerate(pairwise(sizes)):
            weight = (random.standard_normal((inputs, outputs)) / np.sqrt(inputs)).astype(np.float32)
            bias = random.standard_normal(outputs).astype(np.float32)
            constants += [numpy_helper.from_array(weight, f"w{number}"), numpy_helper.from_array(bias, f"b{number}")]
            operands = [tensor, f"w{number}", f"b{number}"]
            nodes.append(helper.make_node("Gemm", operands, [f"d{number}"], name=f"dense{number}"))
            tensor = f"d{number}"
            if number < len(sizes) - 2:
                nodes.append(helper.make_node("Relu", [tensor], [f"r{number}"], name=f"relu{number}"))
                tensor = f"r{number}"
        ends = [
            helper.make_tensor_value_info(end, TensorProto.FLOAT, (rows, size))
            for end, size in (("input", sizes[0]), (tensor, sizes[-1]))
        ]
        graph = helper.make_graph(nodes, name, ends[:1], ends[1:], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        return model

    return SampleModel(name, make)


def half_image(name: str, channels: int = 8, size: int = 8, *, classes: int = 10) -> SampleModel:
    """A convolution, a mean and a dense layer in float16."""

    def make() -> onnx.ModelProto:
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        random = np.random.default_rng(11)
        shapes = {"w": (channels, 3, 3, 3), "v": (classes, channels), "b": (classes,)}
        constants = [
            numpy_helper.from_array((random.standard_normal(shape) * 0.2).astype(np.float16), key)
            for key, shape in shapes.items()
        ]
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["c"], name="conv", kernel_shape=[3, 3], pads=[1] * 4),
            helper.make_node("Relu", ["c"], ["r"], name="relu"),
            helper.make_node("GlobalAveragePool", ["r"], ["m"], name="mean"),
            helper.make_node("Flatten", ["m"], ["f"], name="flat"),
            helper.make_node("Gemm", ["f", "v", "b"], ["y"], name="dense", transB=1),
        ]
        ends = [
            helper.make_tensor_value_info(key, TensorProto.FLOAT16, shape)
            for key, shape in (("x", (1, 3, size, size)), ("y", (1, classes)))
        ]
        graph = helper.make_graph(nodes, name, ends[:1], ends[1:], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        return model

    return SampleModel(name, make)


def default() -> tuple[SampleModel, ...]:
    """Models for packages that name none of their own."""
    return (image("image"), dense("dense", (64, 32, 10)))
