"""Quantised sum or difference of two tensors -> AddRequant: clip((a*Ma + b*Mb + B) >> S, lo, hi)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import Quant, Site, shape_of
from numpy.typing import NDArray

from match_quant.expectation import Expectation, clipped
from match_quant.integer_graph import IntegerGraph
from match_quant.requant import Arithmetic
from match_quant.requant_node import typed

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


#: Pairs of inputs that are evaluated: those of 8 bits.
_MOST_PAIRS = 1 << 16


@dataclass(frozen=True, slots=True)
class AddConstants:
    """The integers of one addition."""

    multiplier_a: int
    multiplier_b: int
    addend: int
    shift: int
    arithmetic: Arithmetic


def add(graph: IntegerGraph, site: Site) -> gs.Variable | None:
    """Add or Sub of two quantised tensors of the result's shape; a difference is a sum with a negative scale."""
    node = site.op
    if node.op not in ("Add", "Sub"):
        return None
    first, second = graph.source(node.inputs[0]), graph.source(node.inputs[1])
    if first is None or second is None:
        return None
    (a, quant_a, dequantize_a), (b, quant_b, dequantize_b) = first, second
    if shape_of(a) != site.real_shape or shape_of(b) != site.real_shape:
        return None
    quant_b = replace(quant_b, scale=-quant_b.scale) if node.op == "Sub" else quant_b
    stored = graph.stored(site.quant)
    chosen = choose_add(quant_a, quant_b, stored, graph.arithmetics)
    origin = graph.editor.origin(dequantize_a, dequantize_b, *site.nodes)
    graph.note(site, chosen.arithmetic)
    names = ("multiplier_a", "multiplier_b", "addend", "divisor", "lo", "hi")
    values = (
        chosen.multiplier_a,
        chosen.multiplier_b,
        chosen.addend,
        1 << chosen.shift,
        stored.lo,
        stored.hi,
    )
    constants = [graph.scalar(f"{node.name}_{name}", value) for name, value in zip(names, values, strict=True)]
    op = typed("AddRequant", stored.dtype)
    result = graph.editor.node(op, [a, b, *constants], stored.dtype, site.real_shape, name=node.name, origin=origin)
    graph.expect(result, _sum(graph, a, b, quant_a, quant_b, stored, chosen))
    return result


def _sum(
    graph: IntegerGraph,
    a: gs.Variable,
    b: gs.Variable,
    quant_a: Quant,
    quant_b: Quant,
    result: Quant,
    chosen: AddConstants,
) -> Expectation:
    """The expectation of the sum, per channel if both inputs have it per channel."""
    first, second = graph.expectation(a), graph.expectation(b)
    axis = first.axis if first.lo.size > 1 else second.axis
    count = shape_of(a)[axis]
    first, second = first.per_channel(count, axis), second.per_channel(count, axis)
    bounds = []
    ends = (second.lo, second.hi) if chosen.multiplier_b >= 0 else (second.hi, second.lo)
    for value_a, value_b in zip((first.lo, first.hi), ends, strict=True):
        integer = (value_a * chosen.multiplier_a + value_b * chosen.multiplier_b + chosen.addend) >> chosen.shift
        real = np.floor(_real(value_a, value_b, quant_a, quant_b, result) + 0.5).astype(np.int64)
        bounds.append((np.clip(integer, result.lo, result.hi), np.clip(real, result.lo, result.hi)))
    mean = _real(first.mean, second.mean, quant_a, quant_b, result)
    sd = np.hypot(first.sd * quant_a.scale, second.sd * quant_b.scale) / result.scale
    return clipped(mean, sd, np.minimum(*bounds[0]), np.maximum(*bounds[1]), axis)


def _real(
    a: NDArray[np.number], b: NDArray[np.number], quant_a: Quant, quant_b: Quant, result: Quant
) -> NDArray[np.float64]:
    """The real-valued sum of stored values, in LSB of the result."""
    total = (a - quant_a.zero) * quant_a.scale + (b - quant_b.zero) * quant_b.scale
    return np.asarray(total / result.scale + result.zero, np.float64)


def choose_add(quant_a: Quant, quant_b: Quant, result: Quant, choices: Sequence[Arithmetic]) -> AddConstants:
    """The most precise constants within the first of ``choices`` that gives results within 1 of the real-valued
    rounding for all pairs of inputs."""
    for limits in choices:
        for shift in range(limits.shift_max, limits.shift_min - 1, -1):
            chosen = _at_shift(quant_a, quant_b, result, limits, shift)
            if chosen is None:
                continue
            if largest_add_error(chosen, quant_a, quant_b, result) <= 1:
                return chosen
            break
    raise ValueError("no constants give the sum within 1")


def _at_shift(quant_a: Quant, quant_b: Quant, result: Quant, limits: Arithmetic, shift: int) -> AddConstants | None:
    scale = float(1 << shift)
    m_a, m_b = quant_a.scale / result.scale * scale, quant_b.scale / result.scale * scale
    multiplier_a, multiplier_b = round(m_a), round(m_b)
    if max(multiplier_a, abs(multiplier_b)) > limits.multiplier_max or (multiplier_b < 0 and not limits.signed):
        return None
    # Exact if both inputs are zero, where sums are centred.
    exact = (result.zero + 0.5) * scale
    if exact >= 2.0**62:
        return None
    addend = round(exact) - multiplier_a * quant_a.zero - multiplier_b * quant_b.zero
    for a in _type_ends(quant_a):
        for b in _type_ends(quant_b):
            parts = (a * multiplier_a, b * multiplier_b, a * multiplier_a + b * multiplier_b)
            sums = (addend, parts[0] + addend, parts[1] + addend, parts[2] + addend)
            if min(*parts, *sums) < -limits.limit or max(*parts, *sums) >= limits.limit:
                return None
    return AddConstants(multiplier_a, multiplier_b, addend, shift, limits)


def _type_ends(quant: Quant) -> tuple[int, int, int]:
    """The extremes that the type can hold (a unit that sees only this operator knows no other bounds), and 0."""
    limits = np.iinfo(quant.dtype)
    return int(limits.min), int(limits.max), 0


def largest_add_error(chosen: AddConstants, quant_a: Quant, quant_b: Quant, result: Quant) -> int:
    """The largest difference from the real-valued rounding over all pairs of inputs, by exhaustive evaluation; of 16
    bits, a bound: both functions round linear ones, whose difference is largest at a corner."""
    a = np.arange(quant_a.lo, quant_a.hi + 1, dtype=np.int64)[:, None]
    b = np.arange(quant_b.lo, quant_b.hi + 1, dtype=np.int64)[None, :]
    if a.size * b.size > _MOST_PAIRS:
        a, b = a[[0, -1]], b[:, [0, -1]]
        real = ((a - quant_a.zero) * quant_a.scale + (b - quant_b.zero) * quant_b.scale) / result.scale
        sums = a * chosen.multiplier_a + b * chosen.multiplier_b + chosen.addend
        return int(np.ceil(np.abs(sums / 2.0**chosen.shift - 0.5 - result.zero - real).max()))
    real = ((a - quant_a.zero) * quant_a.scale + (b - quant_b.zero) * quant_b.scale) / result.scale + result.zero
    rounded = np.clip(np.floor(real + 0.5), result.lo, result.hi)
    sums = a * chosen.multiplier_a + b * chosen.multiplier_b + chosen.addend
    integer = np.clip(sums >> chosen.shift, result.lo, result.hi)
    return int(np.max(np.abs(integer - rounded)))
