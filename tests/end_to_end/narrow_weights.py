"""Quantised networks whose weights have 2 or 4 bits, made with a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Ints = NDArray[np.int64]
Nodes = list[onnx.NodeProto]

TYPES = {"int4": TensorProto.INT4, "uint4": TensorProto.UINT4, "int2": TensorProto.INT2, "uint2": TensorProto.UINT2}


def limits(kind: str) -> tuple[int, int]:
    """Smallest and largest value of a narrow type."""
    bits, unsigned = int(kind[-1]), kind.startswith("u")
    return (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def narrow_tensor(name: str, kind: str, values: Ints) -> TensorProto:
    """The values as an initialiser, several in one byte."""
    dtype = helper.tensor_dtype_to_np_dtype(TYPES[kind])
    return numpy_helper.from_array(values.astype(np.int8 if kind[0] == "i" else np.uint8).astype(dtype), name)


@dataclass
class NarrowNetwork:
    """Writes QDQ nodes: 8-bit activations, narrow weights."""

    kind: str
    per_channel: bool = True
    seed: int = 0
    nodes: Nodes = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def constant(self, name: str, values: object, dtype: object = np.float32) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))  # type: ignore[call-overload]
        return name

    def emit(self, op: str, inputs: Sequence[str], output: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [output], output, **attributes))
        return output

    def quantised(self, x: str, scale: float, zero: int = 128) -> str:
        """QuantizeLinear and DequantizeLinear of an activation."""
        inputs = [self.constant(f"{x}_scale", scale), self.constant(f"{x}_zero", zero, np.uint8)]
        stored = self.emit("QuantizeLinear", [x, *inputs], f"{x}_q")
        return self.emit("DequantizeLinear", [stored, *inputs], f"{x}_dq")

    def weight(self, name: str, shape: Sequence[int], axis: int) -> str:
        """Random weights between the type's limits, with one scale per channel or one for all."""
        low, high = limits(self.kind)
        values = self.rng.integers(low, high + 1, shape)
        channels = shape[axis] if self.per_channel else 1
        scale = self.rng.uniform(0.02, 0.05, channels if self.per_channel else ())
        inputs = [name, self.constant(f"{name}_scale", scale)]
        self.constants.append(narrow_tensor(name, self.kind, values))
        if low == 0:
            zero = np.full(channels if self.per_channel else (), (high + 1) // 2)
            self.constants.append(narrow_tensor(f"{name}_zero", self.kind, zero))
            inputs.append(f"{name}_zero")
        attributes = {"axis": axis} if self.per_channel else {}
        return self.emit("DequantizeLinear", inputs, f"{name}_dq", **attributes)

    def save(self, path: Path, shape: Sequence[int], result: str, out_shape: Sequence[int]) -> Path:
        opset = 25 if self.kind.endswith("2") else 21
        graph = helper.make_graph(
            self.nodes,
            "narrow",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, out_shape)],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        onnx.checker.check_model(model)
        onnx.save(model, path)
        return path


def narrow_network(path: Path, kind: str, per_channel: bool = True) -> Path:
    """A 3x3, a depthwise and a 1x1 convolution, a mean, a dense layer."""
    net = NarrowNetwork(kind, per_channel)
    x = net.quantised("x", 0.02)
    x = net.emit("Conv", [x, net.weight("w0", (32, 16, 3, 3), 0)], "c0", pads=[1, 1, 1, 1])
    x = net.quantised(x, 0.03)
    x = net.emit("Conv", [x, net.weight("w1", (32, 1, 3, 3), 0)], "c1", pads=[1, 1, 1, 1], group=32)
    x = net.quantised(x, 0.02)
    x = net.emit("Conv", [x, net.weight("w2", (64, 32, 1, 1), 0)], "c2")
    x = net.quantised(x, 0.02)
    x = net.quantised(net.emit("GlobalAveragePool", [x], "mean"), 0.005)
    x = net.emit("Flatten", [x], "flat")
    x = net.emit("MatMul", [x, net.weight("w3", (64, 128), 1)], "dense")
    x = net.quantised(x, 0.01)
    return net.save(path, (1, 16, 12, 12), x, (1, 128))


def block_network(path: Path, kind: str, form: str, depth: int = 96, float_type: int = TensorProto.FLOAT) -> Path:
    """Two products of reals with weights that have a scale per 32 products, as ONNX Runtime's quantiser writes them:
    ``qdq`` (DequantizeLinear of [K, N]), ``transposed`` (of [N, K], then Transpose), ``nbits`` (MatMulNBits)."""
    rng = np.random.default_rng(5)
    real = helper.tensor_dtype_to_np_dtype(float_type)
    nodes: Nodes = []
    constants = [numpy_helper.from_array(rng.normal(size=40).astype(real), "bias")]
    low, high = limits(kind)
    for name, inner, columns, source, result in (("w0", depth, 40, "x", "m"), ("w1", 40, 24, "r", "y")):
        values, blocks = rng.integers(low, high + 1, (inner, columns)), -(-inner // 32)
        scale = rng.uniform(-0.1, 0.1, (blocks, columns)).astype(real)
        zero = rng.integers(low, high + 1, (blocks, columns))
        if form == "nbits":
            bits = int(kind[-1])
            packed = [_bytes(part.T, bits, 32 * blocks if part is values else blocks) for part in (values, zero)]
            constants += [
                numpy_helper.from_array(packed[0].reshape(columns, blocks, -1), name),
                numpy_helper.from_array(np.ascontiguousarray(scale.T), f"{name}_scale"),
                numpy_helper.from_array(packed[1], f"{name}_zero"),
            ]
            attributes = {"K": inner, "N": columns, "bits": bits, "block_size": 32}
            inputs = [source, name, f"{name}_scale", f"{name}_zero"]
            nodes.append(helper.make_node("MatMulNBits", inputs, [result], name, domain="com.microsoft", **attributes))
        else:
            turned = form == "transposed"
            parts = [part.T if turned else part for part in (values, zero)]
            constants += [narrow_tensor(name, kind, parts[0]), narrow_tensor(f"{name}_zero", kind, parts[1])]
            constants.append(
                numpy_helper.from_array(np.ascontiguousarray(scale.T if turned else scale), f"{name}_scale")
            )
            inputs = [name, f"{name}_scale", f"{name}_zero"]
            weight = f"{name}_real"
            axis = {"axis": int(turned), "block_size": 32}
            nodes.append(helper.make_node("DequantizeLinear", inputs, [weight], f"{name}_dq", **axis))
            if turned:
                nodes.append(helper.make_node("Transpose", [weight], [f"{weight}_t"], f"{name}_t"))
                weight = f"{weight}_t"
            nodes.append(helper.make_node("MatMul", [source, weight], [result], name))
        if result == "m":
            nodes.append(helper.make_node("Add", ["m", "bias"], ["a"], "add"))
            nodes.append(helper.make_node("Relu", ["a"], ["r"], "relu"))
    ends = [helper.make_tensor_value_info(n, float_type, [1, 6, s]) for n, s in (("x", depth), ("y", 24))]
    graph = helper.make_graph(nodes, "blocks", ends[:1], ends[1:], constants)
    opsets = [helper.make_opsetid("", 25 if kind.endswith("2") else 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    return path


def _bytes(values: Ints, bits: int, count: int) -> NDArray[np.uint8]:
    """Rows of integers in bytes, the first one in the lowest bits; filled up to ``count`` with zeros."""
    per_byte = 8 // bits
    whole = -(-count // per_byte) * per_byte
    filled = np.pad(values, ((0, 0), (0, whole - values.shape[1]))).reshape(len(values), -1, per_byte)
    return np.asarray((filled << (bits * np.arange(per_byte))).sum(axis=2), np.uint8)


def with_two_bits(model: onnx.ModelProto) -> onnx.ModelProto:
    """A quantised network in which convolutions with weights of -1, 0 and 1 store them as INT2."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    constants = {tensor.name: tensor for tensor in changed.graph.initializer}
    writers = {node.output[0]: node for node in changed.graph.node}
    for node in changed.graph.node:
        if node.op_type == "Conv":
            dequantize = writers[node.input[1]]
            values = numpy_helper.to_array(constants[dequantize.input[0]])
            if np.abs(values).max() == 1:
                name = dequantize.input[0]
                constants[name].CopyFrom(narrow_tensor(name, "int2", values.astype(np.int64)))
                del dequantize.input[2:]
    changed.opset_import[0].version, changed.ir_version = 25, 13
    return changed
