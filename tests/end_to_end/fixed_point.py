"""Networks that are integer all through: sums and rounding in elementary operators, made with a seed.

``away``: TFLite's two roundings, the second one of halves away from zero; ``up``: one rounding, a floor by Mod;
``toward``: a division of integers, which truncates, as QuantLib's exporter writes it; ``third``: a floor in float64 by
a divisor that is no power of two.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class IntegerWriter:
    """Writes nodes on int64; channels are the axis 1 of images, the last one of rows."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, values: object, dtype: type[np.generic] = np.int64) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def node(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
        return name

    def conv(self, x: str, shape: tuple[int, ...], zero: int, dtype: type[np.generic], **attributes: object) -> str:
        weight = self.constant(self.rng.integers(-127, 128, shape), np.int8)
        return self.node("ConvInteger", x, weight, self.constant(zero, dtype), kernel_shape=shape[2:], **attributes)

    def dense(self, x: str, shape: tuple[int, int], zero: int, dtype: type[np.generic]) -> str:
        weight = self.constant(self.rng.integers(-127, 128, shape), np.int8)
        return self.node("MatMulInteger", x, weight, self.constant(zero, dtype))

    def by_sign(self, x: str, negative: object, positive: object) -> str:
        below = self.node("Less", x, self.constant(0))
        return self.node("Add", x, self.node("Where", below, self.constant(negative), self.constant(positive)))

    def rounded(
        self,
        total: str,
        form: str,
        channels: int,
        shift: int,
        zero: int,
        relu: bool,
        signed: bool = True,
        rank: int = 4,
    ) -> str:
        """Requantisation of sums of about 2^(shift + 7)."""
        tail = (1, channels, 1, 1) if rank == 4 else (channels,)
        total = self.node("Add", total, self.constant(self.rng.integers(-5000, 5000, tail), np.int32))
        to, (low, high) = (TensorProto.INT8, (-128, 127)) if signed else (TensorProto.UINT8, (0, 255))
        x = self.node("Cast", total, to=TensorProto.DOUBLE if form == "third" else TensorProto.INT64)
        if form == "away":
            x = self.node("Mul", x, self.constant(self.rng.integers(1 << 30, (1 << 31) - 1, tail)))
            x = self.node("Div", self.by_sign(x, 1 - (1 << 30), 1 << 30), self.constant(1 << 31))
            shifts = shift - 1 + self.rng.integers(0, 2, tail)
            x = self.node("Div", self.by_sign(x, -(1 << (shifts - 1)), 1 << (shifts - 1)), self.constant(1 << shifts))
        elif form == "up":
            x = self.node("Mul", x, self.constant(self.rng.integers(1 << 30, (1 << 31) - 1)))
            x = self.node("Add", x, self.constant(1 << (shift + 29)))
            divisor = self.constant(1 << (shift + 30))
            x = self.node("Div", self.node("Sub", x, self.node("Mod", x, divisor)), divisor)
        elif form == "toward":
            x = self.node("Mul", x, self.constant(self.rng.integers(50, 99, tail)))
            x = self.node("Div", x, self.constant(64 << shift))
        else:
            x = self.node("Floor", self.node("Div", x, self.constant(3 << (shift - 2), np.float64)))
        kind = np.float64 if form == "third" else np.int64
        if zero:
            x = self.node("Add", x, self.constant(zero, kind))
        ends = (zero if relu else low, high)
        return self.node("Cast", self.node("Clip", x, *(self.constant(end, kind) for end in ends)), to=to)

    def away(self, x: str, factor: int, shift: int) -> str:
        """TFLite's multiplication by factor / 2^(31 + shift)."""
        x = self.node("Mul", x, self.constant(factor))
        x = self.node("Div", self.by_sign(x, 1 - (1 << 30), 1 << 30), self.constant(1 << 31))
        half = 1 << (shift - 1)
        return self.node("Div", self.by_sign(x, -half, half), self.constant(1 << shift))

    def added(self, a: str, b: str, zeros: tuple[int, int, int]) -> str:
        """TFLite's sum of two int8 tensors: both with 20 more bits to a common scale, then to the result's."""
        parts = []
        for x, zero, factor in ((a, zeros[0], 1695498176), (b, zeros[1], 1073741824)):
            wide = self.node("Sub", self.node("Cast", x, to=TensorProto.INT64), self.constant(zero))
            parts.append(self.away(self.node("Mul", wide, self.constant(1 << 20)), factor, 2))
        x = self.node("Add", self.away(self.node("Add", *parts), 1415577600, 14), self.constant(zeros[2]))
        return self.node("Cast", self.node("Clip", x, self.constant(-128), self.constant(127)), to=TensorProto.INT8)

    def save(
        self, path: Path, result: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], types: tuple[int, int]
    ) -> Path:
        self.nodes[-1].output[0] = "y"
        ends = [helper.make_tensor_value_info(n, t, s) for n, t, s in zip("xy", types, shapes, strict=True)]
        graph = helper.make_graph(self.nodes, "integers", ends[:1], ends[1:], self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        return path


def fixed_point_network(path: Path, form: str, relu: bool) -> Path:
    """A 3x3, a depthwise and a 1x1 convolution, and a dense layer on rows."""
    net, clamp = IntegerWriter(seed=7), relu
    zero = -128 if relu else 3
    x = net.conv("x", (16, 8, 3, 3), 5, np.int8, pads=[1, 1, 1, 1])
    x = net.rounded(x, form, 16, 9, zero, clamp)
    x = net.conv(x, (16, 1, 3, 3), zero, np.int8, pads=[1, 1, 1, 1], group=16)
    x = net.rounded(x, form, 16, 8, zero, clamp)
    x = net.conv(x, (24, 16, 1, 1), zero, np.int8, strides=[2, 2])
    x = net.rounded(x, form, 24, 8, zero, clamp)
    x = net.node("Reshape", x, net.constant([1, 24, 16]))
    x = net.node("Transpose", x, perm=[0, 2, 1])
    x = net.rounded(net.dense(x, (24, 32), zero, np.int8), form, 32, 8, zero, clamp, rank=3)
    return net.save(path, x, ((1, 8, 8, 8), (1, 16, 32)), (TensorProto.INT8, TensorProto.INT8))


def residual_network(path: Path) -> Path:
    """Two convolutions whose results are added."""
    net = IntegerWriter(seed=9)
    first = net.rounded(net.conv("x", (16, 8, 3, 3), 5, np.int8, pads=[1, 1, 1, 1]), "away", 16, 9, -128, True)
    second = net.rounded(net.conv(first, (16, 16, 1, 1), -128, np.int8), "up", 16, 8, 4, False)
    x = net.added(first, second, (-128, 4, -20))
    return net.save(path, x, ((1, 8, 8, 8), (1, 16, 8, 8)), (TensorProto.INT8, TensorProto.INT8))
