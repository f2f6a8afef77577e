"""Quantisation and dequantisation between float32 and bytes without an FPU: by tables of all 256 results.

``clip(rint(x / scale) + zero)`` never decreases with x, so it is the number of results whose least x is at most x: 255
comparisons of integers, of which a binary search takes eight. The least x of each result is found with the same
operations in float32."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant
from match_host.graph import constant_at, dtype_of, elements
from match_host.kernels.code import Uses, inline_code
from match_host.kernels.overlap import element_by_element
from match_host.kernels.work import Work

from match_cortexm.headers import ENDS, MOVES, header
from match_cortexm.kernels.counted import Counted

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

    from match_cortexm.cores import Core

_BYTES = ("int8", "uint8")
#: The bits of infinity, and what no number reaches.
_INFINITY, _NEVER = 0x7F800000, 0x7FFFFFFF


def ends_of(node: gs.Node) -> tuple[np.float32, int] | str:
    """Scale and zero point of a QuantizeLinear or DequantizeLinear; or why the kernels do not take it."""
    source, result = node.inputs[0], node.outputs[0]
    types = [dtype_of(tensor).name for tensor in (source, result)]
    if sorted(types, key=_BYTES.__contains__)[0] != "float32" or not set(types) & set(_BYTES):
        return f"from {types[0]} to {types[1]}"
    if any(not is_constant(tensor) for tensor in node.inputs[1:] if not tensor.is_empty()):
        return "a scale or zero point is computed"
    scale, zero = constant_at(node, 1), constant_at(node, 2)
    zero = np.zeros(1, np.int64) if zero is None else zero
    if scale is None or scale.size != 1 or zero.size != 1:
        return "a scale or zero point is not one number"
    value = np.float32(scale.reshape(-1)[0])
    if not (np.isfinite(value) and value > 0):
        return f"the scale is {value}"
    return value, int(zero.reshape(-1)[0])


def least_numbers(scale: np.float32, zero: int, low: int) -> NDArray[np.int32]:
    """The least float32 that gives each of 256 results from ``low`` on, as integers of the same order."""

    def result(key: NDArray[np.int64]) -> NDArray[np.int64]:
        bits = np.where(key < 0, key ^ _NEVER, key).astype(np.int32)
        with np.errstate(over="ignore", under="ignore"):
            quotient = bits.view(np.float32) / scale
        held = np.clip(quotient, np.float32(low - zero), np.float32(low + 255 - zero))
        return np.rint(held).astype(np.int64) + zero

    wanted = np.arange(low + 1, low + 256)
    below, above = (np.full(255, key, np.int64) for key in (~_INFINITY - 1, _INFINITY + 1))
    while bool((above - below > 1).any()):
        middle = (below + above) // 2
        reached = result(middle) >= wanted
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    return np.array([-_NEVER - 1, *np.where(above > _INFINITY, _NEVER, above)], np.int32)


def build_quantize(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of one QuantizeLinear to bytes."""
    return _built(nodes, function, "quantize", least_numbers)


def build_dequantize(nodes: tuple[gs.Node, ...], function: str, core: Core) -> Counted:
    """The kernel of one DequantizeLinear of bytes."""
    return _built(nodes, function, "dequantize", _numbers)


def _numbers(scale: np.float32, zero: int, low: int) -> NDArray[np.float32]:
    """The numbers of all bytes, by their bits as an unsigned integer."""
    values = np.roll(np.arange(low, low + 256), low)
    return (values - zero).astype(np.float32) * scale


def _built(
    nodes: tuple[gs.Node, ...],
    function: str,
    form: str,
    table: Callable[[np.float32, int, int], NDArray[np.generic]],
) -> Counted:
    import onnx_graphsurgeon as gs

    (node,) = nodes
    found = ends_of(node)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    source, result = node.inputs[0], node.outputs[0]
    signed = "int8" in {dtype_of(tensor).name for tensor in (source, result)}
    low, count = -128 if signed else 0, elements(shape_of(result))
    values = table(*found, low)
    uses = Uses()
    for name in (MOVES, ENDS):
        uses.headers[name] = header(name)
    call = {
        "quantize": f"match_cortexm_quantize((uint8_t *)out0, in0, in1, {low}, {count});",
        "dequantize": f"match_cortexm_dequantize(out0, (const uint8_t *)in0, in1, {count});",
    }[form]
    arguments = (source, gs.Constant(f"{result.name}/table", values))
    code = inline_code(function, f"{node.op}: {count} elements", arguments, (result,), f"    {call}", uses, {1: values})
    if form == "quantize":
        code = replace(code, overlaps=element_by_element((source,), result))
    return Counted(arguments, code, Work(), form, (("elements", count),))
