"""Det: determinants of square matrices by elimination with row pivoting, in scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.ir.reader import shape_of

from match_host.graph import dtype_of, elements
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, literal
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, stored
from match_host.kernels.single import single
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def build_det(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """The product of the pivots, negated for each exchange of rows; zero if a column is zero."""
    (node,), code, uses = nodes, Code(), Uses()
    uses.include("math.h")
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    own, size, count = arithmetic(dtype), shape[-1], elements(shape[:-2])
    kind, zero, absolute = scalar_type(own), literal(0, own), "fabsf" if own.itemsize == 4 else "fabs"
    code.line(f"{kind} *const a = scratch;")
    with code.loop("m", count) as m:
        with code.block(f"for (int32_t i = 0; i < {size * size}; i++)"):
            place = affine([(m, size * size), ("i", 1)])
            code.line(f"a[i] = {loaded(f'in0[{place}]', dtype)};")
        code.line(f"{kind} result = {literal(1, own)};")
        with code.block(f"for (int32_t k = 0; k < {size}; k++)"):
            code.line("int32_t pivot = k;")
            with code.block(f"for (int32_t i = k + 1; i < {size}; i++)"):
                larger = f"{absolute}(a[i * {size} + k]) > {absolute}(a[pivot * {size} + k])"
                code.line(f"pivot = {larger} ? i : pivot;")
            code.line(f"const {kind} top = a[pivot * {size} + k];")
            code.line("result *= pivot == k ? top : -top;")
            with code.block(f"if (top == {zero})"):
                code.line("break;")
            with code.block(f"for (int32_t j = 0; j < {size}; j++)"):
                code.line(f"const {kind} kept = a[k * {size} + j];")
                code.line(f"a[k * {size} + j] = a[pivot * {size} + j];")
                code.line(f"a[pivot * {size} + j] = kept;")
            with code.block(f"for (int32_t i = k + 1; i < {size}; i++)"):
                code.line(f"const {kind} factor = a[i * {size} + k] / top;")
                with code.block(f"for (int32_t j = k + 1; j < {size}; j++)"):
                    code.line(f"a[i * {size} + j] -= factor * a[k * {size} + j];")
        code.line(f"out0[{m or 0}] = {stored('result', dtype)};")
    work = Work(memory=3, floating=2, steps=1).times(size**3 // 3 + 1) + Work(memory=2, floating_divide=1).times(
        size**2
    )
    work += moved_halves(dtype, size * size)
    return single(node, function, code.text, uses, work.times(count), scratch_bytes=size * size * own.itemsize)
