"""Reductions over axes: sums, products, means, extremes, norms; also of a region of elementwise operators, whose values
are reduced as they are computed. Integer sums wrap around."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from match_core.ir.reader import optional_input, shape_of
from match_core.ir.topology import is_constant

from match_host.graph import dtype_of, elements, integer, integers, integers_at
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, inline_code, literal
from match_host.kernels.elementwise.elementwise import Body, body, describe, packed_constants, statements
from match_host.kernels.movement.computed import build_computed_reduce
from match_host.kernels.reduction.accumulate import REDUCTIONS, accumulator, computed_type, finish, start, step
from match_host.kernels.reduction.reduce_loops import Index, ReduceLoops, Steps, told_loops, write_reduction
from match_host.kernels.scalar import arithmetic, loaded, moved_halves, simple, stored
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def computed_axes(node: gs.Node) -> bool:
    """Whether the model computes the axes."""
    axes = optional_input(node, 1)
    return axes is not None and not is_constant(axes)


def reduced_axes(node: gs.Node) -> tuple[int, ...]:
    """The axes as non-negative numbers; all of them if none are given (unless the node requests no reduction)."""
    rank = len(shape_of(node.inputs[0]))
    given = integers_at(node, 1)
    axes = integers(node, "axes", ()) if given is None else given
    if not axes:
        return () if integer(node, "noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted(axis % rank for axis in axes))


def build_reduce(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """One reduction, or a region of elementwise operators and the reduction of its result."""
    *region, node = nodes
    if computed_axes(node):
        return build_computed_reduce(node, function)
    code, uses = Code(), Uses()
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    group = body(region) if region else None
    seen = tuple(a.shape for a in group.arguments if a.shape is not None) if group else ()
    loops = ReduceLoops(shape, reduced_axes(node), seen or (shape,))

    def value(index: Index, code: Code) -> str:
        if group is None:
            return loaded(f"in0[{index(shape)}]", dtype)
        code.lines(statements(group, uses, index, "value", in_memory=False))
        return "value"

    count = literal(elements(tuple(shape[axis] for axis in loops.axes)), arithmetic(dtype))
    steps = Steps(
        ctype=accumulator(node, dtype),
        start=start(node, dtype),
        value=value,
        step=lambda text: step(node, dtype, text),
        join={"0": "acc + {x}", "1": "acc * {x}"}.get(REDUCTIONS[node.op].start, REDUCTIONS[node.op].step),
        finish=stored(finish(node, dtype, count), dtype),
    )
    write_reduction(loops, steps, dtype, code)
    if computed_type(node, dtype).kind == "f":
        uses.include("math.h")
    arguments = tuple(a.tensor for a in group.arguments) if group else (node.inputs[0],)
    prologue = f"{describe(group)}, " if group else ""
    axes = ", ".join(map(str, loops.axes)) or "none"
    comment = f"{prologue}{node.op}: {'x'.join(map(str, shape))} over axes {axes}"
    read = group.work if group else Work(memory=1) + moved_halves(dtype)
    work = (simple(dtype) + Work(steps=1) + read).times(elements(shape))
    work += Work(memory=1, steps=1).times(elements(shape_of(node.outputs[0])))
    constants = packed_constants(group, 0) if group else {}
    text = inline_code(function, comment, arguments, node.outputs, code.text, uses, constants)
    return Built(arguments, text, work, told=_told(node, group, loops))


def _told(node: gs.Node, group: Body | None, loops: ReduceLoops) -> dict[str, int]:
    """What the values' operators tell and what comes with the reduction itself, of all values; its loops."""
    dtype, values = dtype_of(node.inputs[0]), elements(loops.shape)
    told = Counter(group.told_of(values) if group else {})
    if computed_type(node, dtype).kind == "f":
        told["compared" if node.op in ("ReduceMax", "ReduceMin") else "sums"] += values
    return {**told, **told_loops(loops, dtype)}
