"""Random networks that hold integers in floats: convolutions or products, integer operators, moves, in any order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

#: float32 holds all integers up to here.
EXACT = 1 << 24


@dataclass
class Chain:
    """``largest``: a bound on the size of a tensor's values, by its name."""

    random: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)

    def constant(self, values: object, dtype: type = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values).astype(dtype), name))
        return name

    def emit(self, op: str, inputs: list[str], shape: tuple[int, ...], largest: float, **attributes: object) -> None:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"n{len(self.nodes)}", **attributes))
        self.shapes[name], self.largest[name] = shape, largest

    def integers(self, low: int, high: int, *shape: int) -> NDArray[np.int64]:
        return self.random.integers(low, high, shape)

    def choice(self, *values: int) -> int:
        return int(self.random.choice(values))

    def requantise(self, x: str) -> None:
        shape = self.shapes[x]
        channels = shape[1] if len(shape) == 4 else shape[-1]
        along = (channels, 1, 1) if len(shape) == 4 else (channels,)
        div = self.choice(1, 2, 256, 65536, 777, 30001)
        top = int(300 * div / max(self.largest[x], 1)) + 2
        multiplier = self.integers(
            -top if self.choice(0, 0, 0, 0, 1) else 1, top, *(along if self.choice(0, 1) else ())
        )
        addend = self.integers(-100 * div, 100 * div + 1, *(along if self.choice(0, 1) else ()))
        inputs = [x, self.constant(multiplier), self.constant(addend)]
        levels, signed = self.choice(256, 256, 16, 2), self.choice(0, 1)
        self.emit("RequantShift", inputs, shape, levels, div=div, n_levels=levels, signed=signed)

    def weigh(self, x: str) -> None:
        shape = self.shapes[x]
        if len(shape) == 3:
            outputs = self.choice(4, 8)
            weight = self.integers(-128, 128, shape[-1], outputs)
            self.emit("MatMul", [x, self.constant(weight)], (*shape[:2], outputs), self.largest[x] * 128 * shape[-1])
            return
        kernel, stride, group = self.choice(1, 2), self.choice(1, 2), shape[1] if self.choice(0, 0, 1) else 1
        pad = self.choice(0, kernel - 1)
        outputs = group * self.choice(1, 2, 3)
        weight = self.integers(-128, 128, outputs, shape[1] // group, kernel, kernel)
        size = [(n + 2 * pad - kernel) // stride + 1 for n in shape[2:]]
        geometry = {"kernel_shape": [kernel] * 2, "pads": [pad] * 4, "strides": [stride] * 2, "group": group}
        bias = self.constant(self.integers(-3000, 3000, outputs))
        largest = self.largest[x] * 128 * weight[0].size + 3000
        self.emit("Conv", [x, self.constant(weight), bias], (1, outputs, *size), largest, **geometry)

    def combine(self, x: str) -> None:
        others = [name for name, shape in self.shapes.items() if shape == self.shapes[x]]
        other = others[self.choice(*range(len(others)))]
        op = ("Add", "Add", "Sub", "Mul")[self.choice(0, 1, 2, 3)]
        a, b = self.largest[x], self.largest[other]
        self.emit(op, [x, other], self.shapes[x], a * b if op == "Mul" else a + b)

    def function(self, x: str) -> None:
        """An operator on 8-bit values."""
        shape, size = self.shapes[x], self.shapes[x][-1]
        kind = self.choice(0, 1, 2, 3)
        if kind == 0:
            b, one = -int(self.integers(1, 100)), int(self.integers(-3000, 3000))
            self.emit("iGELU", [x], shape, self.largest[x] * 12_000, b=b, one=one)
        elif kind == 1:
            numbers = {"coeffA": 1, "coeffB": 173, "coeffC": 15599, "log2": 127, "n_levels": 256}
            self.emit("iSoftmax", [x], shape, 255, **numbers)
        elif kind == 2 and x != "x":
            group = self.choice(*(n for n in range(1, size + 1) if size % n == 0))
            self.emit("ITAPartialMax", [x], shape, 127, n_levels=256, group_width=group)
        else:
            parameters = [self.constant(self.integers(-9000, 90_000, size)) for _ in range(2)]
            self.emit("iLayerNorm", [x, *parameters], shape, 128, D=self.choice(1024, 555), n_levels=256)

    def move(self, x: str) -> None:
        shape, largest = self.shapes[x], self.largest[x]
        kind = self.choice(0, 1, 2, 3)
        if kind == 0:
            self.emit("Relu", [x], shape, largest)
        elif kind == 1:
            self.emit("Clip", [x, self.constant(-100), self.constant(90)], shape, 100)
        elif len(shape) == 3:
            self.emit("Transpose", [x], (shape[0], shape[2], shape[1]), largest, perm=[0, 2, 1])
        elif kind == 2 and min(shape[2:]) > 1:
            half = (1, shape[1], shape[2] // 2, shape[3] // 2)
            self.emit("MaxPool", [x], half, largest, kernel_shape=[2, 2], strides=[2, 2])
        else:
            flat = (1, shape[1], shape[2] * shape[3])
            self.emit("Reshape", [x, self.constant(flat, np.int64)], flat, largest)


def random_network(seed: int) -> onnx.ModelProto:
    """A network whose sums are all exact in float32; its output is requantised."""
    chain = Chain(np.random.default_rng(seed))
    chain.shapes["x"] = (1, chain.choice(2, 3, 5), 6, 6) if chain.choice(0, 1) else (1, chain.choice(2, 5), 8)
    chain.largest["x"] = 255
    steps = (chain.weigh, chain.weigh, chain.combine, chain.function, chain.move)
    for _ in range(chain.choice(3, 6, 10)):
        recent = list(chain.shapes)[-4:]
        x = recent[chain.choice(*range(len(recent)))]
        if chain.largest[x] > 256:
            chain.requantise(x)
        else:
            steps[chain.choice(*range(len(steps)))](x)
    last = list(chain.shapes)[-1]
    chain.requantise(last)
    outputs = [chain.nodes[-1].output[0]]
    assert max(chain.largest.values()) < EXACT
    graph = helper.make_graph(
        chain.nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, chain.shapes["x"])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, chain.shapes[name]) for name in outputs],
        chain.constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
