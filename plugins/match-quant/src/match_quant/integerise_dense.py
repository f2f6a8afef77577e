"""Quantised Gemm or MatMul with constant weights -> MatMulInteger -> Requant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import DType, QuantConstant, Site, constant, producer, quant_constant, shape_of
from numpy.typing import NDArray

from match_quant.expectation import of_sum
from match_quant.int8_weights import int8_terms, repeated
from match_quant.integer_graph import IntegerGraph
from match_quant.integerise_conv import linear_target, real_bias, signed_weight

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def dense(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Gemm, MatMul, or MatMul followed by Add of a constant, with quantised input and weights."""
    matmul, add = _split(graph, site)
    if matmul is None or (matmul.op == "Gemm" and matmul.attrs.get("transA", 0)):
        return None
    source = graph.source(matmul.inputs[0])
    weight = _weight(matmul, source[1].dtype) if source is not None else None
    if source is None or weight is None:
        return None
    x, quant, dequantize = source
    channels = weight.values.shape[1]
    bias = _bias(matmul, add, channels)
    alpha = float(matmul.attrs.get("alpha", 1.0)) if matmul.op == "Gemm" else 1.0
    if bias is None or alpha <= 0:
        return None
    stored = graph.stored(site.quant)
    scale = alpha * np.broadcast_to(weight.scale.reshape(-1), (channels,))
    taps = weight.values.T[:, :, None]
    inputs = graph.expectation(x).per_channel(taps.shape[1], axis=len(x.shape) - 1)
    target = linear_target(of_sum(inputs, taps, 1), taps, scale, bias, quant, stored)
    makers = [node for tensor in matmul.inputs[1:] if (node := producer(tensor)) is not None]
    origin = graph.editor.origin(dequantize, *makers, matmul)
    terms = int8_terms(weight.values)
    if len(terms) > 1:
        x = repeated(graph.editor, x, len(x.shape) - 1, len(terms), matmul.name, origin)
    acc = graph.editor.node(
        "MatMulInteger" if quant.dtype.itemsize == 1 else "match.arith::MatMulIntegerI16",
        [x, graph.editor.constant(f"{matmul.name}_weight", np.concatenate(terms).astype(np.int8))],
        np.int32,
        shape_of(matmul.outputs[0]),
        name=matmul.name,
        origin=origin,
    )
    result_origin = graph.editor.origin(matmul, *site.nodes)
    return graph.requantise(acc, target, stored, len(acc.shape) - 1, site, result_origin)


def _split(graph: IntegerGraph, site: Site) -> tuple[gs.Node | None, gs.Node | None]:
    """The matrix product of the site, and the Add of a constant after it."""
    node = site.op
    if node.op in ("Gemm", "MatMul"):
        return node, None
    if node.op != "Add":
        return None, None
    for position in (0, 1):
        tensor = node.inputs[position]
        before = producer(tensor)
        private = len(tensor.outputs) == 1 and not any(tensor is out for out in graph.editor.graph.outputs)
        if before is not None and before.op == "MatMul" and private and shape_of(tensor) == site.real_shape:
            return before, node
    return None, None


def _weight(node: gs.Node, values: DType) -> QuantConstant | None:
    """The weights as [K, N]."""
    transposed = node.op == "Gemm" and bool(node.attrs.get("transB", 0))
    weight = signed_weight(node.inputs[1], channel_axis=0 if transposed else 1, values=values)
    if weight is None or weight.values.ndim != 2:
        return None
    if not transposed:
        return weight
    return QuantConstant(np.ascontiguousarray(weight.values.T), weight.scale, 1 if weight.axis == 0 else None)


def _bias(matmul: gs.Node, add: gs.Node | None, channels: int) -> NDArray[np.float64] | None:
    if add is None:
        bias = real_bias(matmul, 2, channels)
        beta = float(matmul.attrs.get("beta", 1.0))
        return None if bias is None else beta * bias
    other = add.inputs[1] if producer(add.inputs[0]) is matmul else add.inputs[0]
    stored = quant_constant(other)
    values = stored.real() if stored is not None else constant(other)
    if values is None or values.size not in (1, channels) or (values.size > 1 and values.shape[-1] != channels):
        return None
    return np.broadcast_to(np.asarray(values, np.float64).reshape(-1), (channels,))
