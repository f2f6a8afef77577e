"""A linear layer of the integer graph: MatMulInteger with constant weights and the RequantI8 after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.editor import Editor
from match_core.ir.reader import constant, producer
from numpy.typing import NDArray

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Ints = NDArray[np.int64]

#: Results saturate at these.
INT8_MIN, INT8_MAX = -128, 127


@dataclass(frozen=True, slots=True)
class LinearLayer:
    """``y = clip(floor(((x w) * multiplier + addend) / 2^shift), lo, hi)`` for x int8 [.., C]; ``weight`` int64 [C, K],
    ``multiplier`` and ``addend`` [K]."""

    matmul: gs.Node
    requant: gs.Node
    weight: Ints
    multiplier: Ints
    addend: Ints
    shift: int
    lo: int
    hi: int

    @property
    def x(self) -> gs.Tensor:
        """The input."""
        return self.matmul.inputs[0]

    @property
    def y(self) -> gs.Variable:
        """The result."""
        result: gs.Variable = self.requant.outputs[0]
        return result

    @property
    def name(self) -> str:
        """The name of the product's node."""
        return str(self.matmul.name)


def linear_layer(requant: gs.Node, outputs: Sequence[gs.Tensor]) -> LinearLayer | None:
    """The layer that ends in this node; None where it is none, or something else reads the sums."""
    if qualified_op(requant) != "match.arith::RequantI8":
        return None
    acc = requant.inputs[0]
    matmul = producer(acc)
    if matmul is None or qualified_op(matmul) != "MatMulInteger" or not is_private(acc, outputs):
        return None
    weight = constant(matmul.inputs[1])
    if weight is None or weight.ndim != 2 or weight.dtype != np.int8 or matmul.inputs[0].dtype != np.int8:
        return None
    if any(not tensor.is_empty() for tensor in matmul.inputs[2:]):
        return None
    multiplier, addend, divisor, lo, hi = (_integers(tensor) for tensor in requant.inputs[1:])
    rank, columns = len(acc.shape), weight.shape[1]
    m, b = per_column(multiplier, rank, columns), per_column(addend, rank, columns)
    shift = int(divisor).bit_length() - 1
    if m is None or b is None or int(divisor) != 1 << shift or int(m.min(initial=0)) < 0:
        return None
    return LinearLayer(matmul, requant, weight.astype(np.int64), m, b, shift, int(lo), int(hi))


def linear_layers(editor: Editor) -> list[LinearLayer]:
    """All layers of the graph, in its order."""
    found = (linear_layer(node, editor.graph.outputs) for node in list(editor.graph.nodes))
    return [layer for layer in found if layer is not None]


def is_private(tensor: gs.Tensor, outputs: Sequence[gs.Tensor]) -> bool:
    """Whether one node reads the tensor and it is no output of the graph."""
    return len(tensor.outputs) == 1 and not any(tensor is output for output in outputs)


def per_column(values: Ints, rank: int, columns: int) -> Ints | None:
    """``values``, which broadcast to a tensor of this rank, as [columns] of its last axis; None where they differ along
    another axis."""
    if values.size == 1:
        return np.full(columns, values.reshape(-1)[0], np.int64)
    if values.ndim > rank or values.shape[-1] != columns or values.size != columns:
        return None
    return values.reshape(columns)


def value_range(x: gs.Tensor) -> tuple[int, int]:
    """The range of an int8 tensor, from the bounds of the node that computes it."""
    node = producer(x)
    if node is None:
        return INT8_MIN, INT8_MAX
    op = qualified_op(node)
    if op in ("Reshape", "Transpose"):
        return value_range(node.inputs[0])
    if op in ("match.arith::RequantI8", "match.arith::AddRequantI8"):
        lo, hi = (int(_integers(tensor)) for tensor in node.inputs[-2:])
        return lo, hi
    if op == "match.arith::LutI8":
        table = _integers(node.inputs[1])
        return int(table.min()), int(table.max())
    return INT8_MIN, INT8_MAX


def sum_ranges(weight: Ints, lo: int, hi: int) -> tuple[Ints, Ints]:
    """The least and the largest sum of each column of ``weight`` [C, K] for x in [lo, hi]."""
    positive, negative = np.maximum(weight, 0).sum(axis=0), np.minimum(weight, 0).sum(axis=0)
    return positive * lo + negative * hi, positive * hi + negative * lo


def requant_constants(
    editor: Editor,
    name: str,
    rank: int,
    multiplier: Ints,
    addend: Ints,
    shift: int,
    bounds: tuple[int, int] = (INT8_MIN, INT8_MAX),
) -> list[gs.Constant]:
    """M, B, D, lo and hi of a RequantI8 of a tensor of this rank; M and B are [K], or scalars where all agree."""
    result = []
    for hint, values in (("multiplier", multiplier), ("addend", addend)):
        same = values.size > 0 and bool(np.all(values == values.reshape(-1)[0]))
        stored = np.array(values.reshape(-1)[0], np.int64) if same else values.reshape(*[1] * (rank - 1), -1)
        result.append(editor.constant(f"{name}_{hint}", stored))
    numbers = {"divisor": 1 << shift, "lo": bounds[0], "hi": bounds[1]}
    return result + [editor.constant(f"{name}_{hint}", np.array(n, np.int64)) for hint, n in numbers.items()]


def set_requant(editor: Editor, layer: LinearLayer, multiplier: Ints, addend: Ints, shift: int) -> None:
    """Give the layer other constants."""
    bounds, rank = (layer.lo, layer.hi), len(layer.y.shape)
    constants = requant_constants(editor, layer.requant.name, rank, multiplier, addend, shift, bounds)
    layer.requant.inputs = [layer.requant.inputs[0], *constants]


def set_weight(editor: Editor, layer: LinearLayer, weight: Ints) -> None:
    """Give the layer other weights of the same shape."""
    layer.matmul.inputs[1] = editor.constant(f"{layer.name}_weight", weight.astype(np.int8))


def _integers(tensor: gs.Tensor) -> Ints:
    values = constant(tensor)
    if values is None:
        raise ValueError(f"{tensor.name!r} is no constant")
    return np.asarray(values).astype(np.int64)
