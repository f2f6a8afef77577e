"""The expectation of int8 tensors that ITA's own operators compute, and of all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import constant, producer
from match_quant.expectation import Expectation, clipped
from match_quant.linear.expectation import Expected, through_table
from match_quant.linear.layers import INT8_MAX, INT8_MIN

from match_ita.arithmetic import GeluConstants, RequantStep, gelu
from match_ita.functions import ATTENTION, GELU

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def expected(x: gs.Tensor, outputs: Sequence[gs.Tensor]) -> Expectation:
    """The expectation of each channel of ``x``, an int8 tensor of a graph with these outputs."""
    return Expected(outputs, {GELU: _polynomial, ATTENTION: _attention}).of(x)


def _polynomial(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    b, c, multiplier, addend, divisor = (int(np.asarray(constant(tensor))) for tensor in node.inputs[1:6])
    shift = divisor.bit_length() - 1
    step = RequantStep(multiplier, shift, (addend - (divisor >> 1)) >> shift)
    table = gelu(np.arange(INT8_MIN, INT8_MAX + 1).astype(np.int8), GeluConstants(b, c, step))
    return through_table(graph.of(node.inputs[0], depth), table.astype(np.float64))


def _attention(node: gs.Node, graph: Expected, depth: int) -> Expectation | None:
    """Means of rows of v, weighted: as v itself is, times the sum of the weights (N / 256). Means over many rows have
    less spread; nothing is assumed of how many rows count."""
    turned = producer(node.inputs[2])
    if turned is not None and turned.op == "Pad":
        turned = producer(turned.inputs[0])
    if turned is None or turned.op != "Transpose":
        return None
    total, multiplier, addend, divisor = (int(np.asarray(constant(tensor))) for tensor in node.inputs[6:10])
    v = graph.of(turned.inputs[0], depth).per_channel(int(node.outputs[0].shape[-1]), -1)
    factor = total / 256 * multiplier / divisor
    lo, hi = np.full(v.mean.shape, INT8_MIN, np.int64), np.full(v.mean.shape, INT8_MAX, np.int64)
    return clipped(factor * v.mean + addend / divisor - 0.5, factor * v.sd, lo, hi, axis=-1)
