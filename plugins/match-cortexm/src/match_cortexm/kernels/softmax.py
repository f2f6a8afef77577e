"""Softmax of lines of int8 with a table of exponentials: one division for each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant
from match_host.graph import axis_of, constant_at, dtype_of, elements, values_of
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.work import Work

from match_cortexm.headers import BYTES, MOVES, SHARED, SOFTMAX, header
from match_cortexm.kernels.counted import Counted

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.cores import Core

SOFTMAX_I8 = "match.arith::SoftmaxI8"
#: The most levels whose quotients fit 32 bits.
_LEVELS = 256


def softmax_of(node: gs.Node) -> tuple[int, ...] | str:
    """Lines, values of a line, levels, zero point and bounds of the result; or why the kernel does not take it."""
    shape, table = shape_of(node.inputs[0]), node.inputs[1]
    values = [constant_at(node, index) for index in range(2, 6)]
    if {dtype_of(tensor).name for tensor in (node.inputs[0], node.outputs[0])} != {"int8"}:
        return "the tensors are not int8"
    if axis_of(node, -1, len(shape)) != len(shape) - 1 or not elements(shape):
        return f"axis {axis_of(node, -1, len(shape))} of {len(shape)}"
    if not is_constant(table) or any(value is None or value.size != 1 for value in values):
        return "the table or a number is computed"
    entries = values_of(table).astype(np.int64).reshape(-1)
    levels, *rest = (int(value.reshape(-1)[0]) for value in values if value is not None)
    largest = int(entries.max())
    if entries.size != 256 or entries.min() < 0 or entries[0] < 1 or largest * max(shape[-1], 2) >= 1 << 32:
        return f"{entries.size} entries up to {largest}, lines of {shape[-1]}"
    if not 0 < levels <= _LEVELS:
        return f"{levels} levels"
    return elements(shape[:-1]), shape[-1], levels, *rest


def build_softmax(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of one SoftmaxI8."""
    (node,) = nodes
    found = softmax_of(node)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    lines, size, levels, zero, low, high = found
    place = f"[i * {size}]"
    body = (
        f"    for (int32_t i = 0; i < {lines}; i++) {{\n"
        f"        match_cortexm_softmax(&out0{place}, &in0{place}, in1, {size}, {levels}u, {zero}, {low}, {high});\n"
        "    }"
    )
    uses = Uses()
    for name in (SHARED, BYTES, MOVES, SOFTMAX):
        uses.headers[name] = header(name)
    table = values_of(node.inputs[1]).astype(np.int32).reshape(-1)
    comment = f"{node.op}: {lines} lines of {size}"
    code = inline_code(function, comment, node.inputs[:2], node.outputs[:1], body, uses, {1: table})
    counts = {"lines": lines, "steps": lines * -(-size // 4), "values": lines * size}
    if core.helium:
        counts = {"lines": lines, "steps": lines * -(-size // 4), "vectors": lines * -(-size // 16)}
    form = "softmax_mve" if core.helium else "softmax_dsp" if core.dsp else "softmax"
    return Counted(tuple(node.inputs[:2]), code, Work(), form, tuple(counts.items()))
