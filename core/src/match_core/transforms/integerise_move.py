"""Operators that only move 8-bit values (Reshape, Transpose, MaxPool, Concat, ...) work on the stored integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from match_core.transforms.geometry import conv_geometry
from match_core.transforms.integer_graph import IntegerGraph
from match_core.transforms.integerise_unary import apply_table, requant_table
from match_core.transforms.quant import Quant, Site, constant, optional_input, real_constant, shape_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: One data input in front, one output, values unchanged; the maximum commutes with quantisation.
MOVES = frozenset(
    (
        "Reshape",
        "Flatten",
        "Squeeze",
        "Unsqueeze",
        "Transpose",
        "MaxPool",
        "Identity",
        "Slice",
        "Expand",
        "Tile",
        "Gather",
    )
)


def move(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """DequantizeLinear -> move -> [clamps] -> QuantizeLinear. Other parameters on the result need a table."""
    node = site.op
    if node.op not in MOVES or len(node.outputs) != 1:
        return None
    source = graph.source(node.inputs[0])
    if source is None:
        return None
    x, quant, dequantize = source
    if quant.dtype != graph.stored(site.quant).dtype:
        return None
    moved = _moved(graph, node, x, graph.editor.origin(dequantize, *site.nodes))
    return with_parameters(graph, moved, quant, site, node.name)


def concat(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Concat of quantised tensors: inputs with other parameters than the result get a table each, constants are
    quantised here."""
    node = site.op
    if node.op != "Concat":
        return None
    stored = graph.stored(site.quant)
    sources = [graph.source(tensor) for tensor in node.inputs]
    constants = [real_constant(tensor) for tensor in node.inputs]
    for source, values in zip(sources, constants, strict=True):
        usable = values is not None and not np.any(np.isnan(values))
        if not usable and (source is None or source[1].dtype != stored.dtype):
            return None
    inputs: list[gs.Tensor] = []
    for index, (source, values) in enumerate(zip(sources, constants, strict=True)):
        name = f"{node.name}_in{index}"
        if source is not None:
            inputs.append(with_parameters(graph, source[0], source[1], site, name))
        elif values is not None:
            inputs.append(graph.editor.constant(name, stored.quantise_all(values)))
    makers = [source[2] for source in sources if source is not None]
    origin = graph.editor.origin(*makers, *site.nodes)
    axis = int(node.attrs["axis"]) % len(site.real_shape)
    return graph.editor.node(
        "Concat", inputs, stored.dtype, site.real_shape, name=node.name, origin=origin, attrs={"axis": axis}
    )


def pad(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """DequantizeLinear -> Pad -> [clamps] -> QuantizeLinear. A constant value is quantised here."""
    node = site.op
    source = graph.source(node.inputs[0]) if node.op == "Pad" else None
    stored = graph.stored(site.quant)
    if source is None or source[1].dtype != stored.dtype:
        return None
    value, axes = optional_input(node, 2), optional_input(node, 3)
    values = np.zeros(1) if value is None else real_constant(value)
    if values is None or values.size != 1 or np.isnan(values).any():
        return None
    x = with_parameters(graph, source[0], source[1], site, f"{node.name}_in")
    filling = graph.editor.constant(f"{node.name}_value", stored.quantise_all(values.reshape(())))
    inputs = [x, node.inputs[1], filling, *([] if axes is None else [axes])]
    origin = graph.editor.origin(source[2], *site.nodes)
    attrs = dict(node.attrs)
    return graph.editor.node("Pad", inputs, stored.dtype, site.real_shape, name=node.name, origin=origin, attrs=attrs)


def integer_move(graph: IntegerGraph, node: gs.Node) -> None:
    """A move that reads a quantised tensor directly (QOperator models, or tools that push DequantizeLinear down)."""
    if node.op not in MOVES or len(node.outputs) != 1 or node.outputs[0].dtype != node.inputs[0].dtype:
        return
    if constant(node.inputs[0]) is not None:
        return
    known = graph.lookup(node.inputs[0]) if is_eight_bit(node.inputs[0]) else None
    if known is None:
        return
    moved = _moved(graph, node, known, graph.editor.origin(node))
    lo, hi = graph.expectation(moved).bounds()
    stored = Quant(1.0, 0, np.dtype(known.dtype), lo, hi)
    graph.define(node.outputs[0], moved, stored.shifted(np.dtype(node.outputs[0].dtype)))


def is_eight_bit(tensor: gs.Tensor) -> bool:
    """Whether the tensor holds int8 or uint8."""
    return tensor.dtype is not None and np.dtype(tensor.dtype) in (np.dtype(np.int8), np.dtype(np.uint8))


def _moved(graph: IntegerGraph, node: gs.Node, x: gs.Variable, origin: tuple[str, ...]) -> gs.Variable:
    attrs = dict(node.attrs)
    if node.op == "MaxPool":
        geometry = conv_geometry(node)
        attrs = geometry.attributes()
        del attrs["group"]
        attrs["ceil_mode"] = int(node.attrs.get("ceil_mode", 0))
    moved = graph.editor.node(
        node.op,
        [x, *node.inputs[1:]],
        x.dtype,
        shape_of(node.outputs[0]),
        name=node.name,
        origin=origin,
        attrs=attrs,
    )
    before, known = shape_of(x), graph.expectation(x)
    if node.op in ("MaxPool", "Identity") or (node.op == "Slice" and before[1:2] == shape_of(moved)[1:2]):
        graph.expect(moved, known)
    elif node.op in ("Reshape", "Flatten", "Squeeze", "Unsqueeze"):
        graph.expect(moved, known.reshaped(before, shape_of(moved)))
    else:
        graph.expect(moved, known.merged())
    return moved


def with_parameters(graph: IntegerGraph, x: gs.Variable, quant: Quant, site: Site, name: str) -> gs.Variable:
    """``x`` with the parameters and bounds of the site's result."""
    stored = graph.stored(site.quant)
    if quant.same_values(stored) and stored.lo <= quant.lo and quant.hi <= stored.hi:
        return x
    table = requant_table(quant, stored)
    return apply_table(graph, x, table, stored, f"{name}_table", graph.editor.origin(*site.nodes))
