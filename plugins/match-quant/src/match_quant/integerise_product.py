"""Quantised product of two tensors, element by element -> (a - Za) * (b - Zb) in int32 -> Requant.

Gates of squeeze and excite have one value for each channel and are broadcast. Functions of one tensor, such as
x * sigmoid(x), are tables (``integerise_table``), and products with constants one Requant (``integerise_affine``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import Quant, Site, shape_of

from match_quant.integer_graph import IntegerGraph
from match_quant.integerise_matmul import product_target
from match_quant.requant import Requant
from match_quant.requant_node import append_requant, requantised

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_INT32 = 6  # TensorProto.INT32
#: A product has 17 bits. Where the sum is shifted by at least twice as much, the last 17 bits of the addend shift no
#: boundary by more than 2^-17 of a result; without them, the upper word of 2^15 * p * M is all that 32-bit cores need.
_PRODUCT_BITS = 17


def product(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Mul of two quantised tensors; the one of the result's shape, if there is one, comes first."""
    node = site.op
    if node.op != "Mul":
        return None
    sources = [graph.source(tensor) for tensor in node.inputs]
    sources.sort(key=lambda source: source is not None and shape_of(source[0]) != site.real_shape)
    first, second = sources
    if first is None or second is None:
        return None
    stored = graph.stored(site.quant)
    target = product_target(graph, first[:2], second[:2], stored)
    if target is None:
        return None
    requant = _whole_words(graph.choose(target))
    graph.note(site, requant.arithmetic)
    origin = graph.editor.origin(first[2], second[2], *site.nodes)
    factors = [
        _centred(graph, f"{node.name}_{side}", *source[:2], origin)
        for side, source in zip("ab", (first, second), strict=True)
    ]
    acc = graph.editor.node("Mul", factors, np.int32, site.real_shape, name=node.name, origin=origin)
    multiplier, addend = (np.array(values[0], np.int64) for values in (requant.multiplier, requant.addend))
    name = f"{node.name}_requant"
    result = append_requant(graph.editor, acc, multiplier, addend, requant.shift, stored, name=name, origin=origin)
    graph.expect(result, requantised(target, requant, 0))
    return result


def _whole_words(requant: Requant) -> Requant:
    if requant.shift < 2 * _PRODUCT_BITS:
        return requant
    step = 1 << _PRODUCT_BITS
    return replace(requant, addend=(requant.addend + step // 2) // step * step)


def _centred(graph: IntegerGraph, name: str, x: gs.Variable, quant: Quant, origin: tuple[str, ...]) -> gs.Variable:
    """The tensor as int32 less its zero point."""
    editor, shape = graph.editor, shape_of(x)
    wide = editor.node("Cast", [x], np.int32, shape, name=f"{name}_wide", origin=origin, attrs={"to": _INT32})
    if quant.zero == 0:
        return wide
    zero = editor.constant(f"{name}_zero", np.array(quant.zero, np.int32))
    return editor.node("Sub", [wide, zero], np.int32, shape, name=f"{name}_centred", origin=origin)
