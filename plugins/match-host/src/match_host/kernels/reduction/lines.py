"""Operators along one axis, and operators whose result depends on an element's position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from match_core.ir.reader import optional_input, shape_of

from match_host.graph import axis_of, dtype_of, elements, integer
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, inline_code, literal
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, simple, stored, suffix
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs


def _built(
    node: gs.Node, function: str, code: Code, uses: Uses, work: Work, used: Sequence[int] = (0,), outputs: int = 1
) -> Built:
    arguments = tuple(tensor for index in used if (tensor := optional_input(node, index)) is not None)
    out = "x".join(map(str, shape_of(node.outputs[0]))) or "scalar"
    comment = f"{node.op}: {out}"
    return Built(arguments, inline_code(function, comment, arguments, node.outputs[:outputs], code.text, uses), work)


def _per_element(node: gs.Node, dtype: np.dtype[np.generic]) -> Work:
    return (simple(dtype) + Work(memory=2, steps=1) + moved_halves(dtype, 2)).times(elements(shape_of(node.outputs[0])))


def build_trilu(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """Trilu: the upper or lower triangle of each matrix; the diagonal may be computed."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    rows, columns = shape[-2:]
    given = optional_input(node, 1) is not None
    order = "<=" if integer(node, "upper", 1) else ">="
    code.line(f"const int64_t diagonal = {'in1[0]' if given else '0'};")
    with code.loops([("m", elements(shape[:-2])), ("i", rows), ("j", columns)]) as (m, i, j):
        at = affine([(m, rows * columns), (i, columns), (j, 1)])
        zero = "0" if dtype.kind == "b" else stored(literal(0, dtype), dtype)
        code.line(f"out0[{at}] = diagonal {order} (int64_t){j or 0} - {i or 0} ? in0[{at}] : {zero};")
    return _built(node, function, code, uses, _per_element(node, dtype), (0, 1))


def build_eye_like(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """EyeLike: ones on a diagonal; only the shape of the input matters."""
    (node,), code, uses = nodes, Code(), Uses()
    (rows, columns), dtype = shape_of(node.outputs[0]), dtype_of(node.outputs[0])
    one, zero = ("1", "0") if dtype.kind == "b" else (stored(literal(value, dtype), dtype) for value in (1, 0))
    with code.loops([("i", rows), ("j", columns)]) as (i, j):
        equal = f"{j or 0} - {i or 0} == {integer(node, 'k', 0)}"
        code.line(f"out0[{affine([(i, columns), (j, 1)])}] = {equal} ? {one} : {zero};")
    return _built(node, function, code, uses, _per_element(node, dtype), ())


def build_one_hot(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """OneHot: the second of two values at the index, else the first."""
    (node,), code, uses = nodes, Code(), Uses()
    out, dtype = shape_of(node.outputs[0]), dtype_of(node.outputs[0])
    axis, index_type = axis_of(node, -1, len(out)), dtype_of(node.inputs[0])
    inner, depth = elements(out[axis + 1 :]), out[axis]
    with code.loops([("i", elements(out[:axis])), ("k", depth), ("j", inner)]) as (i, k, j):
        index = loaded(f"in0[{affine([(i, inner), (j, 1)])}]", index_type)
        code.line(f"const int64_t index = (int64_t){index};")
        code.line(f"const int hot = (index < 0 ? index + {depth} : index) == {k or 0};")
        code.line(f"out0[{affine([(i, depth * inner), (k, inner), (j, 1)])}] = in1[hot];")
    return _built(node, function, code, uses, _per_element(node, dtype), (0, 2))


def build_hardmax(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """Hardmax: one at the first of the largest values along an axis, else zero."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    axis = axis_of(node, -1, len(shape))
    size, inner = shape[axis], elements(shape[axis + 1 :])
    one, zero = (stored(literal(value, dtype), dtype) for value in (1, 0))
    with code.loops([("i", elements(shape[:axis])), ("j", inner)]) as (i, j):
        code.line("int32_t best = 0;")
        base = [(i, size * inner), (j, 1)]
        with code.block(f"for (int32_t k = 1; k < {size}; k++)"):
            value, top = (loaded(f"in0[{affine([*base, (k, inner)])}]", dtype) for k in ("k", "best"))
            code.line(f"best = {value} > {top} ? k : best;")
        with code.block(f"for (int32_t k = 0; k < {size}; k++)"):
            place = affine([*base, ("k", inner)])
            value = loaded(f"in0[{place}]", dtype)
            number = f" && {value} == {value}" if arithmetic(dtype).kind == "f" else ""
            code.line(f"out0[{place}] = k == best{number} ? {one} : {zero};")
    return _built(node, function, code, uses, _per_element(node, dtype).times(2))


def build_lp_normalization(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """LpNormalization: divided by the norm along an axis; a line of zeros stays."""
    (node,), code, uses = nodes, Code(), Uses()
    uses.include("math.h")
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    axis, kind, zero = axis_of(node, -1, len(shape)), scalar_type(dtype), literal(0, dtype)
    size, inner = shape[axis], elements(shape[axis + 1 :])
    suffix = "f" if dtype.itemsize <= 4 else ""
    absolute = integer(node, "p", 2) == 1
    with code.loops([("i", elements(shape[:axis])), ("j", inner)]) as (i, j):
        at = affine([(i, size * inner), (j, 1), ("k", inner)])
        code.line(f"{kind} norm = {zero};")
        with code.block(f"for (int32_t k = 0; k < {size}; k++)"):
            code.line(f"const {kind} x = {loaded(f'in0[{at}]', dtype)};")
            code.line(f"norm += {f'fabs{suffix}(x)' if absolute else 'x * x'};")
        if not absolute:
            code.line(f"norm = sqrt{suffix}(norm);")
        with code.block(f"for (int32_t k = 0; k < {size}; k++)"):
            code.line(f"const {kind} x = {loaded(f'in0[{at}]', dtype)};")
            code.line(f"out0[{at}] = {stored(f'norm == {zero} ? {zero} : x / norm', dtype)};")
    work = _per_element(node, dtype).times(2) + Work(floating_divide=elements(shape))
    return _built(node, function, code, uses, work)


def build_top_k(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """TopK: the largest or smallest values along an axis in order, ties by position, and their indices."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, out, dtype = shape_of(node.inputs[0]), shape_of(node.outputs[0]), dtype_of(node.inputs[0])
    axis, kind = axis_of(node, -1, len(shape)), scalar_type(dtype)
    size, inner, count = shape[axis], elements(shape[axis + 1 :]), out[axis]
    order, places = ">" if integer(node, "largest", 1) else "<", len(node.outputs) > 1
    first = f"a {order} b" + (" || (b != b && a == a)" if arithmetic(dtype).kind == "f" else "")  # NaN is last
    name = f"host_{'above' if order == '>' else 'below'}_{suffix(dtype)}"
    uses.helper(name, f"static inline int {name}({kind} a, {kind} b)\n{{\n    return {first};\n}}\n")
    with code.loops([("i", elements(shape[:axis])), ("j", inner)]) as (i, j):
        code.line("int32_t last = -1;")
        with code.block(f"for (int32_t r = 0; r < {count}; r++)"):
            code.line("int32_t best = -1;")

            def value(name: str) -> str:
                return loaded(f"in0[{affine([(i, size * inner), (j, 1), (name, inner)])}]", dtype)

            with code.block(f"for (int32_t k = 0; k < {size}; k++)"):
                code.line(f"const {kind} x = {value('k')};")
                code.line(f"const {kind} before = {value('(last < 0 ? 0 : last)')};")
                code.line(f"const int waits = last < 0 || {name}(before, x) || (!{name}(x, before) && k > last);")
                code.line(f"const {kind} top = {value('(best < 0 ? 0 : best)')};")
                code.line(f"best = waits && (best < 0 || {name}(x, top)) ? k : best;")
            code.line("best = best < 0 ? 0 : best;")
            target = affine([(i, count * inner), (j, 1), ("r", inner)])
            code.line(f"out0[{target}] = in0[{affine([(i, size * inner), (j, 1), ('best', inner)])}];")
            if places:
                code.line(f"out1[{target}] = best;")
            code.line("last = best;")
    work = (simple(dtype).times(3) + Work(memory=3, steps=1)).times(elements(shape) * count)
    return _built(node, function, code, uses, work, outputs=2 if places else 1)


def build_reverse_sequence(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """ReverseSequence: reverses the first elements of each line in time; input 1 gives their number per sample."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    time, batch = integer(node, "time_axis", 0), integer(node, "batch_axis", 1)
    inner = elements(shape[2:])
    steps = {0: shape[1] * inner, 1: inner}
    with code.loops([("b", shape[batch]), ("t", shape[time])]) as (b, t):
        code.line(f"const int64_t length = in1[{b or 0}] > {shape[time]} ? {shape[time]} : in1[{b or 0}];")
        code.line(f"const int64_t from = {t or 0} < length ? length - 1 - {t or 0} : {t or 0};")
        with code.loop("j", inner) as j:
            target = affine([(b, steps[batch]), (t, steps[time]), (j, 1)])
            source = affine([(b, steps[batch]), ("from", steps[time]), (j, 1)])
            code.line(f"out0[{target}] = in0[{source}];")
    return _built(node, function, code, uses, _per_element(node, dtype), (0, 1))


def build_bit_cast(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """BitCast: the same bytes as another type."""
    (node,), code, uses = nodes, Code(), Uses()
    uses.include("string.h")
    dtype = dtype_of(node.inputs[0])
    count = elements(shape_of(node.inputs[0])) * dtype.itemsize
    code.line(f"memcpy(out0, in0, {count});")
    return _built(node, function, code, uses, Work(memory=2, steps=1).times(-(-count // 4)))
