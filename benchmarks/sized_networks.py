"""Quantised networks of any size, made from a seed: chains, residual, branching, transformer and U-shaped.

A network of N operators has about N convolutions, products, additions and joins, each between a DequantizeLinear and a
QuantizeLinear of 8-bit values. Shapes repeat as they do in real networks; constants never do.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

#: Scales of activations and of weights: powers of two, so that sums of many products stay inside of int8.
SCALE, WEIGHT_SCALE = 2**-4, 2**-7
#: Pixels and channels of the images, rows and columns of sequences.
SIDE, CHANNELS, ROWS, WIDTH, HEADS = 16, 16, 16, 32, 2
OPSET = 17


class Builder:
    """Writes operators between quantisers; tensors are named by their 8-bit form. ``count``: operators so far."""

    def __init__(self, seed: int, shape: tuple[int, ...]) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shapes = {"x": shape}
        self.count = 0
        self.constants += [
            numpy_helper.from_array(np.float32(SCALE), "scale"),
            numpy_helper.from_array(np.float32(WEIGHT_SCALE), "weight_scale"),
            numpy_helper.from_array(np.float32(SCALE * WEIGHT_SCALE), "bias_scale"),
            numpy_helper.from_array(np.int8(0), "zero"),
            numpy_helper.from_array(np.int32(0), "bias_zero"),
        ]

    def operator(self, kind: str, reads: list[str], shape: tuple[int, ...], **attributes: Any) -> str:
        """An operator of 8-bit tensors (or of real constants, by the names of ``constant``); returns its result."""
        name = f"n{self.count}"
        self.count += 1
        inputs = []
        for place, read in enumerate(reads):
            if read in self.shapes:
                inputs.append(f"{name}_in{place}")
                self.nodes.append(
                    helper.make_node("DequantizeLinear", [read, "scale", "zero"], [inputs[-1]], f"{name}_d{place}")
                )
            else:
                inputs.append(read)
        self.nodes.append(helper.make_node(kind, inputs, [f"{name}_out"], name, **attributes))
        self.nodes.append(
            helper.make_node("QuantizeLinear", [f"{name}_out", "scale", "zero"], [f"{name}_q"], f"{name}_quantise")
        )
        self.shapes[f"{name}_q"] = shape
        return f"{name}_q"

    def weights(self, *shape: int) -> str:
        """Random 8-bit weights behind their DequantizeLinear, small enough for their number of terms."""
        most = max(1, min(127, int(256 / np.prod(shape[1:]) ** 0.5)))
        return self._constant(self.random.integers(-most, most + 1, shape, np.int8), "weight_scale", "zero")

    def bias(self, size: int) -> str:
        """A random 32-bit bias behind its DequantizeLinear."""
        return self._constant(self.random.integers(-500, 501, size).astype(np.int32), "bias_scale", "bias_zero")

    def plain(self, values: np.ndarray) -> str:
        """A constant that is not quantised."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, read: str, channels: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> str:
        """A convolution that keeps the size at stride 1."""
        _, before, height, width = self.shapes[read]
        reads = [read, self.weights(channels, before // groups, kernel, kernel), self.bias(channels)]
        shape = (1, channels, -(-height // stride), -(-width // stride))
        pads = [kernel // 2] * 4
        return self.operator("Conv", reads, shape, strides=[stride] * 2, pads=pads, group=groups)

    def dense(self, read: str, width: int) -> str:
        """A product of rows and weights."""
        shape = self.shapes[read]
        return self.operator("MatMul", [read, self.weights(shape[-1], width)], (*shape[:-1], width))

    def add(self, one: str, other: str) -> str:
        """The sum of two tensors."""
        return self.operator("Add", [one, other], self.shapes[one])

    def join(self, reads: list[str]) -> str:
        """Channels of several images in one."""
        _, _, height, width = self.shapes[reads[0]]
        return self.operator("Concat", reads, (1, sum(self.shapes[r][1] for r in reads), height, width), axis=1)

    def model(self, result: str) -> onnx.ModelProto:
        """The network; its input and output are 8-bit tensors."""
        inputs = [helper.make_tensor_value_info("x", TensorProto.INT8, self.shapes["x"])]
        outputs = [helper.make_tensor_value_info(result, TensorProto.INT8, self.shapes[result])]
        graph = helper.make_graph(self.nodes, "sized", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)

    def _constant(self, values: np.ndarray, scale: str, zero: str) -> str:
        name = self.plain(values)
        self.nodes.append(helper.make_node("DequantizeLinear", [name, scale, zero], [f"{name}_real"], f"{name}_d"))
        return f"{name}_real"


def chain(size: int, seed: int) -> onnx.ModelProto:
    """Convolutions one after another: 3x3, pointwise and depthwise."""
    made = Builder(seed, (1, CHANNELS, SIDE, SIDE))
    last = "x"
    while made.count < size:
        kind = made.count % 3
        last = made.conv(last, CHANNELS, 1 if kind == 1 else 3, groups=CHANNELS if kind == 2 else 1)
    return made.model(last)


def residual(size: int, seed: int) -> onnx.ModelProto:
    """Two convolutions and a sum with the input of the first."""
    made = Builder(seed, (1, CHANNELS, SIDE, SIDE))
    last = made.conv("x", CHANNELS)
    while made.count < size:
        last = made.add(last, made.conv(made.conv(last, CHANNELS), CHANNELS))
    return made.model(last)


def branching(size: int, seed: int) -> onnx.ModelProto:
    """Three branches of different kernels, joined and mixed."""
    made = Builder(seed, (1, CHANNELS, SIDE, SIDE))
    last = made.conv("x", CHANNELS)
    while made.count < size:
        ends = [made.conv(last, 8, 1), made.conv(made.conv(last, 8, 1), 8), made.conv(last, 8)]
        last = made.conv(made.join(ends), CHANNELS, 1)
    return made.model(last)


def transformer(size: int, seed: int) -> onnx.ModelProto:
    """Attention and two products with a sum each."""
    made = Builder(seed, (1, ROWS, WIDTH))
    last = "x"
    split = made.plain(np.array([1, ROWS, HEADS, WIDTH // HEADS], np.int64))
    whole = made.plain(np.array([1, ROWS, WIDTH], np.int64))
    heads = (1, HEADS, ROWS, WIDTH // HEADS)
    while made.count < size:
        parts = []
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            rows = made.operator("Reshape", [made.dense(last, WIDTH), split], (1, ROWS, HEADS, WIDTH // HEADS))
            shape = heads if perm == [0, 2, 1, 3] else (1, HEADS, WIDTH // HEADS, ROWS)
            parts.append(made.operator("Transpose", [rows], shape, perm=perm))
        scores = made.operator("MatMul", parts[:2], (1, HEADS, ROWS, ROWS))
        mixed = made.operator("MatMul", [made.operator("Softmax", [scores], made.shapes[scores]), parts[2]], heads)
        back = made.operator("Transpose", [mixed], (1, ROWS, HEADS, WIDTH // HEADS), perm=[0, 2, 1, 3])
        last = made.add(last, made.dense(made.operator("Reshape", [back, whole], (1, ROWS, WIDTH)), WIDTH))
        wide = made.operator("Relu", [made.dense(last, 2 * WIDTH)], (1, ROWS, 2 * WIDTH))
        last = made.add(last, made.dense(wide, WIDTH))
    return made.model(last)


def u_shaped(size: int, seed: int) -> onnx.ModelProto:
    """Three halvings of the image and three doublings, each joined with the image of its size, again and again."""
    made = Builder(seed, (1, CHANNELS, SIDE, SIDE))
    last = made.conv("x", CHANNELS)
    scales = made.plain(np.array([1, 1, 2, 2], np.float32))
    while made.count < size:
        kept = []
        for _ in range(3):
            kept.append(last)
            last = made.conv(last, CHANNELS, stride=2)
        for same in reversed(kept):
            larger = made.operator("Resize", [last, "", scales], made.shapes[same], mode="nearest")
            last = made.conv(made.join([larger, same]), CHANNELS)
    return made.model(last)


KINDS: dict[str, Callable[[int, int], onnx.ModelProto]] = {
    "chain": chain,
    "residual": residual,
    "branching": branching,
    "transformer": transformer,
    "u-shaped": u_shaped,
}


def write(kind: str, size: int, path: Path, seed: int = 1) -> None:
    """Write a network of about so many operators."""
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(KINDS[kind](size, seed), path)
