"""Concat, Pad, Relu and Clip of dequantised tensors, applied to stored integers where every result is one of them.

Parts of a Concat must have one scale: sums over integers with different scales have no exact integer form.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from match_core.ir.reader import Quant, clamp_bounds, optional_input, producer, shape_of

from match_quant.expectation import Expectation, joined, of_values
from match_quant.integer_moves import is_move
from match_quant.real_constant import real_constant

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core.ir.editor import Editor
    from numpy.typing import NDArray

#: An integer tensor, its parameters, and the (first) DequantizeLinear before it.
Joined = tuple["gs.Variable", Quant, "gs.Node"]


class Graph(Protocol):
    """What is read of the integer graph (``match_quant.integer_graph``)."""

    editor: Editor

    def source(self, tensor: gs.Tensor) -> Joined | None:
        """The integers of a dequantised tensor."""
        ...

    def expectation(self, new: gs.Tensor) -> Expectation:
        """The expectation of an integer tensor."""
        ...

    def expect(self, new: gs.Tensor, expectation: Expectation) -> None:
        """Record it."""
        ...


def append_join(graph: Graph, node: gs.Node) -> Joined | None:
    """The node on stored integers, with its expectation; None if a result would not be a stored integer."""
    if (node.domain or "") not in ("", "ai.onnx"):
        return None
    if node.op == "Concat":
        return _concat(graph, node)
    if node.op == "Pad":
        return _pad(graph, node)
    return _clamp(graph, node) if clamp_bounds(node) is not None else None


def exact_integers(quant: Quant, values: NDArray[np.float64]) -> NDArray[np.generic] | None:
    """The stored integers whose dequantised values are these, up to one rounding to float32; None if there are
    none."""
    if not np.all(np.isfinite(values)):
        return None
    stored = quant.quantise_all(values)
    real = (stored.astype(np.int64) - quant.zero).astype(np.float32) * np.float32(quant.scale)
    return stored if np.allclose(real, values, rtol=2.0**-23, atol=0.0) else None


def whole(quant: Quant) -> Quant:
    """The same parameters with the whole range of the type."""
    limits = np.iinfo(quant.dtype)
    return replace(quant, lo=int(limits.min), hi=int(limits.max))


def why_float(graph: Graph, node: gs.Node) -> str | None:
    """Why a layer behind a Concat stays in float, in words; None if its input has integers, or is no such Concat."""
    before = producer(node.inputs[0])
    while before is not None and is_move(before):
        before = producer(before.inputs[0])
    if before is None or before.op != "Concat":
        return None
    sources = [source[1] for tensor in before.inputs if (source := graph.source(tensor)) is not None]
    scales, zeros = sorted({quant.scale for quant in sources}), sorted({quant.zero for quant in sources})
    if len(scales) > 1:
        return (
            f"its input joins tensors with scales {scales[0]:.6g} and {scales[-1]:.6g}, and sums over their integers "
            "would need a rounding that the file does not state; quantise the parts with one scale"
        )
    if len(zeros) > 1:
        return (
            f"its input joins tensors with zero points {zeros[0]} and {zeros[-1]}, whose values do not fit 8 bits "
            "together; quantise the parts with one zero point"
        )
    return None


def _concat(graph: Graph, node: gs.Node) -> Joined | None:
    sources = [graph.source(tensor) for tensor in node.inputs]
    found = [source for source in sources if source is not None]
    quant = next((quant for quant in _bases([q for _, q, _ in found])), None)
    if quant is None:
        return None
    parts: list[gs.Tensor] = []
    known: list[Expectation] = []
    for tensor, source in zip(node.inputs, sources, strict=True):
        if source is None:
            values = real_constant(tensor)
            stored = exact_integers(quant, values) if values is not None and values.size else None
            if stored is None:
                return None
            parts.append(graph.editor.constant(f"{node.name}_part", stored))
            known.append(of_values(stored.astype(np.int64)))
        else:
            part = _moved(graph, source[0], source[1], quant, node)
            parts.append(part)
            known.append(graph.expectation(part))
    shape = shape_of(node.outputs[0])
    axis = int(node.attrs["axis"]) % len(shape)
    origin = graph.editor.origin(*(maker for _, _, maker in found), node)
    result = graph.editor.node("Concat", parts, quant.dtype, shape, name=node.name, origin=origin, attrs={"axis": axis})
    sizes = [shape_of(part)[axis] for part in parts]
    graph.expect(result, joined(list(zip(known, sizes, strict=True)), axis))
    return _bounded(graph, result, quant, found[0][2])


def _bases(quants: list[Quant]) -> list[Quant]:
    """Parameters that can represent the values of all parts."""
    if len({(quant.scale, quant.dtype) for quant in quants}) != 1:
        return []
    limits = np.iinfo(quants[0].dtype)
    return [
        base
        for base in quants
        if all(limits.min <= q.lo + base.zero - q.zero and q.hi + base.zero - q.zero <= limits.max for q in quants)
    ]


def _moved(graph: Graph, x: gs.Variable, quant: Quant, base: Quant, node: gs.Node) -> gs.Variable:
    """The tensor with the zero point of ``base``."""
    step = base.zero - quant.zero
    if step == 0:
        return x
    known = graph.expectation(x)
    limits = np.iinfo(quant.dtype)
    table = np.clip(np.arange(limits.min, limits.max + 1) + step, limits.min, limits.max)
    moved = replace(known, lo=known.lo + step, hi=known.hi + step, mean=known.mean + step)
    return _looked_up(graph, x, table, moved, f"{node.name}_moved", node)


def _pad(graph: Graph, node: gs.Node) -> Joined | None:
    source = graph.source(node.inputs[0])
    value, axes = optional_input(node, 2), optional_input(node, 3)
    filling = np.zeros(1) if value is None else real_constant(value)
    if source is None or filling is None or filling.size != 1:
        return None
    x, quant, dequantize = source
    known = graph.expectation(x)
    written = exact_integers(whole(quant), filling.reshape(()))
    if node.attrs.get("mode", "constant") != "constant":
        written = np.array(quant.zero, quant.dtype)  # is not read
    elif written is not None:
        known = replace(known, lo=np.minimum(known.lo, int(written)), hi=np.maximum(known.hi, int(written)))
    if written is None:
        return None
    inputs = [
        x,
        node.inputs[1],
        graph.editor.constant(f"{node.name}_value", written),
        *([] if axes is None else [axes]),
    ]
    origin, attrs = graph.editor.origin(dequantize, node), dict(node.attrs)
    shape = shape_of(node.outputs[0])
    result = graph.editor.node("Pad", inputs, x.dtype, shape, name=node.name, origin=origin, attrs=attrs)
    kept = shape_of(x)[known.axis : known.axis + 1] == shape[known.axis : known.axis + 1]
    graph.expect(result, known if kept else known.merged())
    return _bounded(graph, result, quant, dequantize)


def _clamp(graph: Graph, node: gs.Node) -> Joined | None:
    source, bounds = graph.source(node.inputs[0]), clamp_bounds(node)
    if source is None or bounds is None:
        return None
    x, quant, dequantize = source
    limits, complete = np.iinfo(quant.dtype), whole(quant)
    ends = [complete.quantise(bound) for bound in bounds]
    outside = (
        bounds[0] <= (complete.lo - quant.zero) * quant.scale,
        bounds[1] >= (complete.hi - quant.zero) * quant.scale,
    )
    for bound, beyond in zip(bounds, outside, strict=True):
        if not beyond and exact_integers(complete, np.array(bound)) is None:
            return None
    known = graph.expectation(x)
    lo, hi = (np.clip(end, ends[0], ends[1]) for end in (known.lo, known.hi))
    clamped = replace(known, lo=lo, hi=hi, mean=np.clip(known.mean, ends[0], ends[1]))
    table = np.clip(np.arange(limits.min, limits.max + 1), ends[0], ends[1])
    if quant.dtype.itemsize > 1:
        return None
    result = _looked_up(graph, x, table, clamped, node.name, node)
    return _bounded(graph, result, quant, dequantize)


def _looked_up(
    graph: Graph, x: gs.Variable, table: NDArray[np.int64], known: Expectation, name: str, node: gs.Node
) -> gs.Variable:
    op = "match.arith::LutU8" if x.dtype == np.uint8 else "match.arith::LutI8"
    values = graph.editor.constant(f"{name}_values", table.astype(x.dtype))
    origin = graph.editor.origin(node)
    result = graph.editor.node(op, [x, values], x.dtype, shape_of(x), name=name, origin=origin)
    graph.expect(result, known)
    return result


def _bounded(graph: Graph, x: gs.Variable, quant: Quant, dequantize: gs.Node) -> Joined:
    lo, hi = graph.expectation(x).bounds()
    return x, replace(quant, lo=lo, hi=hi), dequantize
