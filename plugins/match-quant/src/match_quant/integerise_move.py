"""Operators that only move 8-bit values, and those that join them with tensors or constants (Concat, Pad)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import Quant, Site, constant, optional_input, shape_of

from match_quant.expectation import joined
from match_quant.integer_graph import IntegerGraph
from match_quant.integer_moves import append_move, is_move
from match_quant.integerise_conv import linear_target
from match_quant.real_constant import real_constant
from match_quant.tables import apply_table, requant_table

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def move(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """DequantizeLinear -> [moves] -> [clamps] -> QuantizeLinear. If the result has other parameters, a table
    follows, or a Requant of 16 bits."""
    if not is_move(site.op) and site.op.op != "DequantizeLinear":
        return None
    source = graph.source((*site.clamps, site.quantize)[0].inputs[0])
    if source is None or source[1].dtype != graph.stored(site.quant).dtype:
        return None
    return _requantised(graph, source[0], source[1], site, site.op.name)


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
    x = _requantised(graph, source[0], source[1], site, f"{node.name}_in")
    filling = graph.editor.constant(f"{node.name}_value", stored.quantise_all(values.reshape(())))
    inputs = [x, node.inputs[1], filling, *([] if axes is None else [axes])]
    origin = graph.editor.origin(source[2], *site.nodes)
    attrs = dict(node.attrs)
    return graph.editor.node("Pad", inputs, stored.dtype, site.real_shape, name=node.name, origin=origin, attrs=attrs)


def concat(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Concat of quantised tensors: each input with other parameters than the result gets a table; constants are
    quantised here."""
    node = site.op
    if node.op != "Concat":
        return None
    stored = graph.stored(site.quant)
    inputs: list[gs.Tensor] = []
    makers: list[gs.Node] = []
    for index, tensor in enumerate(node.inputs):
        name = f"{node.name}_in{index}"
        source, values = graph.source(tensor), real_constant(tensor)
        if source is not None and source[1].dtype == stored.dtype:
            inputs.append(_requantised(graph, source[0], source[1], site, name))
            makers.append(source[2])
        elif values is not None and not np.isnan(values).any():
            inputs.append(graph.editor.constant(name, stored.quantise_all(values)))
        else:
            return None
    origin = graph.editor.origin(*makers, *site.nodes)
    axis = int(node.attrs["axis"]) % len(site.real_shape)
    return graph.editor.node(
        "Concat", inputs, stored.dtype, site.real_shape, name=node.name, origin=origin, attrs={"axis": axis}
    )


def _rescaled(graph: IntegerGraph, x: gs.Variable, quant: Quant, site: Site) -> gs.Variable:
    """A Requant of int16."""
    stored, one = graph.stored(site.quant), np.ones((1, 1), np.int64)
    known = replace(graph.expectation(x).merged(), axis=0)
    target = linear_target(known, one, np.ones(1), np.zeros(1), quant, stored)
    return graph.requantise(x, target, stored, 0, site, graph.editor.origin(*site.nodes))


def integer_move(graph: IntegerGraph, node: gs.Node) -> None:
    """A move or Concat that reads quantised tensors directly (QOperator models, batches, or tools that push
    DequantizeLinear down)."""
    if node.op == "Concat" and (node.domain or "") in ("", "ai.onnx"):
        _integer_concat(graph, node)
    if not is_move(node) or not is_eight_bit(node.inputs[0]) or constant(node.inputs[0]) is not None:
        return
    known = graph.lookup(node.inputs[0])
    if known is None:
        return
    moved = append_move(graph.editor, node, known, graph.expectation(known), graph.editor.origin(node))
    for output, (result, expectation) in zip(node.outputs, moved, strict=True):
        graph.expect(result, expectation)
        stored = Quant(1.0, 0, np.dtype(known.dtype), *expectation.bounds())
        graph.define(output, result, stored.shifted(np.dtype(output.dtype)))


def _integer_concat(graph: IntegerGraph, node: gs.Node) -> None:
    found = [graph.lookup(tensor) if is_eight_bit(tensor) else None for tensor in node.inputs]
    known = [part for part in found if part is not None]
    if len(known) < len(found):
        return
    shape, dtype = shape_of(node.outputs[0]), np.dtype(known[0].dtype)
    axis = int(node.attrs["axis"]) % len(shape)
    origin = graph.editor.origin(node)
    new = graph.editor.node("Concat", known, dtype, shape, name=node.name, origin=origin, attrs={"axis": axis})
    expectation = joined([(graph.expectation(part), shape_of(part)[axis]) for part in known], axis)
    graph.expect(new, expectation)
    stored = Quant(1.0, 0, dtype, *expectation.bounds())
    graph.define(node.outputs[0], new, stored.shifted(np.dtype(node.outputs[0].dtype)))


def is_eight_bit(tensor: gs.Tensor) -> bool:
    """Whether the tensor holds int8 or uint8."""
    return tensor.dtype is not None and np.dtype(tensor.dtype) in (np.dtype(np.int8), np.dtype(np.uint8))


def _requantised(graph: IntegerGraph, x: gs.Variable, quant: Quant, site: Site, name: str) -> gs.Variable:
    """``x`` with the parameters and bounds of the site's result."""
    stored = graph.stored(site.quant)
    if quant.same_values(stored) and stored.lo <= quant.lo and quant.hi <= stored.hi:
        return x
    if stored.dtype.itemsize > 1:
        return _rescaled(graph, x, quant, site)
    table = requant_table(quant, stored)
    return apply_table(graph, x, table, stored, f"{name}_table", graph.editor.origin(*site.nodes))
