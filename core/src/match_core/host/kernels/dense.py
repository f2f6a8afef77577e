"""Matrix products: MatMulInteger, MatMul, Gemm, with batch axes and broadcasting, and elementwise epilogues.

A constant second operand is stored transposed ([..., N, K]), so that both operands are read contiguously.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.host.graph import (
    dtype_of,
    elements,
    input_at,
    integer,
    is_constant,
    number,
    shape_of,
    values_of,
)
from match_core.host.kernels.built import Built
from match_core.host.kernels.code import Code, Uses, affine, inline_code, literal, minus
from match_core.host.kernels.elementwise import Body, body, describe, factor, packed_constants, rounded_sum, statements
from match_core.host.kernels.nest import Nest, broadcast_strides, merge, row_major
from match_core.host.kernels.scalar import loaded, moved_halves, scalar_type, stored, wide_unsigned
from match_core.host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

DENSE_OPS = ("MatMulInteger", "MatMul", "Gemm")


@dataclass(frozen=True)
class _Product:
    """``shape`` is [batch..., M, N] with M or N of 1 where an operand is a vector; strides are per axis of it."""

    node: gs.Node
    shape: tuple[int, ...]
    depth: int
    a_strides: tuple[int, ...]
    a_step: int
    b_strides: tuple[int, ...]
    b_step: int
    packed: NDArray[np.generic] | None

    @property
    def result(self) -> gs.Tensor:
        return self.node.outputs[0]

    @property
    def integer(self) -> bool:
        return bool(self.node.op == "MatMulInteger")


def _product(node: gs.Node) -> _Product:
    a, b = shape_of(node.inputs[0]), shape_of(node.inputs[1])
    a, b = (a if len(a) > 1 else (1, *a)), (b if len(b) > 1 else (*b, 1))
    trans_a = node.op == "Gemm" and integer(node, "transA", 0) != 0
    trans_b = node.op == "Gemm" and integer(node, "transB", 0) != 0
    rows, depth = (a[-1], a[-2]) if trans_a else (a[-2], a[-1])
    columns = b[-2] if trans_b else b[-1]
    rank = max(len(a), len(b))
    a_batch, b_batch = ((1,) * (rank - len(s)) + s[:-2] for s in (a, b))
    batch = tuple(max(one, two) for one, two in zip(a_batch, b_batch, strict=True))
    packed = None
    if is_constant(node.inputs[1]) and not trans_b:
        packed = np.ascontiguousarray(np.swapaxes(values_of(node.inputs[1]).reshape(b), -1, -2))
    a_outer = _batch_strides(a_batch, rows * depth)
    b_outer = _batch_strides(b_batch, columns * depth)
    row_step, a_step = (1, rows) if trans_a else (depth, 1)
    column_step, b_step = (depth, 1) if trans_b or packed is not None else (1, columns)
    return _Product(
        node=node,
        shape=(*batch, rows, columns),
        depth=depth,
        a_strides=(*a_outer, row_step if rows > 1 else 0, 0),
        a_step=a_step,
        b_strides=(*b_outer, 0, column_step if columns > 1 else 0),
        b_step=b_step,
        packed=packed,
    )


def _batch_strides(batch: tuple[int, ...], matrix: int) -> tuple[int, ...]:
    return tuple(stride * matrix for stride in broadcast_strides(batch))


def build_dense(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The kernel of a matrix product and the elementwise operators on its result."""
    product, code, uses = _product(nodes[0]), Code(), Uses()
    epilogue = body(nodes[1:], given=(product.result.name,)) if len(nodes) > 1 else None
    own, extra = _own_arguments(product)
    arguments = own + (tuple(argument.tensor for argument in epilogue.arguments) if epilogue else ())
    constants = {} if product.packed is None else {1: product.packed}
    if epilogue:
        constants |= packed_constants(epilogue, len(own))
    _write(product, epilogue, len(own), extra, code, uses)
    outputs = nodes[-1].outputs[:1]
    macs = elements(product.shape) * product.depth
    work = Work(macs=macs) if product.integer else Work(floating_macs=macs)
    work += moved_halves(dtype_of(product.result), 2 * macs + elements(product.shape))
    per_output = (epilogue.work if epilogue else Work()) + Work(memory=1, steps=1)
    work += per_output.times(elements(product.shape))
    sizes = "x".join(str(size) for size in (*product.shape[:-1], product.depth, product.shape[-1]))
    tail = f", {describe(epilogue)}" if epilogue else ""
    comment = f"{product.node.op}{tail}: {sizes} multiply-accumulates"
    return Built(arguments, inline_code(function, comment, arguments, outputs, code.text, uses, constants), work)


def _own_arguments(product: _Product) -> tuple[tuple[gs.Tensor, ...], dict[int, gs.Tensor | str]]:
    """Both operands and what else is read: Gemm's third input, zero points. The mapping gives, by node input, a
    literal or the tensor (then read as the argument at its position)."""
    node = product.node
    own: list[gs.Tensor] = [node.inputs[0], node.inputs[1]]
    extra: dict[int, gs.Tensor | str] = {}
    for index in (2, 3):
        tensor = input_at(node, index)
        if tensor is None:
            continue
        values = values_of(tensor).reshape(-1) if is_constant(tensor) else None
        if values is not None and product.integer and bool((values == values[0]).all()):
            if int(values[0]):
                extra[index] = str(int(values[0]))
            continue
        extra[index] = tensor
        own.append(tensor)
    return tuple(own), extra


def _nest(product: _Product, epilogue: Body | None, operands: list[tuple[int, ...]]) -> Nest:
    rank = len(product.shape)
    seen = [argument.shape for argument in epilogue.arguments if argument.shape is not None] if epilogue else []
    operands = [*operands, *(_aligned(shape, product, rank) for shape in seen)]
    return merge(product.shape, [row_major(product.shape), product.a_strides, product.b_strides, *operands])


def _aligned(seen: tuple[int, ...], product: _Product, rank: int) -> tuple[int, ...]:
    """Strides over the product's axes of a tensor that has the result's rank (vector operands drop an axis)."""
    if len(seen) == rank:
        return broadcast_strides(seen)
    return row_major(product.shape) if elements(seen) > 1 else (0,) * rank


def _write(
    product: _Product, epilogue: Body | None, first: int, extra: dict[int, gs.Tensor | str], code: Code, uses: Uses
) -> None:
    places: dict[int, tuple[int, ...]] = {}
    for index, tensor in extra.items():
        if not isinstance(tensor, str):
            places[index] = _extra_strides(product, index, tensor)
    nest, rank = _nest(product, epilogue, list(places.values())), len(product.shape)
    names: dict[int, str] = {}
    position = 2
    for index, tensor in extra.items():
        if isinstance(tensor, str):
            names[index] = tensor
        else:
            names[index] = f"in{position}[{nest.index(places[index])}]"
            position += 1
    dtype = dtype_of(product.result)
    with code.loops(nest.variables):
        code.line(f"{scalar_type(dtype)} acc = {literal(0, dtype)};")
        with code.loop("d", product.depth) as step:
            a = f"in0[{affine((*nest.terms(product.a_strides), (step, product.a_step)))}]"
            b = f"in1[{affine((*nest.terms(product.b_strides), (step, product.b_step)))}]"
            a = factor(a, dtype_of(product.node.inputs[0]), code)
            b = loaded(b, dtype_of(product.node.inputs[1]))
            if product.integer:
                a, b = minus(a, names.get(2, "")), minus(b, names.get(3, ""))
            if product.integer or dtype.kind == "f":
                code.line(f"acc += {a} * {b};")
            else:  # whole numbers of any size wrap around
                wide = wide_unsigned(dtype)
                code.line(f"acc = ({scalar_type(dtype)})(({wide})acc + ({wide}){a} * ({wide}){b});")
        if not product.integer:
            _finish_gemm(product.node, dtype, names.get(2, ""), code)
        place = f"out0[{nest.index(row_major(product.shape))}]"
        if epilogue:

            def index_of(seen: tuple[int, ...]) -> str:
                return nest.index(_aligned(seen, product, rank))

            known = {product.result.name: rounded_sum(dtype, code)}
            code.lines(statements(epilogue, uses, index_of, place, first, known))
        else:
            code.line(f"{place} = {stored('acc', dtype)};")


def _extra_strides(product: _Product, index: int, tensor: gs.Tensor) -> tuple[int, ...]:
    """Strides of Gemm's third input (broadcast to M x N), or of a zero point: per row of the first operand, per
    column of the second, or one value."""
    shape, rank = shape_of(tensor), len(product.shape)
    if not product.integer or elements(shape) == 1:
        return broadcast_strides((1,) * (rank - len(shape)) + shape)
    if len(shape) == 1:
        return tuple(int(axis == (rank - 2 if index == 2 else rank - 1)) for axis in range(rank))
    return broadcast_strides((1,) * (rank - len(shape)) + shape)


def _finish_gemm(node: gs.Node, dtype: np.dtype[np.generic], addend: str, code: Code) -> None:
    """alpha * sum + beta * C."""
    alpha = number(node, "alpha", 1.0) if node.op == "Gemm" else 1.0
    beta = number(node, "beta", 1.0) if node.op == "Gemm" else 1.0
    scaled = "acc" if alpha == 1.0 else f"acc * {literal(alpha, dtype)}"
    if addend:
        addend = loaded(addend, dtype)
        term = addend if beta == 1.0 else f"{literal(beta, dtype)} * {addend}"
        code.line(f"acc = {scaled} + {term};")
    elif scaled != "acc":
        code.line(f"acc = {scaled};")
