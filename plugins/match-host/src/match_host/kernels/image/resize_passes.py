"""Interpolation by Resize: one pass per axis, plane by plane, so that intermediate data take one plane at most."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from match_core.contract.element_types import c_type
from match_core.ir.reader import shape_of

from match_host.graph import elements
from match_host.kernels.code import affine, literal
from match_host.kernels.image.resize_writer import Table, Writer
from match_host.kernels.movement.movement import Copy, write_copy
from match_host.kernels.nest import row_major
from match_host.kernels.scalar import loaded, moved_halves, scalar_type
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import numpy as np

#: Sums of up to this many taps are unrolled.
UNROLLED_TAPS = 4
#: All orders of up to this many axes are compared.
MOST_ORDERED = 5


@dataclass(frozen=True, slots=True)
class Pass:
    """One axis of a plane: ``outer`` times ``out`` rows of ``inner`` elements, from array to array. The terms give the
    start of the plane in each."""

    table: Table
    outer: int
    inner: int
    source: str
    target: str
    source_plane: tuple[tuple[str, int], ...]
    target_plane: tuple[tuple[str, int], ...]


def _best_order(shape: tuple[int, ...], tables: list[Table]) -> tuple[Table, ...]:
    """The order of axes with the fewest multiplications; ties go to the least scratch."""

    def cost(order: tuple[Table, ...]) -> tuple[int, int]:
        sizes, products, scratch = list(shape), 0, 0
        for table in order:
            sizes[table.axis.axis] = table.axis.out
            products += elements(tuple(sizes)) * table.taps
            scratch = max(scratch, elements(tuple(sizes)) if table is not order[-1] else 0)
        return products, scratch

    return min(permutations(tables), key=cost) if len(tables) <= MOST_ORDERED else tuple(tables)


def write_passes(writer: Writer) -> Work:
    """Interpolation plane by plane; a plane consists of the first resized axis and all axes after it."""
    code, node = writer.code, writer.node
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    tables = writer.tables()
    if not tables:
        return write_copy(Copy(shape, row_major(shape), row_major(shape)), writer.dtype, code, writer.uses)
    order = _best_order(shape, tables)
    lead = min(table.axis.axis for table in order)
    steps = [shape[lead:]]  # sizes of a plane before and after every pass
    for table in order:
        place = table.axis.axis - lead
        steps.append((*steps[-1][:place], table.axis.out, *steps[-1][place + 1 :]))
    between = [elements(sizes) for sizes in steps[1:-1]]
    lines = [writer.reserve(f"lines{i}", max(between[i::2])) for i in range(min(2, len(between)))]
    planes, work = elements(shape[:lead]), Work()
    with code.loop("p", planes) as plane:
        for number, table in enumerate(order):
            first, last = number == 0, number == len(order) - 1
            place = table.axis.axis - lead
            _write_pass(
                writer,
                Pass(
                    table,
                    elements(steps[number][:place]),
                    elements(steps[number][place + 1 :]),
                    "in0" if first else lines[(number - 1) % 2],
                    "out0" if last else lines[number % 2],
                    ((plane, elements(shape[lead:])),) if first else (),
                    ((plane, elements(out[lead:])),) if last else (),
                ),
            )
            one = Work(memory=table.taps + 1, floating=2 * table.taps, steps=1)
            one += moved_halves(writer.dtype, table.taps * first + last)
            work += one.times(elements(steps[number + 1]) * planes)
    return work


def _write_pass(writer: Writer, item: Pass) -> None:
    code, table, axis = writer.code, item.table, item.table.axis
    number, kind = axis.axis, scalar_type(writer.working)
    dtype = writer.dtype if item.source == "in0" else writer.working
    code.line(f"/* axis {number}: {axis.size} to {axis.out} */")
    with code.loops([(f"a{number}", item.outer), (f"o{number}", axis.out)]) as (a, o):
        result = (*item.target_plane, (a, axis.out * item.inner), (o, item.inner))
        first = f"at{number}"
        code.line(f"const int32_t {first} = {table.first}[{o or 0}];")
        with ExitStack() as stack:
            if table.leaves:
                outside = writer.outside(writer.dtype if item.target == "out0" else writer.working)
                with code.block(f"if ({first} < 0)"), code.loop("x", item.inner) as x:
                    code.line(f"{item.target}[{affine([*result, (x, 1)])}] = {outside};")
                stack.enter_context(code.otherwise())
            weights, rows = f"w{number}", f"from{number}"
            code.line(f"const {kind} *const {weights} = &{table.weights}[{affine([(o, table.taps)])}];")
            begin = affine([*item.source_plane, (a, axis.size * item.inner), (first, item.inner)])
            code.line(f"const {c_type(dtype)} *const {rows} = &{item.source}[{begin}];")
            with code.loop("x", item.inner) as x:
                total = _write_sum(writer, item, (weights, rows), x, dtype)
                value = writer.result(total) if item.target == "out0" else total
                code.line(f"{item.target}[{affine([*result, (x, 1)])}] = {value};")


def _write_sum(writer: Writer, item: Pass, names: tuple[str, str], x: str, dtype: np.dtype[np.generic]) -> str:
    """C text of the weighted sum at ``x``; sums of more than two taps are declared, those of many taps use a loop."""
    (weights, rows), taps, kind = names, item.table.taps, scalar_type(writer.working)

    def product(tap: str, place: str) -> str:
        value = loaded(f"{rows}[{place}]", dtype) if dtype.kind not in "iu" else f"({kind}){rows}[{place}]"
        return f"{weights}[{tap}] * {value}"

    if taps <= UNROLLED_TAPS:
        products = [product(str(k), affine([(x, 1)], k * item.inner)) for k in range(taps)]
        if taps <= 2:
            return " + ".join(products)
        writer.code.line(f"{kind} sum = {products[0]};")
        writer.code.lines([f"sum += {other};" for other in products[1:]])
        return "sum"
    writer.code.line(f"{kind} sum = {literal(0, writer.working)};")
    with writer.code.block(f"for (int32_t k = 0; k < {taps}; k++)"):
        writer.code.line(f"sum += {product('k', affine([('k', item.inner), (x, 1)]))};")
    return "sum"
