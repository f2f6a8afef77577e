"""Split works on the stored integers: merged projections of attention are cut apart without leaving them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_core.transforms.integer_graph import IntegerGraph
from match_core.transforms.integerise_move import is_eight_bit, with_parameters
from match_core.transforms.quant import Quant, Site, constant, shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def split(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """One result of DequantizeLinear -> Split -> [clamps] -> QuantizeLinear. All results share one integer Split."""
    node = site.op
    source = graph.source(node.inputs[0]) if node.op == "Split" else None
    if source is None or source[1].dtype != graph.stored(site.quant).dtype:
        return None
    x, quant, dequantize = source
    parts = graph.results_of(node, lambda: _split(graph, node, x, graph.editor.origin(dequantize, node)))
    read = (*site.clamps, site.quantize)[0].inputs[0]
    index = next(index for index, output in enumerate(node.outputs) if output is read)
    return with_parameters(graph, parts[index], quant, site, f"{node.name}_{index}")


def integer_split(graph: IntegerGraph, node: gs.Node) -> None:
    """A Split that reads a quantised tensor directly."""
    if node.op != "Split" or not is_eight_bit(node.inputs[0]) or constant(node.inputs[0]) is not None:
        return
    known = graph.lookup(node.inputs[0])
    if known is None:
        return
    for output, part in zip(node.outputs, _split(graph, node, known, graph.editor.origin(node)), strict=True):
        lo, hi = graph.expectation(part).bounds()
        graph.define(output, part, Quant(1.0, 0, np.dtype(known.dtype), lo, hi).shifted(np.dtype(output.dtype)))


def _split(graph: IntegerGraph, node: gs.Node, x: gs.Variable, origin: tuple[str, ...]) -> tuple[gs.Variable, ...]:
    """The node on the stored integers ``x``."""
    first = graph.editor.node(
        "Split",
        [x, *node.inputs[1:]],
        x.dtype,
        shape_of(node.outputs[0]),
        name=node.name,
        origin=origin,
        attrs=dict(node.attrs),
    )
    others = [graph.editor.variable(first.name, x.dtype, shape_of(output)) for output in node.outputs[1:]]
    for other in others:
        first.inputs[0].outputs.append(other)
    known = graph.expectation(x)
    apart = known.axis == int(node.attrs.get("axis", 0)) % len(shape_of(x))
    for part in (first, *others):
        graph.expect(part, known.merged() if apart else known)
    return first, *others
