"""Integer operators along the last axis: softmax with a table or with shifts, layer and RMS normalisation of integers
that floats hold. Layer normalisation of quantised tensors: layer_norm_requant.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.element_types import c_type
from match_core.contract.node_rule import NodeRule
from match_core.ir.reader import shape_of

from match_host.graph import constant_at, dtype_of, elements, integer, values_of
from match_host.kernels.built import Built
from match_host.kernels.code import Uses, inline_code, literal
from match_host.kernels.templates import render_body
from match_host.kernels.work import Work

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

_ROOT = """/* The largest integer whose square is at most v (v >= 0): bit by bit. */
static inline int{bits}_t host_integer_root_{bits}(int{bits}_t v)
{{
    uint{bits}_t rest = (uint{bits}_t)v, root = 0, bit = (uint{bits}_t)1 << {top};
    while (bit > rest) {{
        bit >>= 2;
    }}
    while (bit != 0) {{
        if (rest >= root + bit) {{
            rest -= root + bit;
            root = (root >> 1) + bit;
        }} else {{
            root >>= 1;
        }}
        bit >>= 2;
    }}
    return (int{bits}_t)root;
}}
"""
_PLACE = """static inline int32_t host_place_{size}(int32_t top, int32_t x)
{{
    const int64_t distance = (int64_t)top - x;
    return distance < {size} ? (int32_t)distance : {size} - 1;
}}
"""


def build_softmax_floor(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """``match.arith::SoftmaxFloorU8``."""
    (node,) = nodes
    shape = shape_of(node.inputs[0])
    table = values_of(node.inputs[1]).astype(np.int64).reshape(-1)
    levels = single_value(node, 2)
    short = max(int(table.max()) * levels, int(table.max()) * shape[-1]) < 2**31
    source, uses = dtype_of(node.inputs[0]), Uses()
    if source.itemsize > 1:  # for any input, no access leaves the table
        uses.helper(f"host_place_{table.size}", _PLACE.format(size=table.size))
    text = render_body(
        "softmax_floor",
        outer=elements(shape[:-1]),
        size=shape[-1],
        levels=levels,
        type="int32_t" if short else "int64_t",
        source=c_type(source),
        place="top - x[k]" if source.itemsize == 1 else f"host_place_{table.size}(top, x[k])",
    )
    packed = table.astype(np.int32 if int(table.max()) < 2**31 else np.int64)
    arguments = (node.inputs[0], node.inputs[1])
    comment = f"SoftmaxFloor: {'x'.join(map(str, shape))}"
    code = inline_code(function, comment, arguments, node.outputs, text, uses, {1: packed})
    each = Work(memory=6, integer=5, divide=1, steps=3) if short else Work(memory=6, wide=5, wide_divide=1, steps=3)
    return Built(arguments, code, each.times(elements(shape)))


def build_shift_softmax(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """``match.arith::ShiftSoftmaxU8`` as a stream; the function's body is its closed form."""
    (node,) = nodes
    shape = shape_of(node.inputs[0])
    group = integer(node, "group", shape[-1])
    text = render_body(
        "softmax_shift",
        outer=elements(shape[:-1]),
        groups=shape[-1] // group,
        group=group,
        size=shape[-1],
        source=c_type(dtype_of(node.inputs[0])),
        numerator=single_value(node, 1),
    )
    comment = f"ShiftSoftmax: {'x'.join(map(str, shape))}, {group} columns at a time"
    code = inline_code(function, comment, node.inputs[:1], node.outputs, text, Uses())
    lines = elements(shape[:-1])
    work = Work(memory=4, integer=10, steps=3).times(elements(shape)) + Work(divide=1).times(lines)
    return Built(tuple(node.inputs[:1]), code, work)


def build_integer_norm(nodes: tuple[gs.Node, ...], function: str) -> Built:
    """``match.arith::LayerNormI8`` and ``RmsNormI8``, in 32 bits if everything fits."""
    (node,), uses = nodes, Uses()
    shape = shape_of(node.inputs[0])
    centred = node.op == "LayerNormI8"
    indices = (1, 2) if centred else (1,)
    parameters = [values_of(node.inputs[i]).astype(np.int64).reshape(-1) for i in indices]
    bits = 32 if _is_short(dtype_of(node.inputs[0]), shape[-1], parameters) else 64
    arguments, constants, texts = line_parameters(node, indices, np.dtype(f"int{bits}"))
    divisor, low, high = (single_value(node, index) for index in range(len(node.inputs) - 3, len(node.inputs)))
    text = render_body(
        "normalization_integer",
        outer=elements(shape[:-1]),
        size=shape[-1],
        source=c_type(dtype_of(node.inputs[0])),
        type=f"int{bits}_t",
        centred=centred,
        root=integer_root(uses, bits),
        weight=texts[0],
        bias=texts[1] if centred else "",
        shift=divisor.bit_length() - 1 if divisor & (divisor - 1) == 0 else None,
        divisor=literal(divisor, np.dtype(np.int64)),
        low=low,
        high=high,
    )
    comment = f"{node.op}: {'x'.join(map(str, shape))}"
    code = inline_code(function, comment, arguments, node.outputs, text, uses, constants)
    lines, total = elements(shape[:-1]), elements(shape)
    if bits == 32:  # a root of at most 16 bits: 8 steps
        work = Work(memory=5, integer=12, divide=1, steps=3).times(total)
        return Built(tuple(arguments), code, work + Work(integer=48, divide=2, steps=8).times(lines))
    work = Work(memory=5, wide=10, wide_multiply=2, wide_divide=1, steps=3).times(total)
    return Built(tuple(arguments), code, work + Work(wide=96, wide_divide=2, steps=32).times(lines))


def _is_short(source: np.dtype[np.generic], size: int, parameters: list[NDArray[np.int64]]) -> bool:
    """Whether sums of squares, and a weight times a difference plus a bias, fit 32 bits for every 8-bit input."""
    largest = [int(np.abs(values).max()) for values in parameters]
    products = 255 * largest[0] + sum(largest[1:])
    return source.itemsize == 1 and max(255 * 255 * size, products) < 2**31


def line_parameters(
    node: gs.Node, indices: Sequence[int], computed: np.dtype[np.generic]
) -> tuple[list[gs.Tensor], dict[int, NDArray[np.generic]], list[str]]:
    """Arguments of a kernel whose parameters lie along the last axis, the arrays among them, and the C text of
    element k of each parameter. Single values become literals of type ``computed``."""
    arguments: list[gs.Tensor] = [node.inputs[0]]
    constants: dict[int, NDArray[np.generic]] = {}
    texts = []
    for index in indices:
        values = values_of(node.inputs[index]).astype(np.int64).reshape(-1)
        if values.size == 1:
            texts.append(literal(int(values[0]), computed))
            continue
        texts.append(f"in{len(arguments)}[k]")
        constants[len(arguments)] = _narrow(values)
        arguments.append(node.inputs[index])
    return arguments, constants, texts


def integer_root(uses: Uses, bits: int) -> str:
    """The name of the C function for integer roots of that many bits."""
    return uses.helper(f"host_integer_root_{bits}", _ROOT.format(bits=bits, top=bits - 2))


def _narrow(values: NDArray[np.int64]) -> NDArray[np.generic]:
    fits = int(np.abs(values).max()) < 2**31
    return values.astype(np.int32) if fits else values


def single_value(node: gs.Node, index: int) -> int:
    """A constant of one value."""
    values = constant_at(node, index)
    if values is None or values.size != 1:
        raise ValueError(f"input {index} of {node.op} is not one value")
    return int(values.reshape(-1)[0])


# ---- rules -----------------------------------------------------------------------------------------------------


def _levels(node: gs.Node) -> str | None:
    table, levels = constant_at(node, 1), constant_at(node, 2)
    if table is None or levels is None or levels.size != 1 or not 0 < int(levels.reshape(-1)[0]) <= 255:
        return "the levels are not one value of 1 to 255"
    source = dtype_of(node.inputs[0])
    if int(table.min()) < 0 or int(table.reshape(-1)[0]) <= 0:
        return "the table is negative, or its first entry is not positive"
    short = source.itemsize == 1 and table.size < 256
    return f"the table has {table.size} entries" if short else None


def _whole_groups(node: gs.Node) -> str | None:
    group, columns = integer(node, "group", 0), shape_of(node.inputs[0])[-1]
    return None if group > 0 and columns % group == 0 else f"{columns} columns are not a multiple of {group}"


def _numbers(node: gs.Node) -> str | None:
    for index in range(len(node.inputs) - 3, len(node.inputs)):
        values = constant_at(node, index)
        if values is None or values.size != 1:
            return f"input {index} is not one value"
    divisor = constant_at(node, len(node.inputs) - 3)
    if divisor is None or int(divisor.reshape(-1)[0]) <= 0:
        return "the divisor is not positive"
    for index in (1, 2) if node.op == "LayerNormI8" else (1,):
        values = constant_at(node, index)
        if values is None or values.size not in (1, shape_of(node.inputs[0])[-1]):
            return f"input {index} does not lie along the last axis"
    return None


LEVELS = NodeRule("levels", "a table that starts positive and is never negative, 1 to 255 levels", _levels)
GROUPS = NodeRule("groups", "the last axis holds whole groups", _whole_groups)
NORM_PARAMETERS = NodeRule(
    "parameters", "weight and bias along the last axis, positive divisor, single bounds", _numbers
)
