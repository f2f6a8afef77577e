"""Reductions over axes: sums, products, means, extremes, norms; also of a region of elementwise operators, whose values
are reduced as they are computed. Integer sums wrap around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.emit.ctypes import c_type
from match_core.host.graph import dtype_of, elements, input_at, integer, integers, integers_at, is_constant, shape_of
from match_core.host.kernels.built import Built
from match_core.host.kernels.code import Code, Uses, inline_code, literal
from match_core.host.kernels.elementwise import body, describe, packed_constants, statements
from match_core.host.kernels.pool import highest, lowest
from match_core.host.kernels.reduce_loops import Index, ReduceLoops, Steps, write_reduction
from match_core.host.kernels.scalar import arithmetic, loaded, moved_halves, scalar_type, simple, stored, wide_unsigned
from match_core.host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


@dataclass(frozen=True, slots=True)
class Reduction:
    """``start`` of the accumulator ("0", "1", "low", "high"), one ``step`` over value ``{x}``, what follows."""

    start: str
    step: str
    finish: str = "acc"


REDUCTIONS = {
    "ReduceSum": Reduction("0", "acc + {x}"),
    "ReduceMean": Reduction("0", "acc + {x}", "acc / {count}"),
    "ReduceProd": Reduction("1", "acc * {x}"),
    "ReduceMax": Reduction("low", "{x} > acc ? {x} : acc"),
    "ReduceMin": Reduction("high", "{x} < acc ? {x} : acc"),
    "ReduceL1": Reduction("0", "acc + {fabs}({x})"),
    "ReduceL2": Reduction("0", "acc + {x} * {x}", "{sqrt}(acc)"),
    "ReduceSumSquare": Reduction("0", "acc + {x} * {x}"),
    "ReduceLogSum": Reduction("0", "acc + {x}", "{log}(acc)"),
}
#: Those that also take integers.
INTEGER_REDUCTIONS = (
    "ReduceSum",
    "ReduceMean",
    "ReduceProd",
    "ReduceMax",
    "ReduceMin",
    "ReduceSumSquare",
    "ReduceL1",
    "ReduceL2",
)
#: Those that also take truth values: any of them, all of them.
BOOLEAN_REDUCTIONS = ("ReduceMax", "ReduceMin")


def computed_axes(node: gs.Node) -> bool:
    """Whether the model computes the axes."""
    axes = input_at(node, 1)
    return axes is not None and not is_constant(axes)


def reduced_axes(node: gs.Node) -> tuple[int, ...]:
    """The axes, counted from the front; all of them where none are given (unless the node asks for none)."""
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
        from match_core.host.kernels.computed import build_computed_reduce

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
    if _computed(node, dtype).kind == "f":
        uses.include("math.h")
    arguments = tuple(a.tensor for a in group.arguments) if group else (node.inputs[0],)
    prologue = f"{describe(group)}, " if group else ""
    axes = ", ".join(map(str, loops.axes)) or "none"
    comment = f"{prologue}{node.op}: {'x'.join(map(str, shape))} over axes {axes}"
    read = group.work if group else Work(memory=1) + moved_halves(dtype)
    work = (simple(dtype) + Work(steps=1) + read).times(elements(shape))
    work += Work(memory=1, steps=1).times(elements(shape_of(node.outputs[0])))
    constants = packed_constants(group, 0) if group else {}
    return Built(arguments, inline_code(function, comment, arguments, node.outputs, code.text, uses, constants), work)


def _computed(node: gs.Node, dtype: np.dtype[np.generic]) -> np.dtype[np.generic]:
    """The type that is computed in; the root of a sum of squares of integers is a real number."""
    own = arithmetic(dtype)
    return np.dtype(np.float64) if node.op == "ReduceL2" and own.kind in "iu" else own


def _wraps(node: gs.Node, dtype: np.dtype[np.generic]) -> bool:
    return _computed(node, dtype).kind in "iu" and node.op not in BOOLEAN_REDUCTIONS


def accumulator(node: gs.Node, dtype: np.dtype[np.generic]) -> str:
    """C type of the accumulator: unsigned where integers may wrap around."""
    return wide_unsigned(dtype) if _wraps(node, dtype) else scalar_type(_computed(node, dtype))


def start(node: gs.Node, dtype: np.dtype[np.generic]) -> str:
    """What the accumulator begins with."""
    first, own = REDUCTIONS[node.op].start, _computed(node, dtype)
    if _wraps(node, dtype):
        return first
    if own.kind == "b":
        return literal(first == "high", own)
    return {"0": literal(0, own), "1": literal(1, own), "low": lowest(own), "high": highest(own)}[first]


def step(node: gs.Node, dtype: np.dtype[np.generic], value: str) -> str:
    """The accumulator after one more value."""
    own = _computed(node, dtype)
    if own.kind == "b":
        return f"acc {'||' if node.op == 'ReduceMax' else '&&'} ({value})"
    if _wraps(node, dtype):
        wide = wide_unsigned(dtype)
        if node.op == "ReduceL1" and own.kind == "i":
            return f"acc + ({value} < 0 ? 0u - ({wide}){value} : ({wide}){value})"
        return REDUCTIONS[node.op].step.format(x=f"({wide}){value}", fabs="")
    x = f"(double){value}" if own != arithmetic(dtype) else value
    return REDUCTIONS[node.op].step.format(x=x, fabs=_call("fabs", own))


def finish(node: gs.Node, dtype: np.dtype[np.generic], count: str) -> str:
    """What is stored in the end; ``count`` elements were reduced."""
    own = _computed(node, dtype)
    result = REDUCTIONS[node.op].finish.format(count=count, sqrt=_call("sqrt", own), log=_call("log", own))
    if own != arithmetic(dtype):
        return f"({c_type(dtype)}){result}"
    if not _wraps(node, dtype):
        return result
    result = result.replace("acc", f"({c_type(dtype)})acc")
    return f"({c_type(dtype)})({result})" if "/" in result and dtype.itemsize < 4 else result


def _call(name: str, dtype: np.dtype[np.generic]) -> str:
    return f"{name}f" if dtype.itemsize <= 4 else name
