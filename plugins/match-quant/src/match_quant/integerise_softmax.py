"""Quantised Softmax -> integer Softmax: exponentials from a table, one exact division per element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import Site, shape_of

from match_quant.integer_graph import IntegerGraph

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Bits of exp(0) in the table. Sums of up to 2^20 elements times 2^9 levels stay below 2^63.
TABLE_BITS = 24


def softmax(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Softmax between DequantizeLinear and QuantizeLinear if 1 / (output scale) is close to an integer (256 for the
    usual scale 1/256)."""
    node = site.op
    if node.op != "Softmax":
        return None
    source = graph.source(node.inputs[0])
    levels = round(1.0 / site.quant.scale)
    # Within 2^-12 of an integer, the result changes by less than 1/16 of an LSB.
    if (
        source is None
        or source[1].dtype.itemsize > 1
        or not 1 <= levels <= 1 << 9
        or abs(1.0 / site.quant.scale - levels) > 2.0**-12
    ):
        return None
    x, quant, dequantize = source
    stored = graph.stored(site.quant)
    table = np.rint(np.exp(-np.arange(256) * quant.scale) * 2.0**TABLE_BITS).astype(np.int64)
    axis = int(node.attrs.get("axis", -1)) % len(shape_of(x))
    inputs = [
        x,
        graph.editor.constant(f"{node.name}_table", table),
        graph.scalar(f"{node.name}_levels", levels),
        graph.scalar(f"{node.name}_zero", stored.zero),
        graph.scalar(f"{node.name}_lo", stored.lo),
        graph.scalar(f"{node.name}_hi", stored.hi),
    ]
    op = "match.arith::SoftmaxU8" if stored.dtype == np.uint8 else "match.arith::SoftmaxI8"
    origin = graph.editor.origin(dequantize, *site.nodes)
    return graph.editor.node(
        op, inputs, stored.dtype, site.real_shape, name=node.name, origin=origin, attrs={"axis": axis}
    )
