"""Nodes that several passes write: int8 tensors in other shapes and orders, and requantised products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.editor import Editor
from match_core.ir.reader import shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Names of the source model's nodes that a new one replaces.
Origin = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """Name and origin of a new node."""

    name: str
    origin: Origin


def reshaped(editor: Editor, x: gs.Tensor, shape: Sequence[int], name: str, origin: Origin) -> gs.Tensor:
    """``x`` with another shape (itself where it has it)."""
    if shape_of(x) == tuple(shape):
        return x
    target = editor.constant(f"{name}_shape", np.array(shape, np.int64))
    return editor.node("Reshape", [x, target], x.dtype, shape, name=name, origin=origin)


def transposed(editor: Editor, x: gs.Tensor, perm: Sequence[int], name: str, origin: Origin) -> gs.Variable:
    """``x`` with its axes in another order."""
    shape = [shape_of(x)[axis] for axis in perm]
    return editor.node("Transpose", [x], x.dtype, shape, name=name, origin=origin, attrs={"perm": list(perm)})


def padded(
    editor: Editor, x: gs.Tensor, axis: int, added: tuple[int, int], name: str, origin: Origin, value: int = 0
) -> gs.Tensor:
    """The int8 tensor with as many elements of ``value`` before and after an axis (itself if there are none)."""
    if not any(added):
        return x
    shape = list(shape_of(x))
    shape[axis] += sum(added)
    amounts = np.zeros((2, len(shape)), np.int64)
    amounts[:, axis] = added
    given = [
        editor.constant(f"{name}_amounts", amounts.reshape(-1)),
        editor.constant(f"{name}_value", np.array(value, np.int8)),
    ]
    return editor.node("Pad", [x, *given], np.int8, shape, name=name, origin=origin)


def sliced(editor: Editor, x: gs.Tensor, start: int, end: int, name: str, origin: Origin) -> gs.Variable:
    """Columns ``start`` to ``end`` - 1 of ``x``: of its last axis."""
    limits = {"starts": start, "ends": end, "axes": len(shape_of(x)) - 1}
    given = [editor.constant(f"{name}_{hint}", np.array([number], np.int64)) for hint, number in limits.items()]
    shape = (*shape_of(x)[:-1], end - start)
    return editor.node("Slice", [x, *given], x.dtype, shape, name=name, origin=origin)


def strided(editor: Editor, x: gs.Tensor, rows: range, name: str, origin: Origin) -> gs.Variable:
    """Some rows of the matrix ``x``."""
    limits = {"starts": rows[0], "ends": rows[-1] + 1, "axes": 0, "steps": rows.step}
    given = [editor.constant(f"{name}_{hint}", np.array([number], np.int64)) for hint, number in limits.items()]
    return editor.node("Slice", [x, *given], x.dtype, (len(rows), shape_of(x)[1]), name=name, origin=origin)


def product(
    editor: Editor, a: gs.Tensor, b: gs.Tensor, constants: Sequence[gs.Tensor], matmul: Label, requant: Label
) -> gs.Variable:
    """MatMulInteger of two int8 tensors, and RequantI8 with these constants (M, B, D, lo, hi) behind it."""
    shape = (*shape_of(a)[:-1], shape_of(b)[-1])
    acc = editor.node("MatMulInteger", [a, b], np.int32, shape, name=matmul.name, origin=matmul.origin)
    op = "match.arith::RequantI8"
    return editor.node(op, [acc, *constants], np.int8, shape, name=requant.name, origin=requant.origin)
