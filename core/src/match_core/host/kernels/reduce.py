"""Reductions over axes: sums, products, means, extremes, norms. Integer sums wrap around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.emit.ctypes import c_type
from match_core.host.graph import dtype_of, elements, integer, integers, integers_at, shape_of
from match_core.host.kernels.built import Built
from match_core.host.kernels.code import Code, Uses, affine, inline_code, literal
from match_core.host.kernels.nest import VARIABLES, merge, row_major
from match_core.host.kernels.pool import highest, lowest
from match_core.host.kernels.scalar import wide_unsigned
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
INTEGER_REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceSumSquare")


def reduced_axes(node: gs.Node) -> tuple[int, ...]:
    """The axes, counted from the front; all of them where none are given (unless the node asks for none)."""
    rank = len(shape_of(node.inputs[0]))
    given = integers_at(node, 1)
    axes = integers(node, "axes", ()) if given is None else given
    if not axes:
        return () if integer(node, "noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted(axis % rank for axis in axes))


def build_reduce(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """One reduction."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, dtype = shape_of(node.inputs[0]), dtype_of(node.inputs[0])
    axes, strides = reduced_axes(node), row_major(shape)
    kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
    out = tuple(shape[axis] for axis in kept)
    outer = merge(out, [tuple(strides[axis] for axis in kept), row_major(out)])
    inner = merge(tuple(shape[axis] for axis in axes), [tuple(strides[axis] for axis in axes)])
    names = dict(zip(VARIABLES, VARIABLES[len(outer.groups) :], strict=False))
    over = [(names[name], size) for name, size in inner.variables]
    terms = [*outer.terms(tuple(strides[axis] for axis in kept))]
    terms += [(names[name], step) for name, step in inner.terms(tuple(strides[axis] for axis in axes))]
    count = elements(tuple(shape[axis] for axis in axes))
    with code.loops(outer.variables):
        _accumulate(node, dtype, f"in0[{affine(terms)}]", over, count, f"out0[{outer.index(row_major(out))}]", code)
    if dtype.kind == "f":
        uses.include("math.h")
    comment = f"{node.op}: {'x'.join(map(str, shape))} over axes {', '.join(map(str, axes)) or 'none'}"
    arguments = (node.inputs[0],)
    each = Work(floating=1) if dtype.kind == "f" else Work(wide=1) if dtype.itemsize == 8 else Work(integer=1)
    work = (each + Work(memory=1, steps=1)).times(elements(shape)) + Work(memory=1, steps=1).times(elements(out))
    return Built(arguments, inline_code(function, comment, arguments, node.outputs, code.text, uses), work)


def _accumulate(
    node: gs.Node,
    dtype: np.dtype[np.generic],
    source: str,
    over: list[tuple[str, int]],
    count: int,
    target: str,
    code: Code,
) -> None:
    """C of one result element."""
    reduction = REDUCTIONS[node.op]
    starts = {"0": literal(0, dtype), "1": literal(1, dtype), "low": lowest(dtype), "high": highest(dtype)}
    suffix = "f" if dtype.itemsize == 4 else ""
    calls = {name: f"{name}{suffix}" for name in ("fabs", "sqrt", "log")}
    wraps = dtype.kind in "iu" and node.op not in ("ReduceMax", "ReduceMin")
    ctype = wide_unsigned(dtype) if wraps else c_type(dtype)
    start = "0" if wraps and reduction.start == "0" else "1" if wraps else starts[reduction.start]
    code.line(f"{ctype} acc = {start};")
    with code.loops(over):
        x = f"({ctype}){source}" if wraps else source
        code.line(f"acc = {reduction.step.format(x=x, **calls)};")
    own = c_type(dtype)
    finish = reduction.finish
    if wraps:
        finish = finish.replace("acc", f"({own})acc")
        divisor = literal(count, dtype)
        result = finish.format(count=divisor)
        code.line(f"{target} = {f'({own})({result})' if '/' in result and dtype.itemsize < 4 else result};")
    else:
        code.line(f"{target} = {finish.format(count=literal(count, dtype), **calls)};")
