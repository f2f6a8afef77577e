"""First pass of fern_q: a float region becomes int8 inside, with QuantizeLinear and DequantizeLinear at its border.

Every scale is a power of two, 2^exponent, so that scaling is a shift and the border is exact. Scales come from the
ranges that `match quantize --ranges` measured and stored in the network's file. For a tensor without one, they are
guessed: inputs of a region are taken to lie within +-4 with a mean square of 1. A filter's result then has a root mean
square of about the L2 norm of its weights plus its bias, and gets a range of four times that. Where values are larger,
they saturate: `match verify` tells how far the results then are from the float network's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from match_core.ir.editor import Editor
from match_quant.ranges import ranges_of

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from match_core import Model, PassContext

INPUT_RMS, RANGE_IN_RMS = 1.0, 4.0
SHIFT_MAX = 30


@dataclass(frozen=True)
class Quantised:
    """An int8 tensor: a value v stands for v * 2^exponent; ``rms``: the assumed root mean square of what it stands
    for."""

    tensor: gs.Variable
    exponent: int
    rms: float


def exponent_of(largest: float) -> int:
    """The smallest power of two of which 128 reach a value (2^-20 for smaller ones)."""
    return int(np.ceil(np.log2(max(largest, 2.0**-20) / 128)))


def quantise(model: Model, context: PassContext) -> Model:
    """Conv, Relu and MaxPool on int8; names, shapes and types of inputs and outputs stay."""
    editor, ranges = Editor(model), ranges_of(context)
    known: dict[str, Quantised] = {}
    for tensor in editor.graph.inputs:
        exponent = exponent_of(_largest(ranges, tensor, RANGE_IN_RMS * INPUT_RMS))
        known[tensor.name] = Quantised(_border(editor, "QuantizeLinear", tensor, tensor, exponent), exponent, INPUT_RMS)
    for node in list(editor.graph.nodes):
        x = known.get(node.inputs[0].name)
        if x is None:  # a quantiser that was added above
            continue
        made = node.outputs[0]
        known[made.name] = _conv(editor, node, x, ranges) if node.op == "Conv" else _same(editor, node, x)
    for tensor in list(editor.graph.outputs):
        made = known[tensor.name]
        editor.replace(tensor, _border(editor, "DequantizeLinear", made.tensor, tensor, made.exponent))
    return editor.finish()


def _largest(ranges: Mapping[str, tuple[float, float]], tensor: gs.Tensor, guess: float) -> float:
    """The largest absolute value of a tensor."""
    return max(map(abs, ranges[tensor.name])) if tensor.name in ranges else guess


def _border(editor: Editor, op: str, read: gs.Tensor, real: gs.Tensor, exponent: int) -> gs.Variable:
    scale = editor.constant("scale", np.array(2.0**exponent, np.float32))
    zero = editor.constant("zero", np.array(0, np.int8))
    dtype = np.int8 if op == "QuantizeLinear" else np.float32
    origin = editor.origin(*real.inputs) or editor.origin(*real.outputs)
    return editor.node(op, [read, scale, zero], dtype, real.shape, name=f"{real.name}_{op}", origin=origin)


def _same(editor: Editor, node: gs.Node, x: Quantised) -> Quantised:
    made = node.outputs[0]
    y = editor.node(node.op, [x.tensor], np.int8, made.shape, name=node.name, origin=[node.name], attrs=node.attrs)
    return Quantised(y, x.exponent, x.rms)


def _conv(editor: Editor, node: gs.Node, x: Quantised, ranges: Mapping[str, tuple[float, float]]) -> Quantised:
    """ConvInteger, then (sum + addend) >> shift for each channel: as RequantI8, whose divisor is 2^shift."""
    weights = node.inputs[1].values.astype(np.float64)
    rows = weights.reshape(len(weights), -1)
    bias = node.inputs[2].values.astype(np.float64) if len(node.inputs) > 2 else np.zeros(len(rows))
    rms = float(np.max(x.rms * np.sqrt((rows * rows).sum(1)) + np.abs(bias)))
    fine = x.exponent + np.array([exponent_of(float(np.abs(row).max())) for row in rows])
    exponent = max(exponent_of(_largest(ranges, node.outputs[0], RANGE_IN_RMS * rms)), int(fine.max()))
    fine = np.maximum(fine, exponent - SHIFT_MAX)
    whole = np.clip(np.rint(weights / 2.0 ** (fine - x.exponent).reshape(-1, 1, 1, 1)), -127, 127).astype(np.int8)
    shift = (exponent - fine).astype(np.int64)
    addend = np.rint(np.clip(bias / 2.0**fine, -(2.0**30), 2.0**30)).astype(np.int64) + (1 << shift >> 1)
    shape, origin = node.outputs[0].shape, [node.name]
    inputs = [x.tensor, editor.constant("weight", whole)]
    total = editor.node("ConvInteger", inputs, np.int32, shape, name=node.name, origin=origin, attrs=node.attrs)
    values: list[Any] = [1, addend.reshape(-1, 1, 1), (1 << shift).reshape(-1, 1, 1), -128, 127]
    names = ("multiplier", "addend", "divisor", "low", "high")
    constants = [editor.constant(n, np.asarray(value, np.int64)) for n, value in zip(names, values, strict=True)]
    y = editor.node(
        "match.arith::RequantI8", [total, *constants], np.int8, shape, name=f"{node.name}_shift", origin=origin
    )
    return Quantised(y, exponent, rms)
