"""Addition, multiplication, clipping and moves of known integers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import conv_geometry
from match_core.ir.reader import INPUT_LIMIT, clamp_bounds, constant, optional_input, shape_of

from match_quant.integer_values import LIMIT, Integers, Ints, cast, smallest_type
from match_quant.narrow_linear import whole
from match_quant.narrowing import Narrowing, Rule

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_MINUS = np.array(-1, np.int64)
#: Operators whose first input is data and whose other inputs are integers already; values do not change.
MOVES = ("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity", "Slice", "Expand", "Tile", "Gather")


def add(state: Narrowing, node: gs.Node) -> Integers | None:
    """Sum with a constant or with another tensor."""
    return _combine(state, node, np.array(1, np.int64))


def subtract(state: Narrowing, node: gs.Node) -> Integers | None:
    """Difference from a constant or from another tensor."""
    return _combine(state, node, _MINUS)


def _combine(state: Narrowing, node: gs.Node, sign: Ints) -> Integers | None:
    """``a + sign * b``."""
    shape = shape_of(node.outputs[0])
    constants = [whole(tensor) for tensor in node.inputs]
    values = [state.lookup(tensor) if c is None else None for tensor, c in zip(node.inputs, constants, strict=True)]
    a, b = values
    if a is not None and constants[1] is not None:
        return state.kept(node, a.moved(sign * constants[1])) if a.shape == shape else None
    if b is not None and constants[0] is not None:
        scaled = b.scaled(sign) if b.shape == shape else None
        return state.kept(node, scaled.moved(constants[0])) if scaled is not None else None
    second = b.scaled(sign) if b is not None else None
    if a is None or second is None:
        return None
    if a.shape == second.shape == shape and a.other is None and second.other is None:
        offset = second.addend
        pair = replace(a, other=replace(second, addend=np.zeros_like(offset))).moved(offset)
        kept = tuple(dict.fromkeys((*a.origin, *second.origin)))
        return state.kept(node, replace(pair, origin=kept)) if pair is not None else None
    return _computed(state, node, "Add", state.plain(a, node), state.plain(second, node))


def _computed(state: Narrowing, node: gs.Node, op: str, a: Integers, b: Integers) -> Integers | None:
    """A new Add or Mul of two tensors, in int32 if it fits."""
    if op == "Add":
        low, high = a.lo + b.lo, a.hi + b.hi
    else:
        ends = [p * q for p in (a.lo, a.hi) for q in (b.lo, b.hi)]
        low, high = min(ends), max(ends)
    if max(-low, high) >= LIMIT:
        return None
    dtype = smallest_type(min(low, a.lo, b.lo, -1), max(high, a.hi, b.hi, 256))
    origin = state.origin(node, a, b)
    inputs = [
        cast(state.editor, value.tensor, dtype, f"{node.name}_{side}", origin)
        for value, side in ((a, "left"), (b, "right"))
    ]
    tensor = state.editor.node(op, inputs, dtype, shape_of(node.outputs[0]), name=node.name, origin=origin)
    return Integers(tensor, low, high)


def multiply(state: Narrowing, node: gs.Node) -> Integers | None:
    """Product with a constant or with another tensor."""
    for position in (0, 1):
        factor, x = whole(node.inputs[position]), state.lookup(node.inputs[1 - position])
        if factor is not None:
            fits = x is not None and x.shape == shape_of(node.outputs[0])
            return state.kept(node, x.scaled(factor)) if x is not None and fits else None
    a, b = (state.lookup(tensor) for tensor in node.inputs)
    if a is None or b is None:
        return None
    return _computed(state, node, "Mul", state.plain(a, node), state.plain(b, node))


def negate(state: Narrowing, node: gs.Node) -> Integers | None:
    """-x."""
    x = state.lookup(node.inputs[0])
    return state.kept(node, x.scaled(_MINUS)) if x is not None else None


def limit(state: Narrowing, node: gs.Node) -> Integers | None:
    """Relu, or Clip between integers."""
    bounds, x = clamp_bounds(node), state.lookup(node.inputs[0])
    if bounds is None or x is None or any(np.isfinite(end) and end != int(end) for end in bounds):
        return None
    value = state.plain(x, node)
    low = max(int(bounds[0]), value.lo) if np.isfinite(bounds[0]) else value.lo
    high = min(int(bounds[1]), value.hi) if np.isfinite(bounds[1]) else value.hi
    if (low, high) == (value.lo, value.hi):
        return value
    if low > high:  # all values lie on one side: one of the bounds is the only result
        low = high = int(bounds[0]) if low > value.hi else int(bounds[1])
    dtype = np.promote_types(value.dtype, smallest_type(min(low, value.lo), max(high, value.hi)))
    name, origin = node.name, state.origin(node, x)
    source = cast(state.editor, value.tensor, dtype, f"{name}_wide", origin)
    ends = [state.editor.constant(f"{name}_{n}", np.array(v, dtype)) for n, v in (("lo", low), ("hi", high))]
    tensor = state.editor.node("Clip", [source, *ends], dtype, value.shape, name=name, origin=origin)
    return Integers(tensor, low, high)


def move(state: Narrowing, node: gs.Node) -> Integers | None:
    """The same values in other positions."""
    x = state.lookup(node.inputs[0])
    if x is None or len(node.outputs) != 1:
        return None
    value = state.plain(x, node)
    return _moved(state, node, value, [value.tensor, *node.inputs[1:]], dict(node.attrs))


def _moved(
    state: Narrowing, node: gs.Node, value: Integers, inputs: list[gs.Tensor], attrs: dict[str, object]
) -> Integers:
    origin = state.origin(node, value)
    shape = shape_of(node.outputs[0])
    tensor = state.editor.node(node.op, inputs, value.dtype, shape, name=node.name, origin=origin, attrs=attrs)
    return Integers(tensor, value.lo, value.hi)


def max_pool(state: Narrowing, node: gs.Node) -> Integers | None:
    """MaxPool of an 8-bit tensor. MaxPool of a graph input stays in floats, and its result holds integers again."""
    x = state.lookup(node.inputs[0])
    if x is None or len(node.outputs) != 1 or node.attrs.get("storage_order", 0):
        return None
    value = state.eight_bits(x, node)
    if value is None:
        lo, hi = x.bounds()
        if max(-lo, hi) <= INPUT_LIMIT:
            state.alias(node.outputs[0], state.taken(node.outputs[0], lo, hi, state.origin(node, x)))
        return None
    attrs = conv_geometry(node).attributes()
    del attrs["group"]
    attrs["ceil_mode"] = int(node.attrs.get("ceil_mode", 0))
    return _moved(state, node, value, [value.tensor], attrs)


def pad(state: Narrowing, node: gs.Node) -> Integers | None:
    """Padding with a constant integer."""
    x, filler = state.lookup(node.inputs[0]), optional_input(node, 2)
    values = whole(filler) if filler is not None else np.zeros(1, np.int64)
    if x is None or values is None or node.attrs.get("mode", "constant") != "constant":
        return None
    value, single = state.plain(x, node), int(values.reshape(-1)[0])
    limits = np.iinfo(value.dtype)
    if not limits.min <= single <= limits.max:
        return None
    constant_value = state.editor.constant(f"{node.name}_value", np.array(single, value.dtype))
    value = replace(value, lo=min(value.lo, single), hi=max(value.hi, single))
    inputs = [value.tensor, node.inputs[1], constant_value, *node.inputs[3:]]
    return _moved(state, node, value, inputs, dict(node.attrs))


def concat(state: Narrowing, node: gs.Node) -> Integers | None:
    """Concatenated tensors, in the smallest type that holds all of them."""
    values = [state.lookup(tensor) for tensor in node.inputs]
    if any(value is None for value in values):
        return None
    parts = [state.plain(value, node) for value in values if value is not None]
    low, high = min(part.lo for part in parts), max(part.hi for part in parts)
    types = {part.dtype for part in parts}
    dtype = types.pop() if len(types) == 1 else smallest_type(low, high)
    origin = state.origin(node, *parts)
    inputs = [cast(state.editor, p.tensor, dtype, f"{node.name}_in{i}", origin) for i, p in enumerate(parts)]
    return _moved(state, node, Integers(inputs[0], low, high), inputs, dict(node.attrs))


def total(state: Narrowing, node: gs.Node) -> Integers | None:
    """ReduceSum over constant axes."""
    x = state.lookup(node.inputs[0])
    axes = optional_input(node, 1)
    if x is None or (axes is not None and constant(axes) is None):
        return None
    value = state.plain(x, node)
    count = int(np.prod(value.shape)) // max(int(np.prod(shape_of(node.outputs[0]))), 1)
    low, high = min(value.lo * count, value.lo), max(value.hi * count, value.hi)
    if max(-low, high) >= LIMIT:
        return None
    dtype = smallest_type(min(low, -1), max(high, 256))
    wide = cast(state.editor, value.tensor, dtype, f"{node.name}_wide", state.origin(node, x))
    return _moved(state, node, Integers(wide, low, high), [wide, *node.inputs[1:]], dict(node.attrs))


#: Float operators that have an integer form, apart from those with weights.
ELEMENTWISE_RULES: dict[str, Rule] = {
    "Add": add,
    "Sub": subtract,
    "Mul": multiply,
    "Neg": negate,
    "Relu": limit,
    "Clip": limit,
    "MaxPool": max_pool,
    "Pad": pad,
    "Concat": concat,
    "ReduceSum": total,
    **dict.fromkeys(MOVES, move),
}
