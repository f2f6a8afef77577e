"""Integer softmax, normalisation, GELU, ... of known integers: they read the integers directly, and functions of one
8-bit tensor become tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import constant, shape_of

from match_quant.integer_values import EIGHT_BITS, LIMIT, Integers, Ints, cast, smallest_type
from match_quant.narrowing import Narrowing

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def gelu(x: Ints, b: int, one: int) -> Ints:
    """``IntegerGelu`` in numpy."""
    inner = one - np.square(np.minimum(np.abs(x), -b) + b)
    return np.asarray(x * ((one + np.sign(x) * inner) // 2), np.int64)


def hardswish(x: Ints, sixth: int, three: int, six: int) -> Ints:
    """``IntegerHardswish`` in numpy."""
    return np.asarray(x * np.clip(x + three, 0, six) * sixth, np.int64)


_FUNCTIONS: dict[str, Callable[..., Ints]] = {"IntegerGelu": gelu, "IntegerHardswish": hardswish}


def elementwise(state: Narrowing, node: gs.Node) -> None:
    """An element-wise function: a table if its input is one 8-bit tensor."""
    x, parameters = state.lookup(node.inputs[0]), _scalars(node)
    if x is None or parameters is None:
        return
    function = _FUNCTIONS[node.op]
    found = state.table(x)
    if found is not None:
        source, values = found
        results = function(values, *parameters)
        dtype = smallest_type(min(int(results.min()), -1), max(int(results.max()), 256))
        _replace(state, node, state.tabulated(source, results, node, dtype))
        return
    value = state.plain(x, node)
    largest = max(-value.lo, value.hi)
    bound = (largest + 1) * (2 * sum(map(abs, parameters)) + largest + 1) ** 2
    if bound < LIMIT:
        _replace(state, node, Integers(_same(state, node, value), -bound, bound))


def quotient(state: Narrowing, node: gs.Node) -> None:
    """A rounded mean: a requantisation if its result has 8 bits."""
    x, parameters = state.lookup(node.inputs[0]), _scalars(node)
    if x is None or parameters is None or parameters[0] <= 0:
        return
    (divisor,) = parameters
    value = state.plain(x, node)
    low, high = ((end + divisor // 2) // divisor for end in (value.lo, value.hi))
    dtype = smallest_type(low, high)
    if dtype not in EIGHT_BITS:
        _replace(state, node, Integers(_same(state, node, value), low, high))
        return
    limits = np.iinfo(dtype)
    op = "RequantU8" if dtype == np.uint8 else "RequantI8"
    numbers = {"multiplier": 1, "addend": divisor // 2, "divisor": divisor, "lo": limits.min, "hi": limits.max}
    constants = [state.editor.constant(f"{node.name}_{name}", np.array(n, np.int64)) for name, n in numbers.items()]
    origin = state.origin(node, value)
    inputs = [value.tensor, *constants]
    tensor = state.editor.node(f"match.arith::{op}", inputs, dtype, value.shape, name=node.name, origin=origin)
    _replace(state, node, Integers(tensor, low, high))


def softmax(state: Narrowing, node: gs.Node) -> None:
    """``SoftmaxFloorU8``: its table is shortened to the differences that the input's type allows."""
    x, table = state.lookup(node.inputs[0]), constant(node.inputs[1])
    levels = constant(node.inputs[2])
    if x is None or table is None or levels is None:
        return
    value = state.plain(x, node)
    if value.hi - value.lo >= table.size:
        return
    entries = 256 if value.dtype in EIGHT_BITS else value.hi - value.lo + 1
    used = state.editor.constant(f"{node.name}_table", np.asarray(table)[:entries])
    tensor = _same(state, node, value, [used, node.inputs[2]])
    _replace(state, node, Integers(tensor, 0, int(np.asarray(levels).max())))


def line(state: Narrowing, node: gs.Node) -> None:
    """Operators along the last axis whose result has 8 bits."""
    x = state.lookup(node.inputs[0])
    if x is None:
        return
    limits = np.iinfo(np.dtype(node.outputs[0].dtype))
    tensor = _same(state, node, state.plain(x, node))
    _replace(state, node, Integers(tensor, int(limits.min), int(limits.max)))


def shift_softmax(state: Narrowing, node: gs.Node) -> None:
    """``ShiftSoftmaxU8``: the largest weight is 2^8, so results are at most a 256th of its numerator."""
    x, numerator = state.lookup(node.inputs[0]), constant(node.inputs[1])
    if x is None or numerator is None:
        return
    value = state.plain(x, node)
    if value.hi - value.lo <= 255:
        _replace(state, node, Integers(_same(state, node, value), 0, int(np.asarray(numerator).max()) // 256))


def _same(state: Narrowing, node: gs.Node, value: Integers, parameters: list[gs.Tensor] | None = None) -> gs.Variable:
    """The same operator on the integers."""
    return state.editor.node(
        f"match.arith::{node.op}",
        [value.tensor, *(node.inputs[1:] if parameters is None else parameters)],
        node.outputs[0].dtype,
        shape_of(node.outputs[0]),
        name=node.name,
        origin=state.origin(node, value),
        attrs=dict(node.attrs),
    )


def _replace(state: Narrowing, node: gs.Node, value: Integers) -> None:
    """Define the value of the result for its readers. If the value's type differs, readers are replaced too, or get the
    old type."""
    old = node.outputs[0]
    state.alias(old, value)
    state.alias(value.tensor, value)
    whole = cast(state.editor, value.tensor, old.dtype, f"{node.name}_wide", state.editor.origin(node))
    state.alias(whole, value)
    state.editor.replace(old, whole)


def _scalars(node: gs.Node) -> tuple[int, ...] | None:
    values = [constant(tensor) for tensor in node.inputs[1:]]
    if any(v is None or v.size != 1 for v in values):
        return None
    return tuple(int(np.asarray(v).reshape(-1)[0]) for v in values)


FUNCTION_RULES: dict[str, Callable[[Narrowing, gs.Node], None]] = {
    "IntegerGelu": elementwise,
    "IntegerHardswish": elementwise,
    "RoundedQuotient": quotient,
    "SoftmaxFloorU8": softmax,
    "ShiftSoftmaxU8": shift_softmax,
    "LayerNormI8": line,
    "RmsNormI8": line,
}
