"""Replaces requantisation written in elementary operators with Requant, bit for bit.

    ConvInteger or MatMulInteger -> [Add bias] -> Cast -> Mul M -> ... -> Div D -> ... -> Clip -> Cast to 8 bits

``fixed_point`` reads the operators in between as a function of the sums. If one requantisation of the units equals it
for every sum, it replaces them. Rounding that depends on the sign (halves away from zero, truncating divisions) needs
two: results up to zero and those above it, each with sums of its own, and an addition of the two. Units then compute
the sums twice, which costs far less than the host would take.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.ir.editor import Editor, sort_nodes
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import DType, Quant, constant, optional_input, shape_of
from numpy.typing import NDArray

from match_quant.exact_requant import Found, Steps, solve, steps_of
from match_quant.expectation import clipped, of_sum
from match_quant.factors import inner
from match_quant.fixed_point import Chain
from match_quant.integer_graph import IntegerGraph
from match_quant.integerise_conv import append_convolution, type_bounds, with_padding
from match_quant.integerise_move import integer_move
from match_quant.recognise_sums import replace_sum
from match_quant.requant_node import per_channel
from match_quant.sum_forms import Exact

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_EIGHT_BITS = (np.dtype(np.int8), np.dtype(np.uint8))


@dataclass(frozen=True, slots=True)
class _Product:
    """A convolution or matrix product with constant weights: ``taps`` [channels, ...], and the parameters with which
    the file and the integer graph store the input."""

    node: gs.Node
    taps: NDArray[np.int64]
    given: Quant
    stored: Quant


def run(model: Model, context: PassContext) -> Model:
    """Replace every occurrence whose numbers fit the arithmetic that all units share."""
    editor = Editor(model)
    sort_nodes(editor.graph)
    graph = IntegerGraph(editor, context)
    found = False
    for node in list(editor.graph.nodes):
        if node.op == "Cast" and np.dtype(node.outputs[0].dtype) in _EIGHT_BITS:
            found = _replace(graph, node) or replace_sum(graph, node) or found
        elif node.op != "Cast":
            integer_move(graph, node)
    if not found:
        return replace(model, notes=(*model.notes, *editor.notes)) if editor.notes else model
    graph.connect()
    return replace(editor.finish(), integer_source=True)


def _replace(graph: IntegerGraph, last: gs.Node) -> bool:
    chain = Chain(lambda node: _sums(graph, node))
    form = chain.form(last.inputs[0])
    if form is None or chain.base is None or not inner(graph.editor, (*chain.nodes, last), last):
        return False
    product, x = _product(graph, chain.base), graph.adopt(chain.base.inputs[0])
    lowest, highest = _limits(np.dtype(last.outputs[0].dtype))
    if product is None or x is None or form.lo is None or form.hi is None:
        return False
    if not lowest <= form.lo <= form.hi <= highest:
        return False
    steps = steps_of(form, chain.range, form.lo, form.hi)
    if steps is None:
        return False
    origin = graph.editor.origin(*chain.nodes, last)
    quant = Quant(1.0, 0, np.dtype(last.outputs[0].dtype), form.lo, form.hi)
    result = _single(graph, product, x, steps, quant, origin)
    if result is None and graph.shared:
        result = _by_sign(graph, product, x, steps, quant, origin)
    if result is None:
        name = "/".join(graph.editor.origin(chain.base))
        graph.editor.notes.append(
            f"{name}: the rounding after it equals no (x*M + B) >> S of the units for every sum, nor two of them"
        )
        return False
    graph.define(last.outputs[0], result, quant)
    return True


# ---- products --------------------------------------------------------------------------------------------------------


def _product(graph: IntegerGraph, node: gs.Node) -> _Product | None:
    """The node with its weights; None if it has weights or zero points that units do not have."""
    weight, zero = constant(node.inputs[1]), optional_input(node, 2)
    values = np.zeros(1) if zero is None else constant(zero)
    other = optional_input(node, 3)
    if weight is None or weight.dtype != np.int8 or values is None or values.size != 1:
        return None
    if other is not None and (constant(other) is None or np.any(constant(other))):
        return None
    if node.op == "MatMulInteger" and weight.ndim != 2:
        return None
    given = np.dtype(node.inputs[0].dtype)
    quant = Quant(1.0, int(values.reshape(-1)[0]), given, *_limits(given))
    taps = weight.astype(np.int64)
    return _Product(node, taps if node.op == "ConvInteger" else taps.T[:, :, None], quant, graph.stored(quant))


def _sums(graph: IntegerGraph, node: gs.Node) -> tuple[Exact, Exact] | None:
    """The smallest and largest sum per channel for any input of the type."""
    product = _product(graph, node) if np.dtype(node.inputs[0].dtype) in _EIGHT_BITS else None
    if product is None or (node.op == "ConvInteger" and len(shape_of(node.outputs[0])) != 4):
        return None
    centre = product.given.zero * product.taps.reshape(len(product.taps), -1).sum(axis=1)
    low, high = type_bounds(product.taps, product.given.dtype)
    return (low - centre).astype(object), (high - centre).astype(object)


# ---- replacement -----------------------------------------------------------------------------------------------------


def _solved(graph: IntegerGraph, product: _Product, steps: Steps) -> Found | None:
    """The numbers for sums of the stored input, in the first arithmetic that has them."""
    centre = product.stored.zero * product.taps.reshape(len(product.taps), -1).sum(axis=1)
    choices = graph.shared or graph.arithmetics
    return next(filter(None, (solve(steps, [int(v) for v in centre], limits) for limits in choices)), None)


def _single(
    graph: IntegerGraph, product: _Product, x: gs.Variable, steps: Steps, quant: Quant, origin: tuple[str, ...]
) -> gs.Variable | None:
    found = _solved(graph, product, steps)
    if found is None:
        return None
    result = graph.stored(quant)
    return _append(graph, product, x, found, result.lo - quant.lo, result, product.node.name, origin)


def _by_sign(
    graph: IntegerGraph, product: _Product, x: gs.Variable, steps: Steps, quant: Quant, origin: tuple[str, ...]
) -> gs.Variable | None:
    """Results up to a level, and those above it, as two requantisations with the bounds of their type. Each saturates
    where the other one begins, so their sum is the result. Levels around the turn are tried."""
    for level in (steps.turn, steps.turn - 1, steps.turn + 1):
        if not steps.lo <= level <= steps.hi:
            continue
        above = _solved(graph, product, steps.part(level, steps.hi))
        below = _solved(graph, product, steps.part(steps.lo, level)) if above is not None else None
        if above is None or below is None:
            continue
        result = graph.stored(quant)
        least, most = _limits(result.dtype)
        whole = Quant(1.0, 0, result.dtype, least, most)
        name = product.node.name
        first = _append(graph, product, x, above, least - level, whole, f"{name}_above", origin)
        second = _append(graph, product, x, below, most - level, whole, f"{name}_below", origin)
        # first + second - (least + most) is the distance from the level.
        addend = level + result.lo - quant.lo - least - most
        values = (1, 1, addend, 1, result.lo, result.hi)
        hints = ("multiplier_a", "multiplier_b", "addend", "divisor", "lo", "hi")
        constants = [graph.scalar(f"{name}_{hint}", value) for hint, value in zip(hints, values, strict=True)]
        op = "match.arith::AddRequantU8" if result.dtype == np.uint8 else "match.arith::AddRequantI8"
        total = graph.editor.node(
            op, [first, second, *constants], result.dtype, shape_of(first), name=f"{name}_sum", origin=origin
        )
        return total
    return None


def _append(
    graph: IntegerGraph,
    product: _Product,
    x: gs.Variable,
    found: Found,
    offset: int,
    result: Quant,
    name: str,
    origin: tuple[str, ...],
) -> gs.Variable:
    """The product and its requantisation plus ``offset``."""
    node, editor = product.node, graph.editor
    multiplier = np.array(found.multiplier, np.int64)
    addend = np.array([b + (offset << found.shift) for b in found.addend], np.int64)
    shape = shape_of(node.outputs[0])
    spatial = node.op == "ConvInteger"
    inputs = graph.expectation(x).per_channel(shape_of(x)[1 if spatial else -1], axis=1 if spatial else len(shape) - 1)
    groups = 1
    if spatial:
        geometry = conv_geometry(node)
        groups = geometry.group
        inputs = with_padding(inputs, product.stored.zero) if any(geometry.pads) else inputs
        acc = append_convolution(graph, x, product.taps, geometry, product.stored, shape, name, editor.origin(node))
    else:
        weight = editor.constant(f"{name}_weight", product.taps[:, :, 0].T.astype(np.int8))
        acc = editor.node("MatMulInteger", [x, weight], np.int32, shape, name=name, origin=editor.origin(node))
    channel = (1, -1, 1, 1) if spatial else (1,) * (len(shape) - 1) + (-1,)
    integers = (
        per_channel(multiplier, channel),
        per_channel(addend, channel),
        np.array(1 << found.shift, np.int64),
        np.array(result.lo, np.int64),
        np.array(result.hi, np.int64),
    )
    names = ("multiplier", "addend", "divisor", "lo", "hi")
    constants = [editor.constant(f"{name}_requant_{n}", v) for n, v in zip(names, integers, strict=True)]
    op = "match.arith::RequantU8" if result.dtype == np.uint8 else "match.arith::RequantI8"
    new = editor.node(op, [acc, *constants], result.dtype, shape, name=f"{name}_requant", origin=origin)
    sums = of_sum(inputs, product.taps.reshape(len(product.taps), product.taps.shape[1], -1), groups)
    low, high = (np.clip((a * multiplier + addend) >> found.shift, result.lo, result.hi) for a in (sums.lo, sums.hi))
    slope, step = multiplier / float(1 << found.shift), float(1 << found.shift)
    axis = 1 if spatial else len(shape) - 1
    graph.expect(new, clipped(slope * sums.mean + addend / step, slope * sums.sd + 0.5, low, high, axis))
    return new


def _limits(dtype: DType) -> tuple[int, int]:
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


RECOGNISE_REQUANT = Pass(
    "recognise_requant",
    Phase.INTEGER,
    run,
    "requantisation written in elementary operators becomes one operator, bit for bit",
    before=("integerise",),
)
