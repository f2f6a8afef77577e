"""Tables of 256 values: functions of one 8-bit tensor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import Quant, shape_of
from numpy.typing import NDArray

from match_quant.integer_graph import IntegerGraph

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def apply_table(
    graph: IntegerGraph,
    x: gs.Variable,
    table: NDArray[np.generic],
    result: Quant,
    name: str,
    origin: tuple[str, ...],
) -> gs.Variable:
    """A Lut node, or ``x`` itself if the table changes nothing. ``table`` is in the order of the stored values
    (-128 first for int8)."""
    limits = np.iinfo(result.dtype)
    known = graph.expectation(x).bounds()
    stored = np.arange(limits.min, limits.max + 1)
    reachable = (stored >= known[0]) & (stored <= known[1])
    if np.array_equal(table[reachable].astype(np.int64), stored[reachable]):
        return x
    op = "match.arith::LutU8" if result.dtype == np.uint8 else "match.arith::LutI8"
    values = graph.editor.constant(f"{name}_values", table.astype(result.dtype))
    return graph.editor.node(op, [x, values], result.dtype, shape_of(x), name=name, origin=origin)


def all_values(quant: Quant) -> NDArray[np.float32]:
    """The real values of all 256 stored values in order, as DequantizeLinear computes them in float32."""
    limits = np.iinfo(quant.dtype)
    stored = np.arange(limits.min, limits.max + 1, dtype=np.int32)
    return np.asarray((stored - quant.zero).astype(np.float32) * np.float32(quant.scale), np.float32)


def requant_table(quant: Quant, result: Quant) -> NDArray[np.int64]:
    """Stored values of ``quant`` expressed with the parameters of ``result``, clipped to its bounds."""
    return result.quantise_all(all_values(quant).astype(np.float64)).astype(np.int64)


def all_codes(quant: Quant, values: NDArray[np.float64]) -> NDArray[np.generic]:
    """The stored values that QuantizeLinear computes for real values, of the whole range of the type."""
    limits = np.iinfo(quant.dtype)
    return replace(quant, lo=int(limits.min), hi=int(limits.max)).quantise_all(values)
