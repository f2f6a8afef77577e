"""Softmax of lines of int8 with a table of exponentials: one division for each line.

Values are multiplied by levels / sum, as a quotient with ``_POINT`` bits behind the point. Where a line's sum may
exceed 32 bits, kernels add up pieces that do not, and leave out the lowest bits of the sum and of the values. What that
changes a quotient by is known: results that are nearer to a half are divided. Cores without vectors compute the results
of lines that have more values than results once, by their distances from the largest value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant
from match_host.graph import axis_of, constant_at, dtype_of, elements, values_of
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.work import Work

from match_cortexm.headers import BYTES, MOVES, SHARED, SOFTMAX, SOFTMAX_LONG, SOFTMAX_TABLE, header
from match_cortexm.kernels.counted import Counted

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

    from match_cortexm.cores import Core

SOFTMAX_I8 = "match.arith::SoftmaxI8"
#: The most levels whose quotients fit 32 bits.
_LEVELS = 256
#: Bits of quotients behind the point, and by how much two truncations make them too small, in their last bits.
_POINT, _TRUNCATED = 22, 2
#: The largest error that is worth it: of 2^22 quotients, as many are divided (an estimate).
_ERROR = 1 << 14
#: Pieces of a line are multiples of the values of a vector.
_VECTOR = 16


def softmax_of(node: gs.Node, *, vectors: bool) -> tuple[int, ...] | str:
    """Lines, values of a line, levels, zero point and bounds of the result; or why the kernel does not take it.
    ``vectors``: whether it computes several values at a time."""
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
    if not 0 < levels <= _LEVELS:
        return f"{levels} levels"
    if entries.size != 256 or entries.min() < 0 or entries[0] < 1 or largest >= 1 << 28:
        return f"{entries.size} entries of {entries[0]} to {largest}"
    taken = vectors or _tabled(entries, shape[-1], levels)
    if _down(largest, shape[-1]) and (not taken or _error(entries, shape[-1], levels) > _ERROR):
        return f"entries of {entries[0]} to {largest}, lines of {shape[-1]}"
    return elements(shape[:-1]), shape[-1], levels, *rest


def _down(largest: int, size: int) -> int:
    """The bits of a line's sum that are left out, so that it fits 32 bits, rounded up."""
    most = largest * max(size, 2)
    bits = max(0, most.bit_length() - 32)
    return bits + int(bits > 0 and most >> bits == (1 << 32) - 1)


def _results(entries: NDArray[np.int64], levels: int) -> int:
    """The most results of a line that are not 0: its sum is at least the first entry."""
    return int((entries * (2 * levels) >= entries[0]).sum())


def _tabled(entries: NDArray[np.int64], size: int, levels: int) -> bool:
    """Whether the results of all distances are fewer than half of the values, and never grow with the distance."""
    return bool((np.diff(entries) <= 0).all()) and 2 * _results(entries, levels) < size


def _error(entries: NDArray[np.int64], size: int, levels: int) -> int:
    """By how much quotients of long lines may be too small, in their last bits. A value without its lowest bits is
    smaller by less than 1, the sum is larger by less than 1; and no sum is smaller than the first entry."""
    first = int(entries[0]) >> _down(int(entries.max()), size)
    return 2 * -(-(levels << _POINT) // max(1, first)) + _TRUNCATED


def build_softmax(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of one SoftmaxI8."""
    (node,) = nodes
    found = softmax_of(node, vectors=core.helium)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    lines, size, levels, zero, low, high = found
    table = values_of(node.inputs[1]).astype(np.int64).reshape(-1)
    largest = int(table.max())
    down, tabled = _down(largest, size), not core.helium and _tabled(table, size, levels)
    kernel, sizes, dividing, more = "match_cortexm_softmax", f"{size}", f"{levels}u", []
    if down or tabled:
        piece = ((1 << 32) - 1) // largest // _VECTOR * _VECTOR
        kernel, more = f"{kernel}_{'table' if tabled else 'long'}", [SOFTMAX_LONG, *([SOFTMAX_TABLE] if tabled else [])]
        sizes, error = f"{size}, {min(piece, size)}", _error(table, size, levels) if down else _TRUNCATED
        dividing = f"{levels}u, {down}u, {error}u"
    place = f"[i * {size}]"
    body = (
        f"    for (int32_t i = 0; i < {lines}; i++) {{\n"
        f"        {kernel}(&out0{place}, &in0{place}, in1, {sizes}, {dividing}, {zero}, {low}, {high});\n"
        "    }"
    )
    uses = Uses()
    for name in (SHARED, BYTES, MOVES, SOFTMAX, *more):
        uses.headers[name] = header(name)
    comment = f"{node.op}: {lines} lines of {size}"
    code = inline_code(function, comment, node.inputs[:2], node.outputs[:1], body, uses, {1: table.astype(np.int32)})
    counts = {"lines": lines, "steps": lines * -(-size // 4), "values": lines * size}
    if core.helium:
        counts = {"lines": lines, "steps": lines * -(-size // 4), "vectors": lines * -(-size // 16)}
    form = "softmax_mve" if core.helium else "softmax_dsp" if core.dsp else "softmax"
    if tabled:
        form, counts = f"{form}_table", {**counts, "results": lines * _results(table, levels)}
    return Counted(tuple(node.inputs[:2]), code, Work(), form, tuple(counts.items()))
