"""Sums of two 8-bit tensors with rounding in elementary operators become AddRequant, bit for bit.

The result is a function of two bytes, so all 65,536 pairs are computed as the operators compute them. With quotients of
real numbers, they give the slopes. For given multipliers and shift, each pair bounds the addend from both sides, so
equality is decided for all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.ir.reader import Quant, constant, producer, shape_of
from numpy.typing import NDArray

from match_quant.expectation import unknown
from match_quant.factors import inner
from match_quant.integer_graph import IntegerGraph
from match_quant.requant import Arithmetic

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

Values = NDArray[Any]

_EIGHT_BITS = (np.dtype(np.int8), np.dtype(np.uint8))
#: Most operators of one sum: TFLite's have about 40.
_MOST_NODES = 100
#: How far multipliers may be from the rounded slopes.
_NEAR = (0, 1, -1, 2, -2, 3, -3)
#: Shifts to try, from the largest that does not overflow; less precise ones have fewer solutions.
_SHIFTS = 3
#: Points for slopes, far from where signs change.
_FAR, _STEP = 4096.0, 256.0


@dataclass(frozen=True, slots=True)
class _Numbers:
    """``clip((a * multiplier[0] + b * multiplier[1] + addend) >> shift)``."""

    multiplier: tuple[int, int]
    addend: int
    shift: int


def replace_sum(graph: IntegerGraph, last: gs.Node) -> bool:
    """Replace the operators that end in this Cast to 8 bits; whether that was possible."""
    found = _operands(last)
    if found is None or not inner(graph.editor, found[1], last):
        return False
    leaves, nodes = found
    a, b = leaves
    grid = [np.arange(np.iinfo(t.dtype).min, np.iinfo(t.dtype).max + 1).astype(t.dtype) for t in leaves]
    pairs = {id(a): grid[0][:, None], id(b): grid[1][None, :]}
    results = np.broadcast_to(_evaluate(last.outputs[0], pairs, real=False), (256, 256)).astype(np.int64)
    lo, hi = int(results.min()), int(results.max())
    quant = Quant(1.0, 0, np.dtype(last.outputs[0].dtype), lo, hi)
    stored, slopes = graph.stored(quant), _slopes(last.outputs[0], leaves)
    moved = results + (stored.lo - lo)
    known = (np.dtype(t.dtype) for t in leaves)
    given = [graph.stored(Quant(1.0, 0, t, int(np.iinfo(t).min), int(np.iinfo(t).max))) for t in known]
    ends = [np.arange(q.lo, q.hi + 1, dtype=np.int64) for q in given]
    choices = graph.shared or graph.arithmetics
    numbers = next(filter(None, (_solve(moved, ends, slopes, limits) for limits in choices)), None)
    name = "/".join(graph.editor.origin(last))
    if numbers is None:
        graph.editor.notes.append(f"{name}: no (a*Ma + b*Mb + B) >> S of the units equals the rounding of this sum")
        return False
    first, second = graph.adopt(a), graph.adopt(b)
    if first is None or second is None:
        return False
    values = (*numbers.multiplier, numbers.addend, 1 << numbers.shift, stored.lo, stored.hi)
    hints = ("multiplier_a", "multiplier_b", "addend", "divisor", "lo", "hi")
    constants = [graph.scalar(f"{last.name}_{hint}", value) for hint, value in zip(hints, values, strict=True)]
    op = "match.arith::AddRequantU8" if stored.dtype == np.uint8 else "match.arith::AddRequantI8"
    origin, shape = graph.editor.origin(*nodes), shape_of(last.outputs[0])
    new = graph.editor.node(
        op, [first, second, *constants], stored.dtype, shape, name=f"{last.name}_sum", origin=origin
    )
    graph.expect(new, unknown(stored))
    graph.define(last.outputs[0], new, quant)
    return True


def _operands(last: gs.Node) -> tuple[tuple[gs.Tensor, gs.Tensor], tuple[gs.Node, ...]] | None:
    """The two 8-bit tensors of the result's shape that it depends on, and the nodes in between."""
    nodes: list[gs.Node] = [last]
    leaves: dict[int, gs.Tensor] = {}
    waiting, seen = [last.inputs[0]], set[int]()
    while waiting:
        tensor = waiting.pop()
        values = constant(tensor)
        if id(tensor) in seen or (values is not None and values.size == 1):
            continue
        seen.add(id(tensor))
        node = producer(tensor)
        if values is None and np.dtype(tensor.dtype) in _EIGHT_BITS:
            leaves[id(tensor)] = tensor
            continue
        supported = node is not None and node.op in _OPERATORS and node.domain in (None, "", "ai.onnx")
        if values is not None or node is None or not supported or len(nodes) == _MOST_NODES:
            return None
        nodes.append(node)
        waiting.extend(tensor for tensor in node.inputs if not tensor.is_empty())
    shape = shape_of(last.outputs[0])
    if len(leaves) != 2 or any(shape_of(tensor) != shape for tensor in leaves.values()):
        return None
    a, b = leaves.values()
    return (a, b), tuple(nodes)


# ---- evaluation ------------------------------------------------------------------------------------------------------


def _truncated(a: Values, b: Values) -> Values:
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) != (b < 0), -quotient, quotient)


def _clip(node: gs.Node, values: list[Values | None]) -> Values:
    x, low, high = (*values, None, None)[:3]
    x = np.asarray(x)
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


#: Operators on integers.
_OPERATORS = frozenset(
    ("Cast", "Add", "Sub", "Mul", "Div", "Mod", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Where", "Clip")
)
_PLAIN = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
}


def _evaluate(tensor: gs.Tensor, given: dict[int, Values], real: bool) -> Values:
    """The values of a tensor: as its type computes them, which wraps around; or with ``real`` quotients, without
    bounds."""
    known = dict(given)

    def value(t: gs.Tensor) -> Values:
        if id(t) not in known:
            values, node = constant(t), producer(t)
            if values is not None:
                known[id(t)] = np.asarray(values.reshape(()), np.float64 if real and values.dtype.kind != "b" else None)
            elif node is not None:
                inputs = [None if x.is_empty() else value(x) for x in node.inputs]
                result = _of_node(node, inputs, real)
                known[id(t)] = result if real else result.astype(np.dtype(t.dtype))
        return known[id(t)]

    return value(tensor)


def _of_node(node: gs.Node, inputs: list[Values | None], real: bool) -> Values:
    values = [np.asarray(x) for x in inputs if x is not None]
    with np.errstate(over="ignore"):
        if node.op in _PLAIN:
            return np.asarray(_PLAIN[node.op](*values))
        if node.op == "Where":
            return np.where(*values)
        if node.op == "Div":
            return np.asarray(values[0] / values[1]) if real else _truncated(*values)
        if node.op == "Mod":
            return np.zeros_like(values[0]) if real else np.asarray(np.mod(*values))
        if node.op == "Clip" and not real:
            return _clip(node, inputs)
        return values[0]


def _slopes(result: gs.Tensor, leaves: tuple[gs.Tensor, gs.Tensor]) -> tuple[float, float]:
    """Results per step of each operand."""

    def at(a: float, b: float) -> float:
        return float(_evaluate(result, {id(leaves[0]): np.float64(a), id(leaves[1]): np.float64(b)}, real=True))

    base = at(_FAR, _FAR)
    return (at(_FAR + _STEP, _FAR) - base) / _STEP, (at(_FAR, _FAR + _STEP) - base) / _STEP


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _solve(results: Values, ends: list[Values], slopes: tuple[float, float], limits: Arithmetic) -> _Numbers | None:
    """The numbers within ``limits`` that give all results; None if there are none."""
    if not all(np.isfinite(slope) and slope >= 0 for slope in slopes) or max(slopes) == 0:
        return None
    tried = 0
    for shift in range(min(limits.shift_max, 40), limits.shift_min - 1, -1):
        scale = float(1 << shift)
        rounded = round(slopes[0] * scale), round(slopes[1] * scale)
        if max(rounded) + 3 > limits.multiplier_max or _reach(ends, rounded, 0) >= limits.limit or tried == _SHIFTS:
            continue
        tried += 1
        for near_a, near_b in product(_NEAR, _NEAR):
            multiplier = (rounded[0] + near_a, rounded[1] + near_b)
            addend = _addend(results, ends, multiplier, shift) if min(multiplier) >= 0 else None
            if addend is not None and _reach(ends, multiplier, addend) < limits.limit:
                return _Numbers(multiplier, addend, shift)
    return None


def _addend(results: Values, ends: list[Values], multiplier: tuple[int, int], shift: int) -> int | None:
    total = ends[0][:, None] * multiplier[0] + ends[1][None, :] * multiplier[1]
    whole, rest = results << shift, (results + 1) << shift
    lo, hi = results.min(), results.max()
    least = (whole - total)[results > lo].max(initial=-(1 << 62))
    most = (rest - total)[results < hi].min(initial=1 << 62) - 1
    return int((least + most) // 2) if least <= most else None


def _reach(ends: list[Values], multiplier: tuple[int, int], addend: int) -> int:
    """The largest product or partial sum; operands may also be absent."""
    parts = [[0, int(values[0]) * m, int(values[-1]) * m] for values, m in zip(ends, multiplier, strict=True)]
    sums = [a + b + c for a, b, c in product(*parts, (0, addend))]
    return max(map(abs, sums)) + 1
