"""Matrix products: MatMulInteger, MatMul, Gemm, with batch axes and broadcasting, and elementwise epilogues.

Results are computed in tiles of rows times columns (kernels/blocked.py). A constant second operand is stored in the
order in which tiles read it. Every sum adds its products in the order of the first operand's columns.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, elements, number, values_of
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, inline_code, literal, minus
from match_host.kernels.elementwise.elementwise import Body, body, describe, packed_constants, rounded_sum, statements
from match_host.kernels.nest import broadcast_strides, row_major
from match_host.kernels.products.blocked import After, TileWriter, address, tile_work, tiles, wraps_around
from match_host.kernels.products.dense_shape import DENSE_OPS, DenseShape, dense_shape, rows_of
from match_host.kernels.products.packing import packed_across
from match_host.kernels.products.tiling import Product, adds_along, tile_for
from match_host.kernels.products.told import told_product, told_tiles
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored, wide_unsigned
from match_host.kernels.work import Work
from match_host.machine import GENERIC, Machine

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.contract.unit_api import InlineCode
    from numpy.typing import NDArray

__all__ = ["DENSE_OPS", "build_dense"]


def build_dense(nodes: tuple[gs.Node, ...], function: str, machine: Machine = GENERIC) -> Built:
    """The kernel of a matrix product and the elementwise operators on its result."""
    product = dense_shape(nodes[0])
    machine = machine.products(product.node.inputs[1])
    epilogue = body(nodes[1:], given=(product.result.name,)) if len(nodes) > 1 else None
    writer = _Writer(product, epilogue, machine)
    arguments, outputs = tuple(writer.arguments), nodes[-1].outputs[:1]
    macs = elements(product.shape) * product.depth
    work = tile_work(writer.tile, macs, writer.a_type, floating=not product.integer)
    work += moved_halves(writer.dtype, elements(product.shape))
    per_output = (epilogue.work if epilogue else Work()) + Work(memory=1, steps=1)
    work += per_output.times(elements(product.shape))
    sizes = "x".join(str(size) for size in (*product.shape[:-1], product.depth, product.shape[-1]))
    tail = f", {describe(epilogue)}" if epilogue else ""
    comment = f"{product.node.op}{tail}: {sizes} multiply-accumulates"

    def code() -> InlineCode:
        writer.write()
        return inline_code(function, comment, arguments, outputs, writer.code.text, writer.uses, writer.constants)

    told = {**told_product(product.node, macs), **writer.told}
    told |= epilogue.told_of(elements(product.shape)) if epilogue else {}
    return Built(arguments, code, work, constants=writer.constants, told=told)


class _Writer:
    """Writes one kernel and collects its operands."""

    def __init__(self, product: DenseShape, epilogue: Body | None, machine: Machine) -> None:
        self.product, self.epilogue, self.code, self.uses = product, epilogue, Code(), Uses(machine.vectors)
        self.writer = machine.writer or TileWriter
        self.node, self.dtype = product.node, dtype_of(product.result)
        self.a_type, self.b_type = dtype_of(self.node.inputs[0]), dtype_of(self.node.inputs[1])
        self.constants: dict[int, NDArray[np.generic]] = {}
        self.arguments: list[gs.Tensor] = [self.node.inputs[0], self.node.inputs[1]]
        self.extra = self._extra()
        seen = [argument.shape for argument in epilogue.arguments if argument.shape is not None] if epilogue else []
        strides = [item for _, item in self.extra.values() if isinstance(item, tuple)]
        self.rows = rows_of(product, [product.a_strides, *strides, *map(product.aligned, seen)])
        wanted = Product(
            line=self.rows.rows,
            outputs=product.columns,
            depth=product.depth,
            value_bytes=product.depth * self.a_type.itemsize,
            weight_bytes=product.depth * self.b_type.itemsize,
            sum_bytes=arithmetic(self.dtype).itemsize,
            floating=arithmetic(self.dtype).kind == "f",
            run=self._dot_run(),
        )
        self.tile = tile_for(wanted, machine)
        self.along = not self.tile.rows and (
            adds_along(wanted, machine) or (product.transposed and not product.constant)
        )
        self._pack()
        signed = self.a_type == np.int8 and self.b_type == np.int8
        self.flips = self.along and signed and machine.unsigned_dot and product.constant
        self.start = self._start()
        self.first = len(self.arguments)
        if epilogue:
            self.arguments += [argument.tensor for argument in epilogue.arguments]
            self.constants |= packed_constants(epilogue, self.first)

    @property
    def told(self) -> dict[str, int]:
        """The tiles."""
        rows, columns = self.tile.positions, self.tile.outputs
        lines = elements(tuple(size for _, size, _ in self.rows.outer))
        return told_tiles(rows, columns, lines * -(-self.rows.rows // rows) * -(-self.product.columns // columns))

    def _argument(self, tensor: gs.Tensor) -> str:
        self.arguments.append(tensor)
        return f"in{len(self.arguments) - 1}"

    def _extra(self) -> dict[int, tuple[str, tuple[int, ...] | None]]:
        """Gemm's third input, zero points: by node input a literal and None, or the argument's name and its strides
        over the product's axes. Zero points that are 0 are omitted."""
        extra: dict[int, tuple[str, tuple[int, ...] | None]] = {}
        for index in (2, 3):
            tensor = optional_input(self.node, index)
            if tensor is None:
                continue
            values = values_of(tensor).reshape(-1) if is_constant(tensor) else None
            if values is not None and self.product.integer and bool((values == values[0]).all()):
                if int(values[0]):
                    extra[index] = (str(int(values[0])), None)
                continue
            extra[index] = (self._argument(tensor), self._extra_strides(index, tensor))
        return extra

    def _extra_strides(self, index: int, tensor: gs.Tensor) -> tuple[int, ...]:
        """Strides of Gemm's third input (broadcast to M x N), or of a zero point: per row of the first operand, per
        column of the second, or one value."""
        shape, rank = shape_of(tensor), len(self.product.shape)
        if not self.product.integer or elements(shape) == 1:
            return broadcast_strides((1,) * (rank - len(shape)) + shape)
        if len(shape) == 1:
            return tuple(int(axis == (rank - 2 if index == 2 else rank - 1)) for axis in range(rank))
        return broadcast_strides((1,) * (rank - len(shape)) + shape)

    def _dot_run(self) -> int:
        """Contiguous bytes along which sums may be reordered."""
        product = self.product
        contiguous = product.a_step == 1 and (product.constant or product.b_step == 1)
        return product.depth if product.integer and contiguous and not self.extra else 0

    def _pack(self) -> None:
        """Choose the order of the second operand and its strides: matrices, columns, along the sum."""
        product, block = self.product, self.tile.outputs
        self.packed = product.constant and not self.along
        self.matrix = product.depth * product.columns
        self.column_step, self.step = product.b_column_step, product.b_step
        if self.packed:
            matrices = [packed_across(matrix, 1, block) for matrix in product.columns_first()]
            self.constants[1] = self.writer.stored(np.stack(matrices), self.tile)
            self.matrix = self.constants[1][0].size
            self.column_step, self.step = 1, self.constants[1].shape[-1]
        elif product.constant:
            self.constants[1] = product.columns_first()
            self.column_step, self.step = product.depth, 1

    def _start(self) -> tuple[str, tuple[int, ...]]:
        """The initial value of sums: a literal, or an array with strides over the product's axes."""
        none = (0,) * len(self.product.shape)
        if not self.flips:
            return literal(0, arithmetic(self.dtype)), none
        import onnx_graphsurgeon as gs

        total = self.product.columns_first().astype(np.int32).sum(axis=-1, dtype=np.int32)
        name = self._argument(gs.Constant(f"{self.node.name}/moved", -128 * total))
        return name, (*self.product.b_strides(self.product.columns), 1)

    def _place(self, name: str, strides: tuple[int, ...] | None, row: tuple[str, int], column: tuple[str, int]) -> str:
        """The text of a tensor's element; row and column in the tile are a variable and a number each."""
        if strides is None or (name[:2] != "in" and not any(strides)):
            return name
        terms = [*self.rows.terms(strides, self.row), (self.column, strides[-1])]
        terms += [(row[0], self.rows.step(strides)), (column[0], strides[-1])]
        return f"{name}[{affine(terms, row[1] * self.rows.step(strides) + column[1] * strides[-1])}]"

    def write(self) -> None:
        """Write the whole body."""
        product, code, tile = self.product, self.code, self.tile
        with ExitStack() as stack:
            stack.enter_context(code.loops([(name, size) for name, size, _ in self.rows.outer]))
            block, self.column = stack.enter_context(tiles(code, "o", product.columns, tile.outputs))
            _, self.row = stack.enter_context(tiles(code, "r", self.rows.rows, tile.positions))
            sums = self.writer(code, tile, self.dtype, lambda k, n: self._place(*self.start, ("", 0), (k, n)))
            sums.open()
            self._products(sums, block)
            if self._plain and sums.finished(self._after()):
                return
            sums.close()
            self._finish()

    def _products(self, sums: TileWriter, block: str) -> None:
        product, code, rows = self.product, self.code, self.rows
        place = address("in0", rows.terms(product.a_strides, self.row))
        code.line(f"const {c_type(self.a_type)} *const a = {place};")
        first = (block, product.depth) if self.packed else (self.column, self.column_step)
        place = address("in1", [*rows.terms(product.b_strides(self.matrix), ""), first])
        code.line(f"const {c_type(self.b_type)} *const b = {place};")
        with sums.steps("i", product.depth) as i:
            step = rows.step(product.a_strides)
            values = []
            for p in range(self.tile.positions):
                value = loaded(f"a[{affine([(i, product.a_step)], p * step)}]", self.a_type)
                if product.integer and 2 in self.extra:
                    value = minus(value, self._place(*self.extra[2], ("", p), ("", 0)))
                values.append(f"(uint8_t)({value} ^ 0x80)" if self.flips else value)

            def weight(k: str, number: int) -> str:
                terms, offset = [(i, self.step), (k, self.column_step)], number * self.column_step
                value = loaded(f"b[{affine(terms, offset)}]", self.b_type)
                if product.integer and 3 in self.extra:
                    value = minus(value, self._place(*self.extra[3], ("", 0), (k, number)))
                return value

            sums.add(values, weight, wraps_around(self.dtype, product.integer))

    @property
    def _plain(self) -> bool:
        """Whether no factors of Gemm scale the sums."""
        factors = [number(self.node, name, 1.0) for name in ("alpha", "beta")] if self.node.op == "Gemm" else []
        return all(factor == 1.0 for factor in factors)

    def _after(self) -> After:
        """What follows the sums."""
        p, k = ("p" if self.tile.positions > 1 else "", 0), ("k" if self.tile.outputs > 1 else "", 0)

        def index(seen: tuple[int, ...]) -> str:
            return self._place("in", self.product.aligned(seen), p, k)[3:-1]

        addend = self._place(*self.extra[2], p, k) if 2 in self.extra else ""
        return After(self.epilogue, self.product.result.name, self.first, index, self.product.shape, addend)

    def _finish(self) -> None:
        """Write Gemm's factors and third input, the operators fused after the product, and the store."""
        code, result = self.code, row_major(self.product.shape)
        with code.loops([("p", self.tile.positions), ("k", self.tile.outputs)]) as (p, k):

            def index(strides: tuple[int, ...]) -> str:
                return self._place("in", strides, (p, 0), (k, 0))[3:-1]

            value, target = f"sums[{p or 0}][{k or 0}]", f"out0[{index(result)}]"
            if not self.product.integer:
                addend = self._place(*self.extra[2], (p, 0), (k, 0)) if 2 in self.extra else ""
                value = _finished_gemm(self.node, self.dtype, value, addend)
            if self.epilogue is None:
                code.line(f"{target} = {stored(value, self.dtype)};")
                return
            mutable = arithmetic(self.dtype) != self.dtype
            code.line(f"{'' if mutable else 'const '}{scalar_type(self.dtype)} acc = {value};")
            known = {self.product.result.name: rounded_sum(self.dtype, code)}

            def index_of(seen: tuple[int, ...]) -> str:
                return index(self.product.aligned(seen))

            code.lines(statements(self.epilogue, self.uses, index_of, target, self.first, known))


def _finished_gemm(node: gs.Node, dtype: np.dtype[np.generic], value: str, addend: str) -> str:
    """alpha * sum + beta * C; for integers, which wrap around, alpha and beta are integers."""
    alpha = number(node, "alpha", 1.0) if node.op == "Gemm" else 1.0
    beta = number(node, "beta", 1.0) if node.op == "Gemm" else 1.0
    own = arithmetic(dtype)
    if own.kind in "iu":
        wide = wide_unsigned(own)
        scaled = value if alpha == 1.0 else f"({wide}){value} * ({wide}){literal(int(alpha), own)}"
        if not addend:
            return scaled if alpha == 1.0 else f"({c_type(own)})({scaled})"
        term = f"({wide}){addend}" if beta == 1.0 else f"({wide}){addend} * ({wide}){literal(int(beta), own)}"
        return f"({c_type(own)})({f'({wide}){scaled}' if alpha == 1.0 else scaled} + {term})"
    scaled = value if alpha == 1.0 else f"{value} * {literal(alpha, own)}"
    if not addend:
        return scaled
    addend = loaded(addend, dtype)
    return f"{scaled} + {addend if beta == 1.0 else f'{literal(beta, own)} * {addend}'}"
