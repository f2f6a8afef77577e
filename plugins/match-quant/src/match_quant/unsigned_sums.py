"""Requantisation of sums whose inputs or results are stored as uint8: addend, bounds and padding include offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import constant, producer, shape_of

from match_quant.integer_values import Ints
from match_quant.unsigned_tensors import OFFSET, UnsignedTensors

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs


def requantise(state: UnsignedTensors, node: gs.Node) -> gs.Variable | None:
    """Requantised sums of constant weights: the addend includes the input's offset. The result becomes uint8."""
    numbers = _integers(node, 1)
    sums = producer(node.inputs[0])
    if numbers is None or sums is None:
        return None
    multiplier, addend, divisor, lo, hi = numbers
    acc = node.inputs[0]
    weighted = _weighted_sums(state, sums, acc)
    signed = node.op == "RequantI8"
    only_cast = all(reader.op == "Cast" for reader in node.outputs[0].outputs)
    if weighted is None and (not signed or (only_cast and not _has_weights(sums))):
        return None
    if weighted is not None:
        acc, totals = weighted
        addend = addend - multiplier * (OFFSET * totals)
    return _result(state, node, "RequantU8", [acc], [multiplier], (addend, divisor, lo, hi), signed)


def _result(
    state: UnsignedTensors,
    node: gs.Node,
    op: str,
    data: list[gs.Tensor],
    factors: list[Ints],
    rest: tuple[Ints, Ints, Ints, Ints],
    signed: bool,
) -> gs.Variable:
    addend, divisor, lo, hi = rest
    if signed:
        addend, lo, hi = addend + OFFSET * divisor, lo + OFFSET, hi + OFFSET
    names: tuple[str, ...] = ("multiplier", "second_multiplier")[: len(factors)]
    parameters = dict(zip((*names, "addend", "divisor", "lo", "hi"), (*factors, addend, divisor, lo, hi), strict=True))
    constants = [state.editor.constant(f"{node.name}_{name}", _single(v)) for name, v in parameters.items()]
    return state.editor.node(
        f"match.arith::{op}",
        [*data, *constants],
        np.uint8,
        shape_of(node.outputs[0]),
        name=node.name,
        origin=state.editor.origin(node),
    )


def _weighted_sums(state: UnsignedTensors, sums: gs.Node, acc: gs.Variable) -> tuple[gs.Variable, Ints] | None:
    """The sums over the uint8 counterpart of the input, and the totals of the weights in the result's rank; None
    if the input is not an int8 tensor, weights are computed, or other nodes read the sums."""
    weight = constant(sums.inputs[1]) if _has_weights(sums) else None
    shared = len(acc.outputs) != 1 or any(acc is output for output in state.editor.graph.outputs)
    if weight is None or shared:
        return None
    x = state.of(sums.inputs[0], sums)
    if x is None:
        return None
    attrs, wide = dict(sums.attrs), weight.astype(np.int64)
    if sums.op == "ConvInteger":
        totals = wide.reshape(wide.shape[0], -1).sum(axis=1).reshape(1, -1, *[1] * (wide.ndim - 2))
        x = _padded(state, sums, x, attrs)
    else:
        totals = wide.sum(axis=-2, keepdims=True)
        totals = totals.reshape((1,) * (len(acc.shape) - totals.ndim) + totals.shape)
    origin = state.editor.origin(sums)
    new = state.editor.node(
        sums.op, [x, sums.inputs[1]], np.int32, shape_of(acc), name=sums.name, origin=origin, attrs=attrs
    )
    return new, totals


def _padded(state: UnsignedTensors, node: gs.Node, x: gs.Variable, attrs: dict[str, object]) -> gs.Variable:
    """Padding must have the value 0, which is stored as 128."""
    pads = [int(amount) for amount in node.attrs["pads"]]
    if not any(pads):
        return x
    attrs["pads"] = [0] * len(pads)
    half = len(pads) // 2
    amounts = np.array([0, 0, *pads[:half], 0, 0, *pads[half:]], np.int64)
    shape = [size + int(a) + int(b) for size, a, b in zip(shape_of(x), amounts, amounts[half + 2 :], strict=False)]
    inputs = [
        x,
        state.editor.constant(f"{node.name}_pads", amounts),
        state.editor.constant(f"{node.name}_pad_value", np.array(OFFSET, np.uint8)),
    ]
    origin = state.editor.origin(node)
    return state.editor.node(
        "Pad", inputs, np.uint8, shape, name=f"{node.name}_pad", origin=origin, attrs={"mode": "constant"}
    )


def add(state: UnsignedTensors, node: gs.Node) -> gs.Variable | None:
    """The requantised sum of two tensors: the addend includes both offsets. The result becomes uint8."""
    numbers = _integers(node, 2)
    inputs = [state.of(tensor, node) for tensor in node.inputs[:2]]
    signed = node.op == "AddRequantI8"
    if numbers is None or (all(new is None for new in inputs) and not signed):
        return None
    first, second, addend, divisor, lo, hi = numbers
    for factor, stored in zip((first, second), inputs, strict=True):
        addend = addend - factor * (OFFSET if stored is not None else 0)
    data = [stored if stored is not None else old for stored, old in zip(inputs, node.inputs, strict=False)]
    return _result(state, node, "AddRequantU8", data, [first, second], (addend, divisor, lo, hi), signed)


def _has_weights(node: gs.Node) -> bool:
    """Whether it is a convolution or product with constant weights and without zero points, which units support."""
    plain = node.op in ("ConvInteger", "MatMulInteger") and not node.domain and len(node.inputs) == 2
    return plain and constant(node.inputs[1]) is not None


def _integers(node: gs.Node, first: int) -> tuple[Ints, ...] | None:
    values = [constant(tensor) for tensor in node.inputs[first:]]
    if any(v is None or v.dtype != np.int64 for v in values):
        return None
    return tuple(np.asarray(v, np.int64) for v in values)


def _single(values: Ints) -> Ints:
    """The values in shape () if all agree."""
    flat = np.asarray(values)
    return np.array(flat.flat[0], np.int64) if flat.size and np.all(flat == flat.flat[0]) else flat
