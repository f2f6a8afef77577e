"""Small networks that hold integers in floats, made here with a fixed seed, and what they compute in numpy's integers.

The operators are written as QuantLib and NEMO export them; the arithmetic beside them shares nothing with the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Ints = NDArray[np.int64]


def isqrt(values: Ints) -> Ints:
    """Integer square roots."""
    return np.array([int(v**0.5) for v in values.reshape(-1).tolist()], np.int64).reshape(values.shape)


def truncated(a: Ints, b: Ints | int) -> Ints:
    """Quotients towards zero."""
    return np.sign(a) * (np.abs(a) // b)


@dataclass
class IntegerNetwork:
    """Nodes so far, and the values of every tensor for one random input of the given range."""

    shape: tuple[int, ...]
    low: int
    high: int
    seed: int
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    values: dict[str, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.values["input"] = self.random.integers(self.low, self.high + 1, self.shape)

    def constant(self, values: Ints | int, dtype: type = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values).astype(dtype), name))
        return name

    def draw(self, low: int, high: int, *shape: int) -> Ints:
        return self.random.integers(low, high + 1, shape)

    def emit(self, op: str, inputs: list[str], result: Ints, **attributes: object) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{len(self.nodes)}", **attributes))
        self.values[name] = np.asarray(result, np.int64)
        return name

    def save(self, folder: Path, output: str) -> Path:
        """Model, ``inputs.npz`` and ``outputs.npz`` as exporters leave them: numbered, in int64."""
        self.nodes[-1].output[0] = "output"
        result = self.values[output]
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info("output", TensorProto.FLOAT, result.shape)],
            self.constants,
        )
        path = folder / "network.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=6), path)
        np.savez(folder / "inputs.npz", input_0=self.values["input"])
        np.savez(folder / "outputs.npz", output_0=result)
        return path

    # ---- operators ----------------------------------------------------------------------------------------------

    def conv(self, x: str, weight: Ints, stride: int = 1, pad: int = 0, group: int = 1) -> str:
        data = np.pad(self.values[x], ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        windows = np.lib.stride_tricks.sliding_window_view(data, weight.shape[2:], (2, 3))[:, :, ::stride, ::stride]
        outputs, inputs = weight.shape[0] // group, weight.shape[1]
        parts = [
            np.einsum(
                "nchwij,kcij->nkhw",
                windows[:, g * inputs : (g + 1) * inputs],
                weight[g * outputs : (g + 1) * outputs],
            )
            for g in range(group)
        ]
        attributes = {"kernel_shape": weight.shape[2:], "strides": [stride] * 2, "pads": [pad] * 4, "group": group}
        return self.emit("Conv", [x, self.constant(weight)], np.concatenate(parts, axis=1), **attributes)

    def matmul(self, a: str, b: str | Ints) -> str:
        other = b if isinstance(b, str) else self.constant(b)
        second = self.values[b] if isinstance(b, str) else b
        return self.emit("MatMul", [a, other], self.values[a] @ second)

    def gemm(self, x: str, weight: Ints, bias: Ints) -> str:
        inputs = [x, self.constant(weight), self.constant(bias)]
        return self.emit("Gemm", inputs, self.values[x] @ weight.T + bias, transB=1)

    def add(self, a: str, b: str) -> str:
        return self.emit("Add", [a, b], self.values[a] + self.values[b])

    def offset(self, x: str, values: Ints) -> str:
        return self.emit("Add", [self.constant(values), x], self.values[x] + values)

    def requant(self, x: str, multiplier: Ints | int, addend: Ints | int, div: int, signed: bool) -> str:
        total = self.values[x] * multiplier + addend
        result = np.clip((total + div // 2) // div, -128 if signed else 0, 127 if signed else 255)
        inputs = [x, self.constant(multiplier), self.constant(addend)]
        numbers = {"div": div, "n_levels_out": 256, "signed": int(signed)}
        tensors = {k: numpy_helper.from_array(np.array([v], np.float32)) for k, v in numbers.items()}
        return self.emit("RequantShift", inputs, result, **tensors)

    def nemo(self, x: str, factor: Ints, addend: Ints, multiplier: int, div: int) -> str:
        """Batch normalisation, then requantisation that rounds down."""
        x = self.emit("Mul", [x, self.constant(factor)], self.values[x] * factor)
        x = self.emit("Add", [x, self.constant(addend)], self.values[x] + addend)
        x = self.emit("Mul", [x, self.constant(multiplier)], self.values[x] * multiplier)
        quotient = self.values[x] // div
        x = self.emit("Div", [x, self.constant(div)], quotient)
        x = self.emit("Floor", [x], quotient)
        return self.emit("Clip", [x, self.constant(0), self.constant(255)], np.clip(quotient, 0, 255))

    def reshape(self, x: str, *shape: int) -> str:
        target = self.constant(np.array(shape), np.int64)
        return self.emit("Reshape", [x, target], self.values[x].reshape(shape))

    def transpose(self, x: str, *perm: int) -> str:
        return self.emit("Transpose", [x], self.values[x].transpose(perm), perm=perm)

    def max_pool(self, x: str, size: int) -> str:
        data = self.values[x]
        windows = np.lib.stride_tricks.sliding_window_view(data, (size, size), (2, 3))[:, :, ::size, ::size]
        return self.emit("MaxPool", [x], windows.max(axis=(4, 5)), kernel_shape=[size] * 2, strides=[size] * 2)

    def softmax(self, x: str) -> str:
        """I-BERT's, with coefficients of QuantLib."""
        data = self.values[x]
        distance = data.max(axis=-1, keepdims=True) - data
        halvings = distance // 127
        e = (np.square(halvings * 127 - distance + 173) + 15599) >> halvings
        numbers = {"coeffA": 1, "coeffB": 173, "coeffC": 15599, "log2": 127, "n_levels": 256}
        return self.emit("iSoftmax", [x], e * 255 // e.sum(axis=-1, keepdims=True), **numbers)

    def partial_max(self, x: str, width: int) -> str:
        """ITA's softmax, group by group."""
        data = self.values[x]

        def halvings(distance: Ints) -> Ints:
            return (distance >> 5) + (distance >> 4 & 1)

        top, total = np.full(data.shape[:-1], -128), np.zeros(data.shape[:-1], np.int64)
        for start in range(0, data.shape[-1], width):
            part = data[..., start : start + width]
            new = np.maximum(top, part.max(axis=-1))
            total = (total >> halvings(new - top)) + (256 >> halvings(new[..., None] - part)).sum(axis=-1)
            top = new
        result = (127 * 256 // total)[..., None] >> halvings(top[..., None] - data)
        return self.emit("ITAPartialMax", [x], result, n_levels=256, group_width=width)

    def layer_norm(self, x: str, weight: Ints, bias: Ints, divisor: int) -> str:
        data = self.values[x]
        t = data - truncated(data.sum(axis=-1, keepdims=True), data.shape[-1])
        root = isqrt(np.square(t).sum(axis=-1, keepdims=True) // data.shape[-1] + 1)
        result = np.clip((truncated(t * weight, root) + bias) // divisor, -128, 127)
        inputs = [x, self.constant(weight), self.constant(bias)]
        return self.emit("iLayerNorm", inputs, result, D=divisor, n_levels=256)

    def gelu(self, x: str) -> str:
        data = self.values[x]
        inner = 1743 - np.square(np.minimum(np.abs(data), 40) - 40)
        return self.emit("iGELU", [x], data * ((1743 + np.sign(data) * inner) // 2), b=-40, one=1743)

    def mean(self, x: str, axis: int) -> str:
        data = self.values[x]
        count = data.shape[axis]
        result = (2 * data.sum(axis=axis) + count) // (2 * count)
        return self.emit("IntegerMean", [x], result, axes=[axis], keepdims=0)


def requant_network(folder: Path, signed_input: bool = True) -> Path:
    """Convolutions of all kinds with RequantShift, a residual sum, pooling, a dense layer."""
    low, high = (-128, 127) if signed_input else (0, 255)
    net = IntegerNetwork((1, 3, 16, 16), low, high, seed=3)
    x = net.conv("input", net.draw(-128, 127, 16, 3, 3, 3), stride=2, pad=1)
    x = net.requant(x, net.draw(5, 40, 16, 1, 1), net.draw(-80_000, 80_000, 16, 1, 1), 16384, signed=True)
    y = net.conv(x, net.draw(-60, 60, 16, 1, 3, 3), pad=1, group=16)
    y = net.requant(y, net.draw(90, 200, 16, 1, 1), net.draw(-80_000, 80_000, 16, 1, 1), 16384, signed=False)
    y = net.conv(y, net.draw(-40, 40, 16, 16, 1, 1))
    y = net.requant(y, 50, 1000, 16384, signed=True)
    x = net.requant(net.add(x, y), 9000, 0, 16384, signed=True)
    x = net.max_pool(x, 2)
    x = net.conv(x, net.draw(-40, 40, 32, 16, 3, 3), pad=1)
    x = net.requant(x, 20, net.draw(-9_000, 90_000, 32, 1, 1), 16384, signed=False)
    x = net.max_pool(x, 4)
    x = net.reshape(x, 1, 32)
    x = net.requant(net.gemm(x, net.draw(-90, 90, 10, 32), net.draw(-900, 900, 10)), 30, 0, 16384, signed=True)
    return net.save(folder, x)


def nemo_network(folder: Path) -> Path:
    """Convolutions with batch normalisation and requantisation in elementary operators."""
    net = IntegerNetwork((1, 2, 12, 12), 0, 255, seed=5)
    x = net.conv("input", net.draw(-30, 30, 8, 2, 3, 3), pad=1)
    x = net.nemo(x, net.draw(1, 9, 1, 8, 1, 1), net.draw(-3000, 9000, 1, 8, 1, 1), 3, 512)
    x = net.conv(x, net.draw(-30, 30, 8, 1, 3, 3), stride=2, pad=1, group=8)
    x = net.nemo(x, net.draw(1, 9, 1, 8, 1, 1), net.draw(-3000, 9000, 1, 8, 1, 1), 5, 1024)
    x = net.conv(x, net.draw(-30, 30, 12, 8, 1, 1))
    x = net.nemo(x, net.draw(1, 9, 1, 12, 1, 1), net.draw(-3000, 9000, 1, 12, 1, 1), 1, 300)
    return net.save(folder, x)


def transformer_network(folder: Path, partial: bool) -> Path:
    """One attention block with integer softmax, normalisation and GELU."""
    net = IntegerNetwork((1, 16, 32), -128, 127, seed=7)
    heads = (1, 16, 4, 8)

    def linear(x: str, outputs: int, signed: bool = True) -> str:
        inputs = net.values[x].shape[-1]
        return net.requant(net.matmul(x, net.draw(-60, 60, inputs, outputs)), 60, 900, 16384, signed)

    x = net.layer_norm("input", net.draw(4000, 9000, 32), net.draw(-9000, 9000, 32), 512)
    q = net.transpose(net.reshape(linear(x, 32), *heads), 0, 2, 1, 3)
    k = net.transpose(net.reshape(linear(x, 32), *heads), 0, 2, 3, 1)
    v = net.transpose(net.reshape(linear(x, 32), *heads), 0, 2, 1, 3)
    a = net.requant(net.matmul(q, k), 100, 0, 16384, signed=True)
    a = net.partial_max(a, 4) if partial else net.softmax(a)
    o = net.requant(net.matmul(a, v), 120, 0, 16384, signed=True)
    o = net.reshape(net.transpose(o, 0, 2, 1, 3), 1, 16, 32)
    x = net.requant(net.add(linear(o, 32), net.requant("input", 8000, 0, 16384, True)), 16384, 0, 16384, signed=True)
    f = net.offset(net.matmul(x, net.draw(-60, 60, 32, 64)), net.draw(-900, 900, 64))
    f = net.requant(net.gelu(net.requant(f, 50, 0, 16384, True)), 20, 0, 16384, signed=True)
    x = net.requant(net.add(linear(f, 32), x), 9000, 0, 16384, signed=True)
    x = net.requant(net.gemm(net.mean(x, 1), net.draw(-90, 90, 10, 32), net.draw(-900, 900, 10)), 60, 0, 8192, True)
    return net.save(folder, x)
