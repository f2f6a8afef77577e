"""Quantised product of two computed tensors -> MatMulInteger with zero points -> Requant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import Quant, Site, constant, is_private, producer, shape_of

from match_quant.expectation import Expectation, of_product, with_result_prior
from match_quant.integer_graph import IntegerGraph
from match_quant.requant import Target

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def matmul(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """MatMul of two quantised tensors with any leading axes, possibly scaled by positive constants after it."""
    found = _product(graph, site)
    if found is None:
        return None
    node, scalings, factor = found
    first, second = graph.source(node.inputs[0]), graph.source(node.inputs[1])
    if first is None or second is None or len(shape_of(first[0])) < 2 or len(shape_of(second[0])) < 2:
        return None
    (a, quant_a, dequantize_a), (b, quant_b, dequantize_b) = first, second
    if max(quant_a.dtype.itemsize, quant_b.dtype.itemsize) > 1:
        return None
    stored = graph.stored(site.quant)
    target = product_target(graph, (a, quant_a), (b, quant_b), stored, shape_of(a)[-1], factor)
    if target is None:
        return None
    acc = graph.editor.node(
        "MatMulInteger",
        [a, b, *_zero_points(graph, node.name, quant_a, quant_b)],
        np.int32,
        shape_of(node.outputs[0]),
        name=node.name,
        origin=graph.editor.origin(dequantize_a, dequantize_b, node),
    )
    origin = graph.editor.origin(node, *scalings, *site.clamps, site.quantize)
    return graph.requantise(acc, target, stored, len(acc.shape) - 1, site, origin)


def product_target(
    graph: IntegerGraph,
    first: tuple[gs.Variable, Quant],
    second: tuple[gs.Variable, Quant],
    stored: Quant,
    depth: int = 1,
    factor: float = 1.0,
) -> Target | None:
    """The requantisation of sums of ``depth`` products of two tensors times ``factor``; None if int32 cannot hold
    them."""
    (a, quant_a), (b, quant_b) = first, second
    type_min, type_max = product_bounds(_whole(quant_a), _whole(quant_b), depth)
    limits = np.iinfo(np.int32)
    if type_min < limits.min or type_max > limits.max:
        return None
    multiplier = factor * quant_a.scale * quant_b.scale / stored.scale
    guess = of_product(_centred(graph.expectation(a), quant_a), _centred(graph.expectation(b), quant_b), depth)
    mean, sd = with_result_prior(multiplier * guess[0] + stored.zero, multiplier * guess[1], stored)
    low, high = product_bounds(quant_a, quant_b, depth)
    return Target(
        multiplier=np.array([multiplier]),
        offset=np.array([float(stored.zero)]),
        acc_min=np.array([low]),
        acc_max=np.array([high]),
        type_min=np.array([type_min]),
        type_max=np.array([type_max]),
        lo=stored.lo,
        hi=stored.hi,
        acc_mean=(mean - stored.zero) / multiplier,
        acc_sd=sd / multiplier,
    )


def product_bounds(a: Quant, b: Quant, depth: int) -> tuple[int, int]:
    """Smallest and largest sum of ``depth`` products of values in the ranges of ``a`` and ``b``, minus their zero
    points."""
    ends = [(p - a.zero) * (q - b.zero) for p in (a.lo, a.hi) for q in (b.lo, b.hi)]
    return depth * min(ends), depth * max(ends)


def _product(graph: IntegerGraph, site: Site) -> tuple[gs.Node, tuple[gs.Node, ...], float] | None:
    """The MatMul of the site, the multiplications and divisions by positive constants after it, and their product."""
    node, factor = site.op, 1.0
    scalings: list[gs.Node] = []
    while node.op in ("Mul", "Div"):
        step = _scaling(node)
        if step is None or not is_private(step[0], graph.editor.graph.outputs):
            return None
        scalings.insert(0, node)
        factor *= step[1]
        before = producer(step[0])
        if before is None:
            return None
        node = before
    if node.op != "MatMul" or shape_of(node.outputs[0]) != site.real_shape or not np.isfinite(factor):
        return None
    return node, tuple(scalings), factor


def _scaling(node: gs.Node) -> tuple[gs.Tensor, float] | None:
    """The scaled tensor and the positive factor of a Mul or Div by a constant scalar."""
    positions = (1, 0) if node.op == "Mul" else (1,)
    for position in positions:
        values = constant(node.inputs[position])
        if values is None or values.size != 1:
            continue
        factor = float(np.asarray(values, np.float64).reshape(-1)[0])
        if factor > 0:
            return node.inputs[1 - position], factor if node.op == "Mul" else 1.0 / factor
    return None


def _zero_points(graph: IntegerGraph, name: str, a: Quant, b: Quant) -> list[gs.Tensor]:
    """Inputs 3 and 4 of MatMulInteger, without trailing zero points that are 0."""
    inputs: list[gs.Tensor] = [
        graph.editor.constant(f"{name}_zero_{side}", np.array(quant.zero, quant.dtype))
        for side, quant in (("a", a), ("b", b))
    ]
    count = 2 if b.zero else 1 if a.zero else 0
    return inputs[:count]


def _centred(values: Expectation, quant: Quant) -> tuple[float, float]:
    """Mean and standard deviation of the whole tensor, minus the zero point."""
    single = values.merged()
    return float(single.mean[0]) - quant.zero, float(single.sd[0])


def _whole(quant: Quant) -> Quant:
    """The same parameters with the whole range of the type."""
    limits = np.iinfo(quant.dtype)
    return Quant(quant.scale, quant.zero, quant.dtype, int(limits.min), int(limits.max))
