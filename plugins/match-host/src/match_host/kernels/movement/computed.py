"""Operators with parameters that the model computes: axes, starts, amounts of padding.

The sizes of their results are fixed, so loops have constant bounds; for any parameters, no access leaves a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from match_core.ir.reader import optional_input, shape_of

from match_host.graph import dtype_of, elements, integer, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, inline_code, is_real, literal
from match_host.kernels.movement.indexed import place
from match_host.kernels.nest import VARIABLES, row_major
from match_host.kernels.reduction.accumulate import accumulator, finish, start, step
from match_host.kernels.scalar import loaded, moved_halves, scalar_type, simple, stored
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def _table(name: str, values: Sequence[int]) -> str:
    listed = ", ".join(map(str, values)) or "0"
    return f"static const int32_t {name}[{max(1, len(values))}] = {{{listed}}};"


def _built(node: gs.Node, function: str, code: Code, uses: Uses, used: Sequence[int], work: Work) -> Built:
    arguments = tuple(tensor for index in used if (tensor := optional_input(node, index)) is not None)
    shape, out = ("x".join(map(str, shape_of(tensor))) or "scalar" for tensor in (node.inputs[0], node.outputs[0]))
    comment = f"{node.op} by computed parameters: {shape} to {out}"
    return Built(arguments, inline_code(function, comment, arguments, node.outputs[:1], code.text, uses), work)


def build_computed_reduce(node: gs.Node, function: str) -> Built:
    """A reduction over axes that input 1 lists."""
    code, uses = Code(), Uses()
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    rank, out, listed = len(shape), elements(shape_of(node.outputs[0])), elements(shape_of(node.inputs[1]))
    code.line(_table("size", shape))
    code.line(_table("stride", row_major(shape)))
    code.line(f"uint8_t reduced[{max(1, rank)}] = {{0}};")
    code.line(f"int32_t count = {min(1, elements(shape))};")
    with code.block(f"for (int32_t n = 0; n < {listed}; n++)"):
        code.line(f"const int32_t axis = {place(uses, 'in1[n]', rank)};")
        code.line("count *= reduced[axis] != 0 ? 1 : size[axis];")
        code.line("reduced[axis] = 1;")
    if is_real(dtype) or node.op == "ReduceL2":
        uses.include("math.h")
    with code.block(f"for (int32_t o = 0; o < {out}; o++)"):
        begin, value = start(node, dtype), loaded("in0[at]", dtype)
        code.line(f"{accumulator(node, dtype)} acc = {begin or literal(0, dtype)};")
        with code.block("for (int32_t r = 0; r < count; r++)"):
            code.line("int32_t kept = o, inside = r, at = 0;")
            with code.block(f"for (int32_t axis = {rank - 1}; axis >= 0; axis--)"):
                code.line("int32_t *const rest = reduced[axis] != 0 ? &inside : &kept;")
                code.line("at += *rest % size[axis] * stride[axis];")
                code.line("*rest /= size[axis];")
            code.line(f"acc = {'' if begin else f'r == 0 ? {value} : '}{step(node, dtype, value)};")
        code.line(f"out0[o] = {stored(finish(node, dtype, f'({scalar_type(dtype)})count'), dtype)};")
    work = (simple(dtype) + Work(memory=1, steps=1, divide=2 * rank) + moved_halves(dtype)).times(elements(shape))
    return _built(node, function, code, uses, (0, 1), work)


def build_computed_slice(node: gs.Node, function: str) -> Built:
    """A slice whose starts, axes or steps are computed; its ends follow from the size of the result."""
    code, uses = Code(), Uses()
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    code.line(_table("size", shape))
    code.line(f"int64_t first[{len(shape)}] = {{0}};")
    code.line(f"int64_t step[{len(shape)}] = {{{', '.join(['1'] * len(shape))}}};")
    used = [0, 1]
    axes, steps = optional_input(node, 3) is not None, optional_input(node, 4) is not None
    axes_name, steps_name = "in2", "in3" if axes else "in2"
    used += [3] if axes else []
    used += [4] if steps else []
    with code.block(f"for (int32_t n = 0; n < {elements(shape_of(node.inputs[1]))}; n++)"):
        code.line(f"const int32_t axis = {place(uses, f'{axes_name}[n]', len(shape)) if axes else 'n'};")
        code.line(f"const int64_t by = {f'{steps_name}[n]' if steps else '1'};")
        code.line("const int64_t begin = in1[n] < 0 ? in1[n] + size[axis] : in1[n];")
        code.line("const int64_t last = by > 0 ? size[axis] : size[axis] - 1;")
        code.line("first[axis] = begin < 0 ? 0 : begin > last ? last : begin;")
        code.line("step[axis] = by < -size[axis] ? -size[axis] : by > size[axis] ? size[axis] : by;")
    _gather(code, uses, shape, out, lambda axis, name: f"first[{axis}] + {name or 0} * step[{axis}]")
    work = Work(memory=2, integer=6 * len(shape), steps=1).times(elements(out))
    return _built(node, function, code, uses, used, work)


def build_computed_tile(node: gs.Node, function: str) -> Built:
    """Repetition along every axis; the size of the result determines the counts."""
    code, uses = Code(), Uses()
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    _gather(code, uses, shape, out, lambda axis, name: f"{name or 0} % {shape[axis]}")
    work = Work(memory=2, divide=len(shape), steps=1).times(elements(out))
    return _built(node, function, code, uses, (0,), work)


def _gather(
    code: Code, uses: Uses, shape: Sequence[int], out: Sequence[int], source: Callable[[int, str], str]
) -> None:
    with code.loops(list(zip(VARIABLES, out, strict=False))) as names:
        terms = []
        for axis, name in enumerate(names):
            code.line(f"const int32_t at{axis} = {place(uses, source(axis, name), shape[axis])};")
            terms.append(f"at{axis} * {row_major(shape)[axis]}")
        target = " + ".join(f"{name} * {step}" for name, step in zip(names, row_major(out), strict=True) if name)
        code.line(f"out0[{target or 0}] = in0[{' + '.join(terms) or 0}];")


def build_computed_pad(node: gs.Node, function: str) -> Built:
    """Padding in any mode; amounts, axes and value may be computed."""
    code, uses = Code(), Uses()
    shape, out, dtype = shape_of(node.inputs[0]), shape_of(node.outputs[0]), dtype_of(node.inputs[0])
    mode, rank = text(node, "mode", "constant"), len(shape)
    value, axes = optional_input(node, 2), optional_input(node, 3)
    listed = rank if axes is None else elements(shape_of(axes))
    used = [0, 1, *([2] if value is not None else []), *([3] if axes is not None else [])]
    axes_name = f"in{3 if value is not None else 2}"
    code.line(f"int64_t before[{max(1, rank)}] = {{0}};")
    with code.block(f"for (int32_t n = 0; n < {listed}; n++)"):
        axis = place(uses, f"{axes_name}[n]", rank) if axes is not None else "n"
        code.line(f"before[{axis}] = in1[n] < INT32_MIN ? INT32_MIN : in1[n] > INT32_MAX ? INT32_MAX : in1[n];")
    with code.loops(list(zip(VARIABLES, out, strict=False))) as names:
        inside, terms = [], []
        for number, name in enumerate(names):
            size = shape[number]
            code.line(f"int64_t at{number} = {name or 0} - before[{number}];")
            for line in _outside(mode, f"at{number}", size):
                code.line(line)
            inside.append(f"at{number} >= 0 && at{number} < {size}")
            terms.append(f"at{number} * {row_major(shape)[number]}")
        target = " + ".join(f"{name} * {step}" for name, step in zip(names, row_major(out), strict=True) if name)
        fill = "in2[0]" if value is not None else stored(literal(0, dtype), dtype) if dtype.kind != "b" else "0"
        code.line(f"out0[{target or 0}] = ({' && '.join(inside) or '1'}) ? in0[{' + '.join(terms) or 0}] : {fill};")
    work = Work(memory=2, wide=4 * rank, steps=1).times(elements(out))
    return _built(node, function, code, uses, used, work)


def _outside(mode: str, name: str, size: int) -> tuple[str, ...]:
    """C that moves an index into the axis; empty if elements outside have the padding value."""
    if mode == "edge":
        return (f"{name} = {name} < 0 ? 0 : {name} >= {size} ? {size - 1} : {name};",)
    if mode == "wrap":
        return (f"{name} = ({name} % {size} + {size}) % {size};",)
    if mode == "reflect":
        period = max(1, 2 * (size - 1))
        return (
            f"{name} = ({name} % {period} + {period}) % {period};",
            f"{name} = {name} >= {size} ? {period} - {name} : {name};",
        )
    return ()


def build_running(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """CumSum and CumProd along an axis that input 1 gives, constant or not."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    product, exclusive = node.op == "CumProd", integer(node, "exclusive", 0) != 0
    reverse = integer(node, "reverse", 0) != 0
    code.line(_table("size", shape))
    code.line(_table("stride", row_major(shape)))
    code.line(f"const int32_t axis = {place(uses, 'in1[0]', max(1, len(shape)))};")
    code.line("const int32_t steps = size[axis], by = stride[axis];")
    with code.block(f"for (int32_t line = 0; line < {elements(shape)} / steps; line++)"):
        code.line("const int32_t base = line / by * by * steps + line % by;")
        wide = "uint64_t" if dtype.itemsize == 8 else "uint32_t"
        real = is_real(dtype)
        kind = scalar_type(dtype) if real else wide
        neutral = literal(1 if product else 0, dtype) if real else str(int(product))
        code.line(f"{kind} acc = {neutral};")
        with code.block("for (int32_t k = 0; k < steps; k++)"):
            code.line(f"const int32_t at = base + {'(steps - 1 - k)' if reverse else 'k'} * by;")
            value = loaded("in0[at]", dtype)
            joined = f"acc = acc {'*' if product else '+'} {value if real else f'({wide}){value}'};"
            result = f"out0[at] = {stored('acc' if real else f'({scalar_type(dtype)})acc', dtype)};"
            code.lines((result, joined) if exclusive else (joined, result))
    work = (simple(dtype) + Work(memory=2, steps=1) + moved_halves(dtype, 2)).times(elements(shape))
    return _built(node, function, code, uses, (0, 1), work)


#: Movements by computed parameters, by operator.
COMPUTED = {"Slice": build_computed_slice, "Pad": build_computed_pad, "Tile": build_computed_tile}
