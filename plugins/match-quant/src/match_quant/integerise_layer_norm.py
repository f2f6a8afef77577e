"""Quantised LayerNormalization -> LayerNormRequant, for precision exact, or if a unit of the Soc has no floating
point. In floating point the last bits depend on the order of sums, and they can change the result by a whole step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import DType, Quant, Site, constant, optional_input, quant_constant, shape_of
from numpy.typing import NDArray

from match_quant.integer_graph import IntegerGraph

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Shortest axis: E is off by at most 1 and the smallest sum of t^2 is n * (n - 1), so results are off by 0.21 % at
#: most, which is half a step of 255.
SHORTEST = 16
#: Longest axis: sums of squared differences stay below 2^50 (8-bit values, n^3 * 127.5^2).
LONGEST = 4096
#: u is 2^29 times the normalised value over sqrt(n), and u * M loses 32 bits.
_PLACES = 3
_INT32 = np.iinfo(np.int32)
_SHIFT_MAX = 30


def layer_norm(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """LayerNormalization along the last axis with constant scale and bias, between DequantizeLinear and
    QuantizeLinear."""
    node = site.op
    if node.op != "LayerNormalization" or not (graph.integer_only or graph.precision == "exact"):
        return None
    source = graph.source(node.inputs[0])
    scale, bias = _parameter(node, 1), _parameter(node, 2)
    if source is None or source[1].dtype.itemsize > 1 or scale is None or bias is None:
        return None
    x, quant, dequantize = source
    rank, size = len(shape_of(x)), shape_of(x)[-1]
    epsilon = _epsilon(float(node.attrs.get("epsilon", 1e-5)), size, quant)
    stored = graph.stored(site.quant)
    slope, offset = scale * np.sqrt(size) / stored.scale, bias / stored.scale + stored.zero + 0.5
    chosen = _choose(np.broadcast_to(slope, (size,)), np.broadcast_to(offset, (size,)))
    if int(node.attrs.get("axis", -1)) % rank != rank - 1 or not SHORTEST <= size <= LONGEST:
        return None
    if epsilon is None or chosen is None:
        return None
    multiplier, addend, shift = chosen
    inputs = [
        x,
        graph.editor.constant(f"{node.name}_multiplier", multiplier),
        graph.editor.constant(f"{node.name}_addend", addend),
        graph.scalar(f"{node.name}_divisor", 1 << shift),
        graph.scalar(f"{node.name}_epsilon", epsilon),
        graph.scalar(f"{node.name}_lo", stored.lo),
        graph.scalar(f"{node.name}_hi", stored.hi),
    ]
    op = _operator(stored.dtype)
    origin = graph.editor.origin(dequantize, *site.nodes)
    return graph.editor.node(op, inputs, stored.dtype, site.real_shape, name=node.name, origin=origin)


def _operator(dtype: DType) -> str:
    return "match.arith::LayerNormRequantU8" if dtype == np.uint8 else "match.arith::LayerNormRequantI8"


def _parameter(node: gs.Node, position: int) -> NDArray[np.float64] | None:
    """Scale or bias as reals of shape (n,) or (); an omitted bias is 0."""
    tensor = optional_input(node, position)
    if tensor is None:
        return np.zeros(())
    stored = quant_constant(tensor)
    values = stored.real() if stored is not None else constant(tensor)
    if values is None or values.size not in (1, shape_of(node.inputs[0])[-1]):
        return None
    real = np.asarray(values, np.float64)
    return real.reshape(()) if real.size == 1 else real.reshape(-1)


def _epsilon(epsilon: float, size: int, quant: Quant) -> int | None:
    """The integer for epsilon in the unit of the sum of t^2 (t = n * x - sum of x); at least 1, so that no root is
    0."""
    value = size**3 * epsilon / quant.scale**2
    return max(1, round(value)) if 0 <= value < 2.0**51 else None


def _choose(
    slope: NDArray[np.float64], offset: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int] | None:
    """M, B and S for ``slope * t / sqrt(sum of t^2) + offset`` with the largest S that keeps both within 32 bits."""
    if not (np.all(np.isfinite(slope)) and np.all(np.isfinite(offset))):
        return None
    for shift in range(_SHIFT_MAX, -1, -1):
        multiplier, addend = np.rint(slope * 2.0 ** (shift + _PLACES)), np.rint(offset * 2.0**shift)
        largest = float(np.max(np.abs(multiplier)))
        if largest <= _INT32.max and float(np.max(np.abs(multiplier) / 2**_PLACES + np.abs(addend))) < _INT32.max:
            return multiplier.astype(np.int64), addend.astype(np.int64), shift
    return None
