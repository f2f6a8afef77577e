"""The geometry of matrix products: batch axes, rows, columns, and the positions of the operands' elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant

from match_host.graph import elements, integer, values_of
from match_host.kernels.nest import broadcast_strides, merge, row_major

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

DENSE_OPS = ("MatMulInteger", "match.arith::MatMulIntegerI16", "MatMul", "Gemm")
#: Names of the loops around rows and columns.
OUTER = "mnqstuvwyz"


@dataclass(frozen=True)
class DenseShape:
    """``shape`` is [batch..., M, N] with M or N of 1 if an operand is a vector; strides of the operands are per axis,
    and ``a_step``, ``b_step`` along the sum."""

    node: gs.Node
    shape: tuple[int, ...]
    depth: int
    a_strides: tuple[int, ...]
    a_step: int
    b_batch: tuple[int, ...]
    b_column_step: int
    b_step: int

    @property
    def result(self) -> gs.Tensor:
        """What the product computes."""
        return self.node.outputs[0]

    @property
    def integer(self) -> bool:
        """Whether values of 8 or 16 bits are multiplied and added in 32 bits."""
        return "MatMulInteger" in self.node.op

    @property
    def columns(self) -> int:
        """Columns of the result."""
        return self.shape[-1]

    @property
    def constant(self) -> bool:
        """Whether the second operand's values are known."""
        return is_constant(self.node.inputs[1])

    def columns_first(self) -> NDArray[np.generic]:
        """The constant second operand as [matrices][N][K]."""
        values = values_of(self.node.inputs[1])
        values = values.reshape(*values.shape, 1) if values.ndim == 1 else values
        if not self.transposed:
            values = np.swapaxes(values, -1, -2)
        return np.ascontiguousarray(values).reshape(-1, self.columns, self.depth)

    @property
    def transposed(self) -> bool:
        """Whether the second operand has its columns first."""
        return bool(self.node.op == "Gemm") and integer(self.node, "transB", 0) != 0

    def b_strides(self, matrix: int) -> tuple[int, ...]:
        """Strides of the second operand over batch and rows, for matrices of ``matrix`` elements."""
        return (*(stride * matrix for stride in broadcast_strides(self.b_batch)), 0)

    def aligned(self, seen: Sequence[int]) -> tuple[int, ...]:
        """Strides over the product's axes of a tensor that has the result's rank (vector operands drop an axis)."""
        rank = len(self.shape)
        if len(seen) == rank:
            return broadcast_strides(seen)
        return row_major(self.shape) if elements(tuple(seen)) > 1 else (0,) * rank


def dense_shape(node: gs.Node) -> DenseShape:
    """The geometry of one product."""
    a, b = shape_of(node.inputs[0]), shape_of(node.inputs[1])
    a, b = (a if len(a) > 1 else (1, *a)), (b if len(b) > 1 else (*b, 1))
    trans_a = node.op == "Gemm" and integer(node, "transA", 0) != 0
    trans_b = node.op == "Gemm" and integer(node, "transB", 0) != 0
    rows, depth = (a[-1], a[-2]) if trans_a else (a[-2], a[-1])
    columns = b[-2] if trans_b else b[-1]
    rank = max(len(a), len(b))
    a_batch, b_batch = ((1,) * (rank - len(s)) + s[:-2] for s in (a, b))
    batch = tuple(max(one, two) for one, two in zip(a_batch, b_batch, strict=True))
    row_step, a_step = (1, rows) if trans_a else (depth, 1)
    a_outer = tuple(stride * rows * depth for stride in broadcast_strides(a_batch))
    return DenseShape(
        node=node,
        shape=(*batch, rows, columns),
        depth=depth,
        a_strides=(*a_outer, row_step if rows > 1 else 0, 0),
        a_step=a_step,
        b_batch=b_batch,
        b_column_step=depth if trans_b else 1,
        b_step=1 if trans_b else columns,
    )


@dataclass(frozen=True, slots=True)
class Rows:
    """The loops over batch and rows. ``outer`` are (name, size, axis), outermost first; ``rows`` rows, along ``axis``
    (None: a single one), read the same matrix."""

    outer: tuple[tuple[str, int, int], ...]
    rows: int
    axis: int | None

    def terms(self, strides: Sequence[int], row: str) -> list[tuple[str, int]]:
        """Terms of the index of an operand with these strides; ``row`` is the variable of the row."""
        found = [(name, strides[axis]) for name, _, axis in self.outer]
        return found if self.axis is None else [*found, (row, strides[self.axis])]

    def step(self, strides: Sequence[int]) -> int:
        """Elements of an operand from one row to the next."""
        return 0 if self.axis is None else strides[self.axis]


def rows_of(product: DenseShape, operands: Sequence[Sequence[int]]) -> Rows:
    """Loops over batch and rows; neighbouring axes with uniform strides in all ``operands`` become one loop."""
    matrix = product.b_strides(1)
    space = product.shape[:-1]
    nest = merge(space, [strides[: len(space)] for strides in (row_major(product.shape), matrix, *operands)])
    groups = [(size, axis) for axis, size in nest.groups]
    shared = bool(groups) and matrix[groups[-1][1]] == 0
    outer = groups[:-1] if shared else groups
    names = tuple((name, size, axis) for name, (size, axis) in zip(OUTER, outer, strict=False))
    return Rows(names, groups[-1][0] if shared else 1, groups[-1][1] if shared else None)
