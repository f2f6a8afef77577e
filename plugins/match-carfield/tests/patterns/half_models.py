"""Small float16 models as exporters write them, from fixed seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class HalfModel:
    """Adds nodes one after another; ``current`` is the last result."""

    def __init__(self, seed: int, *shape: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shape = self.input_shape = list(shape)
        self.current, self.count = "input", 0

    def weights(self, *shape: int, spread: float = 1.0, around: float = 0.0) -> str:
        """The name of a new constant."""
        values = (around + spread * self.random.standard_normal(shape)).astype(np.float16)
        return self.keep(values)

    def keep(self, values: object) -> str:
        self.count += 1
        self.constants.append(numpy_helper.from_array(np.asarray(values), f"c{self.count}"))
        return f"c{self.count}"

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        self.count += 1
        self.current = f"t{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [self.current], name=f"n{self.count}", **attributes))
        return self.current

    def conv(
        self, channels: int, kernel: int, *, stride: int = 1, group: int = 1, normalised: bool = False
    ) -> HalfModel:
        inputs = self.shape[1] // group
        weight = self.weights(channels, inputs, kernel, kernel, spread=(inputs * kernel * kernel) ** -0.5)
        pad = kernel // 2
        sizes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "group": group}
        self.node("Conv", self.current, weight, self.weights(channels, spread=0.1), **sizes)
        if normalised:
            self.node("Mul", self.current, self.weights(1, channels, 1, 1, spread=0.2, around=1.0))
            self.node("Add", self.current, self.weights(1, channels, 1, 1, spread=0.1))
        height, width = ((size + 2 * pad - kernel) // stride + 1 for size in self.shape[2:])
        self.shape = [self.shape[0], channels, height, width]
        return self

    def relu(self) -> HalfModel:
        self.node("Relu", self.current)
        return self

    def add(self, other: str) -> HalfModel:
        self.node("Add", self.current, other)
        return self

    def pool(self, op: str, size: int) -> HalfModel:
        self.node(op, self.current, kernel_shape=[size] * 2, strides=[size] * 2)
        self.shape = [*self.shape[:2], *(extent // size for extent in self.shape[2:])]
        return self

    def flatten(self) -> HalfModel:
        self.node("Flatten", self.current, axis=1)
        self.shape = [self.shape[0], int(np.prod(self.shape[1:]))]
        return self

    def dense(self, features: int) -> HalfModel:
        inputs = self.shape[-1]
        self.node("MatMul", self.current, self.weights(inputs, features, spread=inputs**-0.5))
        self.node("Add", self.current, self.weights(features, spread=0.1))
        self.shape = [*self.shape[:-1], features]
        return self

    def norm(self) -> HalfModel:
        scale, bias = self.weights(self.shape[-1], spread=0.1, around=1.0), self.weights(self.shape[-1], spread=0.1)
        self.node("LayerNormalization", self.current, scale, bias, axis=-1)
        return self

    def gelu(self) -> HalfModel:
        """Written out."""
        x = self.current
        erf = self.node("Erf", self.node("Div", x, self.keep(np.float16(2**0.5))))
        self.node("Mul", x, self.node("Add", erf, self.keep(np.float16(1))))
        self.node("Mul", self.current, self.keep(np.float16(0.5)))
        return self

    def attention(self, heads: int) -> HalfModel:
        x, (batch, rows, width) = self.current, self.shape
        sides = []
        for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            self.current = x
            self.dense(width)
            target = self.keep(np.array([batch, rows, heads, width // heads], np.int64))
            sides.append(self.node("Transpose", self.node("Reshape", self.current, target), perm=order))
        scores = self.node("Mul", self.node("MatMul", *sides[:2]), self.keep(np.float16((width // heads) ** -0.5)))
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), sides[2])
        self.node("Transpose", mixed, perm=[0, 2, 1, 3])
        self.node("Reshape", self.current, self.keep(np.array([batch, rows, width], np.int64)))
        return self.dense(width)

    def save(self, path: Path) -> Path:
        source = helper.make_tensor_value_info("input", TensorProto.FLOAT16, self.input_shape)
        result = helper.make_tensor_value_info(self.current, TensorProto.FLOAT16, self.shape)
        graph = helper.make_graph(self.nodes, "half", [source], [result], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return path


def image_model() -> HalfModel:
    """Convolutions of every kind, a residual, pooling, a dense layer."""
    model = HalfModel(1, 1, 3, 13, 11)
    model.conv(8, 3, normalised=True).relu()
    residual = model.current
    model.conv(8, 3, group=8).relu().conv(8, 3, group=2).add(residual).relu()
    model.conv(12, 1, stride=2).relu().conv(12, 3, stride=1, normalised=True)
    return model.pool("MaxPool", 2).pool("AveragePool", 3).flatten().dense(128)


def sequence_model() -> HalfModel:
    """One layer of a transformer."""
    model = HalfModel(2, 1, 12, 32)
    first = model.current
    model.attention(4).add(first)
    second = model.current
    return model.norm().dense(48).gelu().dense(32).add(second)
