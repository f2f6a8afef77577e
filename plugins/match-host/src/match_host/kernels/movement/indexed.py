"""Gather and scatter by tensors of indices, element by element or slice by slice.

Negative indices count from the end; indices outside an axis are clamped into it, so that input data cannot cause
accesses outside the tensor (ONNX leaves them undefined).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.ir.reader import optional_input, shape_of

from match_host.graph import axis_of, dtype_of, elements, integer, text
from match_host.kernels.built import Built
from match_host.kernels.code import Code, Uses, affine, inline_code
from match_host.kernels.elementwise.scalar_table import SCALAR_OPS
from match_host.kernels.nest import VARIABLES, row_major
from match_host.kernels.scalar import Site, Value, arithmetic, loaded, scalar_type, simple, stored
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: How ``reduction`` combines the old value with an update.
JOINS = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}
INDEX_TYPES = ("int32", "int64")


def place(uses: Uses, value: str, size: int) -> str:
    """C text of an index that is guaranteed to lie inside an axis."""
    uses.helper(
        "host_index",
        "/* Negative indices count from the end; all are clamped into the axis. */\n"
        "static inline int32_t host_index(int64_t index, int32_t size)\n{\n"
        "    const int64_t place = index < 0 ? index + size : index;\n"
        "    return place < 0 ? 0 : place >= size ? size - 1 : (int32_t)place;\n}\n",
    )
    return f"host_index({value}, {size})"


def joined(node: gs.Node, uses: Uses, old: str, new: str, dtype: np.dtype[np.generic]) -> str:
    """C text of the value that a scatter stores, from values in variables."""
    reduction = text(node, "reduction", "none")
    if reduction == "none":
        return new
    if dtype.kind == "b":
        return f"{old} || {new}" if reduction in ("add", "max") else f"{old} && {new}"
    own = arithmetic(dtype)
    site = Site(node, (Value(old, own), Value(new, own)), own, uses, lambda index: f"in{index}")
    return SCALAR_OPS[JOINS[reduction]].render(site)


def build_gather_elements(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """GatherElements: one index per element of the result."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, out = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    axis, strides, target = axis_of(node, 0, len(shape)), row_major(shape), row_major(out)
    variables = list(zip(VARIABLES, out, strict=False))
    with code.loops(variables) as names:
        result = affine(list(zip(names, target, strict=True)))
        code.line(f"const int32_t at = {place(uses, f'in1[{result}]', shape[axis])};")
        terms = [("at" if i == axis else name, strides[i]) for i, name in enumerate(names)]
        code.line(f"out0[{result}] = in0[{affine(terms)}];")
    return _built(node, function, code, uses, node.inputs[:2], Work(memory=3, integer=6, steps=1).times(elements(out)))


def build_scatter_elements(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """ScatterElements: the data with single elements replaced or combined."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, seen = shape_of(node.inputs[0]), shape_of(node.inputs[1])
    axis, dtype = axis_of(node, 0, len(shape)), dtype_of(node.inputs[0])
    work = _copy_data(node, code, uses)
    with code.loops(list(zip(VARIABLES, seen, strict=False))) as names:
        source = affine(list(zip(names, row_major(seen), strict=True)))
        code.line(f"const int32_t at = {place(uses, f'in1[{source}]', shape[axis])};")
        terms = [("at" if i == axis else name, row_major(shape)[i]) for i, name in enumerate(names)]
        _join(node, code, uses, f"out0[{affine(terms)}]", f"in2[{source}]", dtype)
    work += (Work(memory=4, integer=6, steps=1) + simple(dtype)).times(elements(seen))
    return _built(node, function, code, uses, node.inputs[:3], work)


def build_gather_nd(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """GatherND: one slice of the data per tuple of indices."""
    (node,), code, uses = nodes, Code(), Uses()
    uses.include("string.h")
    shape, seen = shape_of(node.inputs[0]), shape_of(node.inputs[1])
    batch, depth, dtype = integer(node, "batch_dims", 0), seen[-1], dtype_of(node.inputs[0])
    outer, tuples = elements(seen[:batch]), elements(seen[batch:-1])
    size, whole = elements(shape[batch + depth :]), elements(shape[batch:])
    with code.loops([("b", outer), ("t", tuples)]) as (b, t):
        first = affine([(b, tuples * depth), (t, depth)])
        terms = [(b, whole)]
        for number in range(depth):
            value = f"in1[{affine([(first, 1)], number) if first != '0' else number}]"
            code.line(f"const int32_t at{number} = {place(uses, value, shape[batch + number])};")
            terms.append((f"at{number}", row_major(shape)[batch + number]))
        target = affine([(b, tuples * size), (t, size)])
        code.line(f"memcpy(&out0[{target}], &in0[{affine(terms)}], {size} * sizeof({c_type(dtype)}));")
    work = Work(memory=2, steps=1).times(outer * tuples * size) + Work(memory=1, integer=7).times(elements(seen))
    return _built(node, function, code, uses, node.inputs[:2], work)


def build_scatter_nd(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """ScatterND: the data with slices replaced or combined."""
    (node,), code, uses = nodes, Code(), Uses()
    shape, seen = shape_of(node.inputs[0]), shape_of(node.inputs[1])
    depth, tuples, dtype = seen[-1], elements(seen[:-1]), dtype_of(node.inputs[0])
    size = elements(shape[depth:])
    work = _copy_data(node, code, uses)
    with code.loop("t", tuples) as t:
        terms = []
        for number in range(depth):
            value = f"in1[{affine([(t, depth)], number)}]"
            code.line(f"const int32_t at{number} = {place(uses, value, shape[number])};")
            terms.append((f"at{number}", row_major(shape)[number]))
        with code.loop("k", size) as k:
            target, source = affine([*terms, (k, 1)]), affine([(t, size), (k, 1)])
            _join(node, code, uses, f"out0[{target}]", f"in2[{source}]", dtype)
    work += (Work(memory=3, steps=1) + simple(dtype)).times(tuples * size)
    return _built(node, function, code, uses, node.inputs[:3], work + Work(integer=7).times(elements(seen)))


def _copy_data(node: gs.Node, code: Code, uses: Uses) -> Work:
    count, dtype = elements(shape_of(node.inputs[0])), dtype_of(node.inputs[0])
    uses.include("string.h")
    code.line(f"memcpy(out0, in0, {count} * sizeof({c_type(dtype)}));")
    return Work(memory=2, steps=1).times(-(-count * dtype.itemsize // 4))


def _join(node: gs.Node, code: Code, uses: Uses, target: str, source: str, dtype: np.dtype[np.generic]) -> None:
    if text(node, "reduction", "none") == "none":
        code.line(f"{target} = {source};")
        return
    code.line(f"const {scalar_type(dtype)} old = {loaded(target, dtype)};")
    code.line(f"const {scalar_type(dtype)} new = {loaded(source, dtype)};")
    code.line(f"{target} = {stored(joined(node, uses, 'old', 'new', dtype), dtype)};")


def _built(node: gs.Node, function: str, code: Code, uses: Uses, inputs: list[gs.Tensor], work: Work) -> Built:
    arguments = tuple(tensor for index in range(len(inputs)) if (tensor := optional_input(node, index)) is not None)
    shapes = ", ".join("x".join(map(str, shape_of(tensor))) or "scalar" for tensor in arguments)
    comment = f"{node.op}: {shapes} to {'x'.join(map(str, shape_of(node.outputs[0]))) or 'scalar'}"
    return Built(arguments, inline_code(function, comment, arguments, node.outputs[:1], code.text, uses), work)
