"""Seeded integer graphs of multi-head attention, written in the ways of several exporters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import onnx
import onnx_graphsurgeon as gs
from match_core import Model, PassContext
from match_core.contract.model import OPSET
from match_core.ir.editor import Editor
from match_ita.hardware import hardware
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Weights = Literal["separate", "split", "slice", "gather", "interleaved"]


@dataclass(frozen=True, slots=True)
class Shape:
    """One layer. ``spread``: standard deviation of the logits; ``zeros``: zero points of q, k, v; ``weights``: how the
    matrices of q, k and v are stored; ``flat``: heads are an axis of a three-dimensional tensor, without the batch;
    ``turned``: K is transposed in two steps; ``batch``: linear layers on [1, S, E]; ``scaled``: the logits are scaled
    by a requantisation of their own; ``keys``: rows of x that give keys and values, 0 for all (separate weights)."""

    rows: int = 64
    width: int = 64
    heads: int = 1
    size: int = 64
    spread: float = 3.0
    zeros: tuple[int, int, int] = (3, -2, 5)
    weights: Weights = "separate"
    flat: bool = False
    turned: bool = False
    batch: bool = False
    scaled: bool = False
    per_column: bool = False
    projected: bool = True
    unsigned: bool = False
    keys: int = 0
    seed: int = 0


class Layer:
    """Builds one. All 8-bit tensors have a spread of about 35."""

    _SPREAD = 35.0
    _SHIFT = 31

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.random = np.random.default_rng(shape.seed)
        x = gs.Variable("x", np.dtype(np.int8), [1, shape.rows, shape.width])
        opsets = [onnx.helper.make_opsetid("", OPSET)]
        graph = gs.Graph(nodes=[], inputs=[x], outputs=[], opset=OPSET, import_domains=opsets)
        self.editor = Editor(Model("m", graph))

    def build(self) -> Model:
        """The model: input x, one output."""
        shape, editor = self.shape, self.editor
        x: gs.Tensor = editor.graph.inputs[0]
        if not shape.batch:
            x = self.reshape(x, (shape.rows, shape.width))
        q, k, v = self.heads(x)
        logits = self.product(q, self.turn(k), shape.zeros[:2], "qk", self._SPREAD**2 * shape.size**0.5, 2)
        if shape.scaled:
            logits = self.requant(logits, 0.5, 4.0, "scale")
        weights = self.softmax(logits)
        zero = 0 if shape.unsigned else -128
        mixed = self.product(weights, v, (zero, shape.zeros[2]), "av", 255 * 0.5 * self._SPREAD, -7)
        order = [0, 2, 1, 3] if not shape.flat else [1, 0, 2]
        merged = self.transpose(mixed, order)
        inner = shape.heads * shape.size
        y = self.reshape(merged, (1, shape.rows, inner) if shape.batch else (shape.rows, inner))
        if shape.projected:
            y = self.linear(y, self.matrix(inner, shape.width), -4, "o")
        editor.graph.outputs = [y]
        return editor.finish()

    def heads(self, x: gs.Tensor) -> list[gs.Tensor]:
        """q, k and v as [1, H, S, P], or [H, S, P]."""
        shape, kind = self.shape, self.shape.weights
        inner = shape.heads * shape.size
        matrices = [self.matrix(shape.width, inner) for _ in range(3)]
        if kind == "separate":
            sources = (x, self.first_rows(x), self.first_rows(x))
            return [
                self.split_heads(self.linear(source, matrix, zero, name))
                for source, matrix, zero, name in zip(sources, matrices, shape.zeros, "qkv", strict=True)
            ]
        zeros = np.repeat(shape.zeros, inner)
        if kind == "interleaved":  # columns are [head, (q, k, v), P]
            by_head = [matrix.reshape(shape.width, shape.heads, shape.size) for matrix in matrices]
            merged = np.stack(by_head, axis=2).reshape(shape.width, 3 * inner)
            zeros = np.tile(np.repeat(shape.zeros, shape.size), shape.heads)
        else:
            merged = np.concatenate(matrices, axis=1)
        y = self.linear(x, merged, zeros, "qkv")
        return self.cut(y, inner)

    def first_rows(self, x: gs.Tensor) -> gs.Tensor:
        """The tokens that give keys and values."""
        if not self.shape.keys:
            return x
        limits = [self.editor.constant("rows", np.array([limit], np.int64)) for limit in (0, self.shape.keys, -2)]
        return self.node("Slice", [x, *limits], (*x.shape[:-2], self.shape.keys, x.shape[-1]))

    def cut(self, y: gs.Tensor, inner: int) -> list[gs.Tensor]:
        """The three parts of one result."""
        shape, editor, lead = self.shape, self.editor, tuple(y.shape[:-1])
        if shape.weights == "split":
            parts = [editor.variable(f"part_{i}", np.int8, (*lead, inner)) for i in range(3)]
            sizes = editor.constant("sizes", np.full(3, inner, np.int64))
            editor.graph.nodes.append(gs.Node("Split", "cut", {"axis": -1}, [y, sizes], parts))
            return [self.split_heads(part) for part in parts]
        if shape.weights == "slice":
            parts = []
            for i in range(3):
                limits = [[i * inner], [(i + 1) * inner], [-1]]
                given = [editor.constant("limit", np.array(limit, np.int64)) for limit in limits]
                parts.append(self.node("Slice", [y, *given], (*lead, inner)))
            return [self.split_heads(part) for part in parts]
        if shape.weights == "gather":  # [1, S, 3, H, P] -> [3, 1, H, S, P], as timm writes it
            five = self.reshape(y, (1, shape.rows, 3, shape.heads, shape.size))
            turned = self.transpose(five, [2, 0, 3, 1, 4])
        else:
            five = self.reshape(y, (1, shape.rows, shape.heads, 3, shape.size))
            turned = self.transpose(five, [3, 0, 2, 1, 4])
        taken = []
        for i in range(3):
            index = editor.constant("index", np.array(i, np.int64))
            part = self.node("Gather", [turned, index], tuple(turned.shape[1:]), axis=0)
            taken.append(self.reshape(part, (shape.heads, shape.rows, shape.size)) if shape.flat else part)
        return taken

    def split_heads(self, y: gs.Tensor) -> gs.Tensor:
        """[.., S, HP] -> [1, H, S, P] or [H, S, P]."""
        shape = self.shape
        if shape.flat:
            return self.transpose(self.reshape(y, (y.shape[-2], shape.heads, shape.size)), [1, 0, 2])
        return self.transpose(self.reshape(y, (1, y.shape[-2], shape.heads, shape.size)), [0, 2, 1, 3])

    def turn(self, k: gs.Tensor) -> gs.Tensor:
        """The last two axes change places."""
        rank = len(k.shape)
        if self.shape.turned:  # through another shape
            k = self.reshape(k, (self.shape.heads, self.shape.rows, self.shape.size))
            k = self.transpose(k, [0, 2, 1])
            lead = (1,) * (rank - 3)
            return self.reshape(k, (*lead, self.shape.heads, self.shape.size, self.shape.rows))
        return self.transpose(k, [*range(rank - 2), rank - 1, rank - 2])

    def matrix(self, inputs: int, columns: int) -> Ints:
        """Random weights."""
        return np.clip(np.rint(self.random.normal(0, 30, (inputs, columns))), -127, 127).astype(np.int64)

    def linear(self, x: gs.Tensor, weight: Ints, zero: int | Ints, name: str) -> gs.Variable:
        """MatMulInteger and RequantI8, results spread around ``zero``."""
        columns = weight.shape[1]
        w = self.editor.constant(f"{name}_w", weight.astype(np.int8))
        acc = self.node("MatMulInteger", [x, w], (*x.shape[:-1], columns), np.int32, name=name)
        factor = self.random.uniform(0.7, 1.3, (1, columns)) if self.shape.per_column else 1.0
        slope = factor / (30 * weight.shape[0] ** 0.5)
        offset = np.broadcast_to(zero + self.random.normal(0, 5, (1, columns)), (1, columns))
        return self.requant(acc, slope, offset, name)

    def product(
        self, a: gs.Tensor, b: gs.Tensor, zeros: tuple[int, int], name: str, size: float, zero: int
    ) -> gs.Variable:
        """A product of two activations, its results spread around ``zero``."""
        constants = [
            self.editor.constant(f"{name}_zero", np.array(value, tensor.dtype))
            for value, tensor in zip(zeros, (a, b), strict=True)
        ]
        acc = self.node("MatMulInteger", [a, b, *constants], (*a.shape[:-1], b.shape[-1]), np.int32, name=name)
        return self.requant(acc, self._SPREAD / size, float(zero), name)

    def requant(self, acc: gs.Tensor, slope: float | NDArray[np.float64], offset: object, name: str) -> gs.Variable:
        """RequantI8 with these real numbers."""
        unit = 2.0**self._SHIFT
        numbers = {
            "M": np.rint(np.asarray(slope) * unit),
            "B": np.rint((np.asarray(offset) + 0.5) * unit),
            "D": np.array(unit),
            "lo": np.array(-128),
            "hi": np.array(127),
        }
        given = [self.editor.constant(f"{name}_{key}", value.astype(np.int64)) for key, value in numbers.items()]
        return self.node("match.arith::RequantI8", [acc, *given], tuple(acc.shape), name=f"{name}_requant")

    def softmax(self, logits: gs.Tensor) -> gs.Variable:
        """SoftmaxI8 with zero point -128, or SoftmaxU8."""
        spread = self._SPREAD * (0.5 if self.shape.scaled else 1.0)
        table = np.rint(np.exp(-np.arange(256) * self.shape.spread / spread) * 2.0**24).astype(np.int64)
        unsigned = self.shape.unsigned
        numbers = (255, 0, 0, 255) if unsigned else (255, -128, -128, 127)
        given = [self.editor.constant("softmax", value) for value in (table, *map(np.int64, numbers))]
        given = [self.editor.constant("softmax_c", np.asarray(tensor.values, np.int64)) for tensor in given]
        op, dtype = ("SoftmaxU8", np.uint8) if unsigned else ("SoftmaxI8", np.int8)
        return self.node(f"match.arith::{op}", [logits, *given], tuple(logits.shape), dtype, name="softmax", axis=-1)

    def reshape(self, x: gs.Tensor, shape: tuple[int, ...]) -> gs.Variable:
        """Reshape."""
        return self.node("Reshape", [x, self.editor.constant("shape", np.array(shape, np.int64))], shape, x.dtype)

    def transpose(self, x: gs.Tensor, perm: list[int]) -> gs.Variable:
        """Transpose."""
        return self.node("Transpose", [x], tuple(x.shape[axis] for axis in perm), x.dtype, perm=perm)

    def node(
        self,
        op: str,
        inputs: list[gs.Tensor],
        shape: tuple[int, ...],
        dtype: object = np.int8,
        name: str = "",
        **attrs: object,
    ) -> gs.Variable:
        """Any node."""
        name = name or op.lower()
        return self.editor.node(op, inputs, dtype, shape, name=name, origin=(name,), attrs=attrs)


def context(preset: str = "rtl") -> PassContext:
    """The Soc with a preset, and its units."""
    target = hardware()
    return PassContext(replace(target.socs[0], preset=preset), target.units)


def random_input(shape: Shape, seed: int = 1) -> dict[str, NDArray[np.int8]]:
    """Tokens with a spread of 35."""
    values = np.random.default_rng(seed).normal(0, 35, (1, shape.rows, shape.width))
    return {"x": np.clip(np.rint(values), -128, 127).astype(np.int8)}
