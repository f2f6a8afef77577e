"""Convolutions and matrix products of known integers -> ConvInteger, MatMulInteger.

Units support 8-bit operands. Integers that take one more bit because their sign is unknown (graph inputs) become two
tensors, ``x = max(x, 0) - max(-x, 0)``: the operator reads both, the second with negated weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import ConvGeometry, conv_geometry
from match_core.ir.reader import INPUT_LIMIT, constant, optional_input, shape_of

from match_quant.integer_values import EIGHT_BITS, Integers, Ints, cast
from match_quant.narrowing import Narrowing

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

_INT8, _INT32 = np.iinfo(np.int8), np.iinfo(np.int32)


def whole(tensor: gs.Tensor | None) -> Ints | None:
    """A constant whose values are integers (below 2^53)."""
    values = constant(tensor) if tensor is not None else None
    if values is None or values.dtype.kind not in "iuf":
        return None
    wide = np.asarray(values, np.float64)
    if not np.all(np.isfinite(wide)) or np.any(wide != np.rint(wide)) or np.any(np.abs(wide) >= 2.0**53):
        return None
    return np.asarray(values).astype(np.int64)


def convolution(state: Narrowing, node: gs.Node) -> Integers | None:
    """Conv with constant weights of 8 bits."""
    x, weight = state.lookup(node.inputs[0]), whole(node.inputs[1])
    bias = _bias(optional_input(node, 2), 1, len(node.outputs[0].shape))
    if x is None or weight is None or bias is None or not _fits(weight, _INT8):
        return None
    plain = state.plain(x, node)
    low, high = _sums(weight.reshape(weight.shape[0], -1), min(plain.lo, 0), max(plain.hi, 0))
    if low < _INT32.min or high > _INT32.max:
        return None
    geometry = conv_geometry(node)
    narrow = state.eight_bits(plain, node)
    if narrow is not None:
        data = narrow.tensor
    elif _is_short(plain):
        data, weight = _split_channels(state, node, plain, weight, geometry)
    else:
        return None
    editor = state.editor
    tensor = editor.node(
        "ConvInteger",
        [data, editor.constant(f"{node.name}_weight", weight.astype(np.int8))],
        np.int32,
        shape_of(node.outputs[0]),
        name=node.name,
        origin=state.origin(node, x),
        attrs=geometry.attributes(),
    )
    return Integers(tensor, low, high).moved(bias)


def dense(state: Narrowing, node: gs.Node) -> Integers | None:
    """Gemm with constant weights and bias, without factors."""
    if node.attrs.get("transA", 0) or any(float(node.attrs.get(name, 1.0)) != 1.0 for name in ("alpha", "beta")):
        return None
    x, weight = state.lookup(node.inputs[0]), whole(node.inputs[1])
    bias = _bias(optional_input(node, 2), None, 2)
    if x is None or weight is None or bias is None:
        return None
    if np.broadcast_shapes(bias.shape, shape_of(node.outputs[0])) != shape_of(node.outputs[0]):
        return None
    weight = weight.T if node.attrs.get("transB", 0) else weight
    product = _weighted(state, node, x, weight)
    return product.moved(bias) if product is not None else None


def product(state: Narrowing, node: gs.Node) -> Integers | None:
    """MatMul: weights on the right, or two tensors."""
    a, weight = state.lookup(node.inputs[0]), whole(node.inputs[1])
    if a is None:
        return None
    if weight is not None:
        return _weighted(state, node, a, weight)
    b = state.lookup(node.inputs[1])
    if b is None:
        return None
    a, b = state.plain(a, node), state.plain(b, node)
    ends = [p * q for p in (a.lo, a.hi) for q in (b.lo, b.hi)]
    depth = a.shape[-1]
    low, high = depth * min(ends), depth * max(ends)
    if low < _INT32.min or high > _INT32.max:
        return None
    narrow_a, narrow_b = state.eight_bits(a, node), state.eight_bits(b, node)
    origin = state.origin(node, a, b)
    if narrow_a is not None and narrow_b is not None:
        op, inputs = "MatMulInteger", [narrow_a.tensor, narrow_b.tensor]
    else:
        op = "MatMul"
        inputs = [
            cast(state.editor, value.tensor, np.int32, f"{node.name}_{side}", origin)
            for value, side in ((a, "left"), (b, "right"))
        ]
    shape = shape_of(node.outputs[0])
    tensor = state.editor.node(op, inputs, np.int32, shape, name=node.name, origin=origin)
    return Integers(tensor, low, high)


def _weighted(state: Narrowing, node: gs.Node, x: Integers, weight: Ints) -> Integers | None:
    """``x @ weight`` with [..., K, N] weights of 8 bits."""
    if weight.ndim < 2 or not _fits(weight, _INT8):
        return None
    plain = state.plain(x, node)
    rows = np.moveaxis(weight, -2, -1).reshape(-1, weight.shape[-2])
    low, high = _sums(rows, plain.lo, plain.hi)
    if low < _INT32.min or high > _INT32.max:
        return None
    narrow = state.eight_bits(plain, node)
    if narrow is not None:
        data = narrow.tensor
    elif _is_short(plain):
        negated = _negated(weight)
        data = _joined_parts(state, node, plain, len(plain.shape) - 1, len(negated))
        weight = np.concatenate([weight, *negated], axis=-2)
    else:
        return None
    editor = state.editor
    tensor = editor.node(
        "MatMulInteger",
        [data, editor.constant(f"{node.name}_weight", weight.astype(np.int8))],
        np.int32,
        shape_of(node.outputs[0]),
        name=node.name,
        origin=state.origin(node, x),
    )
    return Integers(tensor, low, high)


def _split_channels(
    state: Narrowing, node: gs.Node, x: Integers, weight: Ints, geometry: ConvGeometry
) -> tuple[gs.Variable, Ints]:
    """Both parts of the input concatenated in every group, and the weights for them."""
    negated = _negated(weight)
    both = np.concatenate([weight, *negated], axis=1)
    groups, shape = geometry.group, x.shape
    if groups == 1:
        return _joined_parts(state, node, x, 1, len(negated)), both
    grouped = (shape[0], groups, shape[1] // groups, *shape[2:])
    pair = _joined_parts(state, node, x, 2, len(negated), grouped)
    return _reshaped(state, node, pair, (shape[0], groups * both.shape[1], *shape[2:]), "parts"), both


def _joined_parts(
    state: Narrowing, node: gs.Node, x: Integers, axis: int, copies: int, shape: tuple[int, ...] | None = None
) -> gs.Variable:
    """The positive part and ``copies`` times the negative one, as tensors of this shape, along ``axis``."""
    parts = list(state.signed_parts(x, node))
    if shape is not None:
        parts = [
            _reshaped(state, node, part, shape, side)
            for part, side in zip(parts, ("positive", "negative"), strict=True)
        ]
    size = list(shape or x.shape)
    size[axis] *= 1 + copies
    inputs = [parts[0], *[parts[1]] * copies]
    origin = state.editor.origin(node)
    return state.joined(inputs, size, axis, f"{node.name}_input", origin)


def _reshaped(state: Narrowing, node: gs.Node, x: gs.Variable, shape: tuple[int, ...], name: str) -> gs.Variable:
    target = state.editor.constant(f"{node.name}_{name}_shape", np.array(shape, np.int64))
    origin = state.editor.origin(node)
    return state.editor.node("Reshape", [x, target], x.dtype, shape, name=f"{node.name}_{name}", origin=origin)


def _negated(weight: Ints) -> list[Ints]:
    """Weights of the negative part: one block, or two where 128 = 127 + 1 does not fit int8."""
    negated = -weight
    first = np.minimum(negated, int(_INT8.max))
    return [first] if np.array_equal(first, negated) else [first, negated - first]


def _is_short(value: Integers) -> bool:
    return value.lo >= -INPUT_LIMIT and value.hi <= INPUT_LIMIT and value.dtype not in EIGHT_BITS


def _fits(values: Ints, limits: np.iinfo) -> bool:
    return bool(values.size) and int(values.min()) >= limits.min and int(values.max()) <= limits.max


def _sums(rows: Ints, lo: int, hi: int) -> tuple[int, int]:
    """Bounds of the sums of each row of weights times values in [lo, hi], over all rows."""
    positive, negative = np.maximum(rows, 0).sum(axis=1), np.minimum(rows, 0).sum(axis=1)
    return int((positive * lo + negative * hi).min()), int((positive * hi + negative * lo).max())


def _bias(tensor: gs.Tensor | None, axis: int | None, rank: int) -> Ints | None:
    """The constant addend (zero if there is none), a vector along ``axis`` of the result."""
    if tensor is None:
        return np.array(0, np.int64)
    values = whole(tensor)
    if values is None or axis is None or values.ndim != 1:
        return values
    return values.reshape([-1 if position == axis else 1 for position in range(rank)])
