"""Replaces requantisation written in elementary operators with Requant, bit for bit.

    ConvInteger -> [Add bias] -> Cast -> Mul M -> [Add B] -> Div D -> Floor -> Clip -> Cast

in float64 (exact below 2^53) with integer constants and D a power of two. Zero points and the bias go into B.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import DType, Quant, constant, optional_input, producer, shape_of
from numpy.typing import NDArray

from match_quant.expectation import clipped, of_sum
from match_quant.integer_graph import IntegerGraph
from match_quant.integerise_conv import append_convolution, type_bounds, with_padding
from match_quant.integerise_move import integer_move
from match_quant.requant_check import overflows
from match_quant.requant_node import per_channel

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_EXACT = float(1 << 53)


@dataclass(frozen=True, slots=True)
class Idiom:
    """The nodes in order and the integers per output channel: y = clip(floor((acc * M + B) / 2^S), lo, hi)."""

    conv: gs.Node
    nodes: tuple[gs.Node, ...]
    multiplier: NDArray[np.int64]
    addend: NDArray[np.int64]
    shift: int
    lo: int
    hi: int


def run(model: Model, context: PassContext) -> Model:
    """Replace every occurrence whose numbers fit the arithmetic that all units share."""
    editor = Editor(model)
    sort_nodes(editor.graph)
    graph = IntegerGraph(editor, context)
    found = False
    for node in list(editor.graph.nodes):
        idiom = _match(node, editor.graph) if node.op == "Cast" else None
        if idiom is not None and _replace(graph, idiom, node):
            found = True
        elif node.op != "Cast":
            integer_move(graph, node)
    if not found:
        return model
    graph.connect()
    return replace(editor.finish(), integer_source=True)


def _replace(graph: IntegerGraph, idiom: Idiom, last: gs.Node) -> bool:
    conv = idiom.conv
    zero = optional_input(conv, 2)
    zero_values = constant(zero) if zero is not None else np.zeros(1)
    weight = constant(conv.inputs[1])
    x = graph.lookup(conv.inputs[0])
    if x is None or weight is None or zero_values is None or zero_values.size != 1 or weight.dtype != np.int8:
        return False
    given = np.dtype(conv.inputs[0].dtype)
    # Only the zero point and the types matter here, not the real values.
    stored = graph.stored(Quant(1.0, int(zero_values.reshape(-1)[0]), given, *_limits(given)))
    values = weight.astype(np.int64)
    channels = values.shape[0]
    geometry = conv_geometry(conv)
    inputs = graph.expectation(x).per_channel(shape_of(x)[1], axis=1)
    if any(geometry.pads):
        inputs = with_padding(inputs, stored.zero)
    taps = values.reshape(channels, values.shape[1], -1)
    sums = of_sum(inputs, taps, geometry.group)
    out = np.dtype(last.outputs[0].dtype)
    result = graph.stored(Quant(1.0, 0, out, idiom.lo, idiom.hi))
    moved = idiom.addend - idiom.multiplier * stored.zero * values.reshape(channels, -1).sum(axis=1)
    addend = moved + ((result.lo - idiom.lo) << idiom.shift)
    bounds = type_bounds(values, stored.dtype)
    if not any(
        limits.shift_min <= idiom.shift <= limits.shift_max
        and int(idiom.multiplier.min()) >= 0
        and int(idiom.multiplier.max()) <= limits.multiplier_max
        and not overflows(idiom.multiplier, addend, *bounds, limits.limit)
        for limits in graph.shared or graph.arithmetics
    ):
        return False
    origin = graph.editor.origin(*idiom.nodes)
    shape = shape_of(last.outputs[0])
    acc = append_convolution(graph, x, values, geometry, stored, shape, conv.name, graph.editor.origin(conv))
    integers = (
        per_channel(idiom.multiplier, (1, -1, 1, 1)),
        per_channel(addend, (1, -1, 1, 1)),
        np.array(1 << idiom.shift, np.int64),
        np.array(result.lo, np.int64),
        np.array(result.hi, np.int64),
    )
    names = ("multiplier", "addend", "divisor", "lo", "hi")
    constants = [graph.editor.constant(f"{conv.name}_requant_{n}", v) for n, v in zip(names, integers, strict=True)]
    op = "match.arith::RequantU8" if result.dtype == np.uint8 else "match.arith::RequantI8"
    new = graph.editor.node(op, [acc, *constants], result.dtype, shape, name=f"{conv.name}_requant", origin=origin)
    low, high = (
        np.clip((a * idiom.multiplier + addend) >> idiom.shift, result.lo, result.hi) for a in (sums.lo, sums.hi)
    )
    slope = idiom.multiplier / float(1 << idiom.shift)
    graph.expect(new, clipped(slope * sums.mean + addend / float(1 << idiom.shift), slope * sums.sd + 0.5, low, high))
    graph.define(last.outputs[0], new, Quant(1.0, 0, out, idiom.lo, idiom.hi))
    return True


def _limits(dtype: DType) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _match(last: gs.Node, graph: gs.Graph) -> Idiom | None:
    """Walk upwards from the final Cast to 8 bits."""
    if np.dtype(last.outputs[0].dtype) not in (np.dtype(np.int8), np.dtype(np.uint8)):
        return None
    walk = _Walk(last, graph)
    clip = walk.up("Clip")
    floor, divide = walk.up("Floor"), walk.up("Div")
    if clip is None or floor is None or divide is None or np.dtype(divide.outputs[0].dtype) != np.float64:
        return None
    add = walk.up("Add", optional=True)
    multiply = walk.up("Mul")
    cast = walk.up("Cast")
    bias = walk.up("Add", optional=True)
    conv = walk.up("ConvInteger")
    if multiply is None or cast is None or conv is None or len(conv.outputs[0].shape) != 4:
        return None
    channels = shape_of(conv.outputs[0])[1]
    m, d = walk.integers(multiply, channels), walk.integers(divide, channels, second=True)
    b = walk.integers(add, channels) if add is not None else np.zeros(channels, np.int64)
    c = walk.integers(bias, channels) if bias is not None else np.zeros(channels, np.int64)
    bounds = [constant(tensor) for tensor in clip.inputs[1:3]]
    if m is None or d is None or b is None or c is None or len(bounds) != 2 or any(v is None for v in bounds):
        return None
    lo, hi = (float(np.asarray(v, np.float64).reshape(-1)[0]) for v in bounds)
    lowest, highest = _limits(np.dtype(last.outputs[0].dtype))
    divisor = int(d[0])
    power = divisor > 0 and divisor & (divisor - 1) == 0 and bool(np.all(d == divisor))
    if not power or lo != int(lo) or hi != int(hi) or not lowest <= lo <= hi <= highest:
        return None
    # float64 is exact as long as every product and sum stays below 2^53.
    if float(np.abs(m).max()) * 2.0**31 + float(np.abs(b).max()) >= _EXACT:
        return None
    return Idiom(conv, tuple(walk.nodes), m, b + m * c, divisor.bit_length() - 1, int(lo), int(hi))


class _Walk:
    """One step at a time from a node to the maker of its only non-constant input."""

    def __init__(self, start: gs.Node, graph: gs.Graph) -> None:
        self.nodes: list[gs.Node] = [start]
        self._graph = graph
        self._broken = False

    def up(self, op: str, optional: bool = False) -> gs.Node | None:
        """The next node upwards if it is ``op`` and has one reader. A missing node that is not optional ends the
        walk."""
        given = [tensor for tensor in self.nodes[0].inputs if constant(tensor) is None and not tensor.is_empty()]
        node = producer(given[0]) if len(given) == 1 and not self._broken else None
        shared = node is not None and (
            len(given[0].outputs) != 1 or any(given[0] is output for output in self._graph.outputs)
        )
        if node is None or shared or node.op != op or (node.domain or "") not in ("", "ai.onnx"):
            self._broken = self._broken or not optional
            return None
        self.nodes.insert(0, node)
        return node

    def integers(self, node: gs.Node, channels: int, second: bool = False) -> NDArray[np.int64] | None:
        """The constant operand as one integer per channel; ``second``: it must be the second operand."""
        operands = [constant(tensor) for tensor in node.inputs]
        values = operands[1] if second or operands[1] is not None else operands[0]
        if values is None or values.size not in (1, channels):
            return None
        if values.size > 1 and values.shape[-3:] != (channels, 1, 1):
            return None
        flat = np.broadcast_to(np.asarray(values, np.float64).reshape(-1), (channels,))
        if not np.all(np.isfinite(flat)) or np.any(flat != np.rint(flat)) or np.any(np.abs(flat) >= _EXACT):
            return None
        return flat.astype(np.int64)


RECOGNISE_REQUANT = Pass(
    "recognise_requant",
    Phase.INTEGER,
    run,
    "requantisation written in elementary operators becomes one operator, bit for bit",
    before=("integerise",),
)
