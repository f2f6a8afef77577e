"""Encoder layers as exporters write them (QDQ, opset 17), made from a seed.

Values run through numpy while a graph is built, so that every scale fits what occurs. All activations are int8 with a
zero point (or symmetric), weights int8 and symmetric, per tensor or per column; layer normalisation, softmax and GELU
compute in float.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf, sqrt
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper

from tests.graph_parts import GraphParts

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Encoder:
    """``rows`` S, ``width`` E, ``heads`` H of ``size`` P columns, ``inner`` columns of the feed-forward block (0:
    none). ``sharp`` scales the queries: 0 makes all logits equal. ``norm``: layer normalisation as operator of opset
    17, as ``elementary`` operators of opset 13, or the operator in a file of opset 13 (``early``)."""

    rows: int
    width: int
    heads: int = 0
    size: int = 64
    inner: int = 0
    activation: str = "gelu"
    sharp: float = 3.0
    per_column: bool = False
    seed: int = 0
    norm: str = "operator"


class _Value:
    """A tensor's name and its value in calibration."""

    def __init__(self, name: str, value: Reals) -> None:
        self.name, self.value = name, value


class _Graph(GraphParts):
    def __init__(self, seed: int, per_column: bool, form: str = "operator") -> None:
        super().__init__(seed)
        self.form = form
        self.per_column = per_column

    def node(self, op: str, inputs: Sequence[str], value: Reals, **attrs: object) -> _Value:
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=f"{name}_node", **attrs))
        return _Value(name, value)

    def quantised(self, x: _Value) -> _Value:
        """Through int8, with scale and zero point by what occurs."""
        low, high = min(float(x.value.min()), 0.0), max(float(x.value.max()), 0.0)
        scale = np.float32(max(high - low, 1e-3) / 255)
        return self.stored(x, scale, int(np.clip(np.rint(-128 - low / scale), -128, 127)))

    def stored(self, x: _Value, scale: np.float32, zero: int) -> _Value:
        """Through int8."""
        numbers = [self.constant(scale), self.constant(zero, np.int8)]
        stored = np.clip(np.rint(x.value / scale) + zero, -128, 127)
        held = self.node("QuantizeLinear", [x.name, *numbers], stored)
        return self.node("DequantizeLinear", [held.name, *numbers], (stored - zero) * scale)

    def linear(self, x: _Value, columns: int, factor: float = 1.0) -> _Value:
        """x W + b with the same spread as x has, times ``factor``."""
        inputs = x.value.shape[-1]
        weight = self.random.normal(0, factor / sqrt(inputs), (inputs, columns))
        weight *= self.random.uniform(0.5, 2.0, columns)
        largest = np.abs(weight).max(axis=0 if self.per_column else None)
        scale = np.maximum(largest / 127, 1e-6).astype(np.float32)
        stored = np.clip(np.rint(weight / scale), -127, 127)
        attrs = {"axis": 1} if self.per_column else {}
        zero = self.constant(np.zeros_like(scale), np.int8)
        given = [self.constant(stored, np.int8), self.constant(scale), zero]
        w = self.node("DequantizeLinear", given, stored * scale, **attrs)
        bias = self.random.normal(0, 0.2 * factor, columns).astype(np.float32)
        product = self.node("MatMul", [x.name, w.name], x.value @ w.value)
        return self.quantised(self.node("Add", [product.name, self.constant(bias)], product.value + bias))

    def conv(self, x: _Value, channels: int) -> _Value:
        """Convolution 3x3 with stride 2 and one ring of padding, and a ReLU."""
        inputs, side = x.value.shape[1], x.value.shape[2]
        weight = self.random.normal(0, sqrt(2 / (9 * inputs)), (channels, inputs, 3, 3))
        scale = np.float32(np.abs(weight).max() / 127)
        stored = np.rint(weight / scale)
        given = [self.constant(stored, np.int8), self.constant(scale), self.constant(0, np.int8)]
        w = self.node("DequantizeLinear", given, stored * scale)
        bias = self.random.normal(0, 0.1, channels).astype(np.float32)
        padded = np.pad(x.value, ((0, 0), (0, 0), (1, 1), (1, 1)))
        taps = [(fy, fx) for fy in range(3) for fx in range(3)]
        seen = np.stack([padded[:, :, fy : fy + side : 2, fx : fx + side : 2] for fy, fx in taps], axis=2)
        value = np.einsum("nctyx,kct->nkyx", seen, w.value.reshape(channels, inputs, 9)) + bias[:, None, None]
        attrs = {"pads": [1, 1, 1, 1], "strides": [2, 2]}
        return self.relu(self.node("Conv", [x.name, w.name, self.constant(bias)], value, **attrs))

    def norm(self, x: _Value) -> _Value:
        """Layer normalisation of rows."""
        columns = x.value.shape[-1]
        scale, bias = self.random.uniform(0.7, 1.3, columns), self.random.normal(0, 0.1, columns)
        moved = x.value - x.value.mean(axis=-1, keepdims=True)
        value = moved / np.sqrt(np.square(moved).mean(axis=-1, keepdims=True) + 1e-5) * scale + bias
        if self.form == "elementary":
            return self.quantised(self._elementary_norm(x, moved, scale, bias))
        given = [x.name, self.constant(scale), self.constant(bias)]
        return self.quantised(self.node("LayerNormalization", given, value, axis=-1))

    def _elementary_norm(self, x: _Value, moved: Reals, scale: Reals, bias: Reals) -> _Value:
        """As PyTorch exported it before opset 17."""
        mean = self.node("ReduceMean", [x.name], x.value - moved, axes=[-1])
        difference = self.node("Sub", [x.name, mean.name], moved)
        square = self.node("Pow", [difference.name, self.constant(2.0)], np.square(moved))
        variance = self.node("ReduceMean", [square.name], square.value.mean(axis=-1, keepdims=True), axes=[-1])
        shifted = self.node("Add", [variance.name, self.constant(1e-5)], variance.value + 1e-5)
        root = self.node("Sqrt", [shifted.name], np.sqrt(shifted.value))
        normal = self.node("Div", [difference.name, root.name], moved / root.value)
        scaled = self.node("Mul", [normal.name, self.constant(scale)], normal.value * scale)
        return self.node("Add", [scaled.name, self.constant(bias)], scaled.value + bias)

    def add(self, a: _Value, b: _Value) -> _Value:
        """The sum."""
        return self.quantised(self.node("Add", [a.name, b.name], a.value + b.value))

    def reshape(self, x: _Value, shape: tuple[int, ...]) -> _Value:
        """Another shape."""
        return self.node("Reshape", [x.name, self.constant(shape, np.int64)], x.value.reshape(shape))

    def transpose(self, x: _Value, perm: list[int]) -> _Value:
        """Axes in another order."""
        return self.node("Transpose", [x.name], x.value.transpose(perm), perm=perm)

    def product(self, a: _Value, b: _Value, factor: float = 1.0) -> _Value:
        """The product, scaled, as int8."""
        result = self.node("MatMul", [a.name, b.name], a.value @ b.value)
        if factor != 1.0:
            result = self.node("Mul", [result.name, self.constant(factor)], result.value * factor)
        return self.quantised(result)

    def softmax(self, x: _Value) -> _Value:
        """Along the last axis, with the scale that ONNX Runtime gives to every softmax."""
        powers = np.exp(x.value - x.value.max(axis=-1, keepdims=True))
        value = powers / powers.sum(axis=-1, keepdims=True)
        return self.stored(self.node("Softmax", [x.name], value, axis=-1), np.float32(1 / 256), -128)

    def gelu(self, x: _Value) -> _Value:
        """As PyTorch exports it."""
        inner = self.node("Div", [x.name, self.constant(sqrt(2))], x.value / sqrt(2))
        bent = self.node("Erf", [inner.name], np.vectorize(erf)(inner.value))
        moved = self.node("Add", [bent.name, self.constant(1.0)], bent.value + 1)
        gated = self.node("Mul", [x.name, moved.name], x.value * moved.value)
        return self.quantised(self.node("Mul", [gated.name, self.constant(0.5)], gated.value * 0.5))

    def relu(self, x: _Value) -> _Value:
        """max(x, 0)."""
        return self.quantised(self.node("Relu", [x.name], np.maximum(x.value, 0)))


def save(encoder: Encoder, path: Path) -> Path:
    """Write the layer: float input [1, S, E] ``x``, output ``y``. Returns the path."""
    graph = _Graph(encoder.seed, encoder.per_column, encoder.norm)
    x = graph.quantised(_Value("x", inputs(encoder)[0].astype(np.float64)))
    return _saved(graph, _layer(graph, x, encoder), (1, encoder.rows, encoder.width), path)


def save_product(encoder: Encoder, path: Path) -> Path:
    """Write one linear layer of ``inner`` columns: float input [1, S, E] ``x``, output ``y``. Returns the path."""
    graph = _Graph(encoder.seed, encoder.per_column)
    x = graph.quantised(_Value("x", inputs(encoder)[0].astype(np.float64)))
    return _saved(graph, graph.linear(x, encoder.inner), (1, encoder.rows, encoder.width), path)


def save_attention(encoder: Encoder, path: Path) -> Path:
    """Write the attention alone with its projections: float input [1, S, E] ``x``, output ``y``. Returns the path."""
    graph = _Graph(encoder.seed, encoder.per_column)
    x = graph.quantised(_Value("x", inputs(encoder)[0].astype(np.float64)))
    return _saved(graph, _attention(graph, x, encoder), (1, encoder.rows, encoder.width), path)


def save_vision(encoder: Encoder, path: Path) -> Path:
    """The same behind two convolutions that make its tokens: float image [1, 3, 4 side, 4 side] ``x``, S = side * side,
    output ``y`` [1, S, E]. Returns the path."""
    graph = _Graph(encoder.seed, encoder.per_column)
    picture = image(encoder)
    x = graph.quantised(_Value("x", picture[0].astype(np.float64)))
    planes = graph.conv(graph.conv(x, encoder.width // 4), encoder.width)
    tokens = graph.transpose(graph.reshape(planes, (1, encoder.width, encoder.rows)), [0, 2, 1])
    return _saved(graph, _layer(graph, tokens, encoder), picture.shape[1:], path)


def image(encoder: Encoder) -> NDArray[np.float32]:
    """One sample, [1, 1, 3, H, H], for ``save_vision``."""
    side = 4 * round(sqrt(encoder.rows))
    return np.random.default_rng([encoder.seed, 2]).normal(size=(1, 1, 3, side, side)).astype(np.float32)


def _layer(graph: _Graph, x: _Value, encoder: Encoder) -> _Value:
    if encoder.heads:
        x = graph.add(x, _attention(graph, graph.norm(x), encoder))
    if encoder.inner:
        hidden = graph.linear(graph.norm(x), encoder.inner)
        hidden = graph.gelu(hidden) if encoder.activation == "gelu" else graph.relu(hidden)
        x = graph.add(x, graph.linear(hidden, encoder.width))
    return x


def _saved(graph: _Graph, x: _Value, shape: tuple[int, ...], path: Path) -> Path:
    graph.nodes.append(helper.make_node("Identity", [x.name], ["y"], name="end"))
    shapes = (("x", shape), ("y", x.value.shape))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in shapes]
    made = helper.make_graph(graph.nodes, "encoder", ends[:1], ends[1:], graph.constants)
    opset = 17 if graph.form == "operator" else 13
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    if graph.form != "early":
        onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return path


def inputs(encoder: Encoder) -> NDArray[np.float32]:
    """One sample, [1, 1, S, E]: tokens with something in common, and a few strong channels."""
    random = np.random.default_rng([encoder.seed, 1])
    values = random.normal(size=(encoder.rows, encoder.width)) + 0.5 * random.normal(size=encoder.width)
    return (values * random.uniform(0.5, 1.5, encoder.width)).astype(np.float32)[None, None]


def _attention(graph: _Graph, x: _Value, encoder: Encoder) -> _Value:
    """Projections, heads, projection."""
    rows, heads, size = encoder.rows, encoder.heads, encoder.size
    factors = (encoder.sharp, 1.0, 1.0)
    q, k, v = (
        graph.transpose(graph.reshape(graph.linear(x, heads * size, factor), (1, rows, heads, size)), [0, 2, 1, 3])
        for factor in factors
    )
    logits = graph.product(q, graph.transpose(k, [0, 1, 3, 2]), 1 / sqrt(size))
    mixed = graph.product(graph.softmax(logits), v)
    merged = graph.reshape(graph.transpose(mixed, [0, 2, 1, 3]), (1, rows, heads * size))
    return graph.linear(merged, encoder.width)
