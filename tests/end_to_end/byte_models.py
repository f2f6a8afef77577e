"""Small networks around one operator on bytes, quantised as ONNX Runtime's ``quantize_static`` writes them (QDQ).

Weights and calibration are seeded. A convolution comes before the operator and one after it, so that it works on inner
tensors in the layout of the convolutions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from tests.graph_parts import GraphParts

CHANNELS, SIDE = 16, 12


class FloatNetwork(GraphParts):
    """A float graph with input ``x`` that is built node by node."""

    def op(self, op: str, *inputs: str, outputs: int = 1, **attrs: object) -> list[str]:
        """The names of a new node's outputs."""
        name = f"{op.lower()}{len(self.nodes)}"
        names = [f"{name}_{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=name, **attrs))
        return names

    def one(self, op: str, *inputs: str, **attrs: object) -> str:
        """The name of a new node's output."""
        return self.op(op, *inputs, **attrs)[0]

    def conv(self, x: str, inputs: int, outputs: int, kernel: int = 1, group: int = 1) -> str:
        """A convolution with bias and padding that keeps the size."""
        shape = (outputs, inputs // group, kernel, kernel)
        weight = self.constant(self.random.standard_normal(shape) / np.sqrt(np.prod(shape[1:])))
        bias = self.constant(0.1 * self.random.standard_normal(outputs))
        return self.one("Conv", x, weight, bias, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4, group=group)

    def dense(self, x: str, inputs: int, outputs: int) -> str:
        """A product with a constant matrix and a sum with a constant row."""
        weight = self.constant(self.random.standard_normal((inputs, outputs)) / np.sqrt(inputs))
        return self.one("Add", self.one("MatMul", x, weight), self.constant(self.random.standard_normal(outputs)))

    def quantised(self, path: Path, shape: Sequence[int], y: str) -> Path:
        """The int8 QDQ model in a file."""
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

        samples = [self.random.standard_normal(shape).astype(np.float32) for _ in range(3)]

        class Reader(CalibrationDataReader):
            def __init__(self) -> None:
                self.left = list(samples)

            def get_next(self) -> dict[str, NDArray[np.float32]] | None:
                return {"x": self.left.pop()} if self.left else None

        graph = helper.make_graph(
            self.nodes,
            "bytes",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
            [helper.make_tensor_value_info(y, TensorProto.FLOAT, None)],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        float_path = path.with_suffix(".float.onnx")
        onnx.save(model, float_path)
        logger, level = logging.getLogger(), logging.getLogger().level
        logger.setLevel(logging.ERROR)  # advice on preprocessing
        try:
            quantize_static(
                str(float_path),
                str(path),
                Reader(),
                quant_format=QuantFormat.QDQ,
                activation_type=QuantType.QInt8,
                weight_type=QuantType.QInt8,
            )
        finally:
            logger.setLevel(level)
        return path

    def named(self, *ops: str) -> tuple[str, ...]:
        """The names of the nodes of these operators."""
        return tuple(node.name for node in self.nodes if node.op_type in ops)


def silu(net: FloatNetwork, x: str) -> str:
    """x * sigmoid(x)."""
    return net.one("Mul", x, net.one("Sigmoid", x))


def gelu(net: FloatNetwork, x: str) -> str:
    """x * (erf(x / sqrt(2)) + 1) / 2, as exporters write it."""
    erf = net.one("Erf", net.one("Div", x, net.constant(np.sqrt(2))))
    return net.one("Mul", net.one("Mul", x, net.one("Add", erf, net.constant(1))), net.constant(0.5))


def excite(net: FloatNetwork, x: str, channels: int) -> str:
    """Squeeze and excite: the tensor times a factor per channel."""
    small = net.one("Relu", net.conv(net.one("GlobalAveragePool", x), channels, 8))
    return net.one("Mul", x, net.one("HardSigmoid", net.conv(small, 8, channels), alpha=1 / 6, beta=0.5))


def _functions(net: FloatNetwork, x: str) -> tuple[str, int]:
    plain: tuple[tuple[str, dict[str, float]], ...] = (
        ("HardSwish", {}),
        ("Sigmoid", {}),
        ("Tanh", {}),
        ("LeakyRelu", {"alpha": 0.1}),
    )
    for op, attrs in plain:
        x = net.conv(net.one(op, x, **attrs), CHANNELS, CHANNELS)
    x = net.conv(silu(net, x), CHANNELS, CHANNELS)
    return gelu(net, x), CHANNELS


def _products(net: FloatNetwork, x: str) -> tuple[str, int]:
    x = excite(net, x, CHANNELS)
    x = net.one("Mul", net.conv(x, CHANNELS, CHANNELS), net.one("Tanh", x))
    return net.one("Mul", net.one("Sigmoid", net.conv(x, CHANNELS, 1)), x), CHANNELS


def _moves(net: FloatNetwork, x: str) -> tuple[str, int]:
    scales = net.constant([1, 1, 2, 3])
    attrs = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    x = net.one("Resize", x, "", scales, **attrs)  # 24 x 36
    bounds = [net.constant(values, np.int64) for values in ([1, 2, 3], [13, 24, 35], [1, 2, 3], [1, 2, 1])]
    x = net.conv(net.one("Slice", x, *bounds), 12, CHANNELS)  # 11 x 32
    first, second = net.op("Split", x, net.constant([4, 12], np.int64), outputs=2, axis=1)
    x = net.one("Pad", second, net.constant([0, 2, 1, 0, 0, 2, 2, 3], np.int64), net.constant(0.25))
    y = net.one("Pad", net.one("Tanh", first), net.constant([0, 0, 1, 0, 0, 0, 2, 3], np.int64))
    return net.one("Add", net.conv(x, CHANNELS, CHANNELS), net.conv(y, 4, CHANNELS)), CHANNELS


def _concats(net: FloatNetwork, x: str) -> tuple[str, int]:
    width = CHANNELS
    for count in (2, 3, 4):
        others = [net.conv(x, width, 4 + number) for number in range(count - 1)]
        x = net.one("Concat", x, *others, axis=1)
        width += sum(4 + number for number in range(count - 1))
    return net.one("Concat", x, net.one("Sigmoid", x), axis=2), width


#: Name -> what is between two convolutions, the operators in question, and the patterns that run them.
CASES: Mapping[str, tuple[Callable[[FloatNetwork, str], tuple[str, int]], tuple[str, ...], tuple[str, ...]]] = {
    "functions": (_functions, ("HardSwish", "Sigmoid", "Tanh", "LeakyRelu", "Erf", "Mul"), ("lut",)),
    "products": (_products, ("Mul", "Tanh"), ("product_wide", "lut")),
    "moves": (_moves, ("Resize", "Slice", "Split", "Pad"), ("move", "pad", "repeat")),
    "concats": (_concats, ("Concat",), ("concat_two", "concat_three", "concat_four")),
}


def save(case: str, path: Path) -> tuple[Path, tuple[str, ...]]:
    """The model of a case, and the names of the nodes in question."""
    net = FloatNetwork(len(case))
    y, channels = CASES[case][0](net, net.conv("x", 3, CHANNELS, 3))
    model = net.quantised(path, (1, 3, SIDE, SIDE), net.conv(y, channels, 8))
    return model, net.named(*CASES[case][1])


def save_perceptron(path: Path) -> tuple[Path, tuple[str, ...]]:
    """Dense layers with GELU between them, on rows."""
    net = FloatNetwork(40)
    y = gelu(net, net.dense("x", 48, 96))
    return net.quantised(path, (20, 48), net.dense(y, 96, 32)), net.named("Erf", "Add")


def save_mobile_block(path: Path) -> tuple[Path, tuple[str, ...]]:
    """A block of MobileNetV3: expansion, depthwise convolution, squeeze and excite, projection, residual sum."""
    net, wide = FloatNetwork(41), 3 * CHANNELS
    x = net.one("HardSwish", net.conv("x", 3, CHANNELS, 3))
    y = net.one("HardSwish", net.conv(x, CHANNELS, wide))
    y = net.one("HardSwish", net.conv(y, wide, wide, 3, group=wide))
    y = net.one("Add", x, net.conv(excite(net, y, wide), wide, CHANNELS))
    return net.quantised(path, (1, 3, SIDE, SIDE), net.conv(y, CHANNELS, 8)), net.named("HardSwish", "Mul")
