"""Divides linear layers with more than 512 inputs: partial layers on ranges of the inputs, and a sum on the cores.

ITA's accumulator allows 512 inputs, and its results are int8. So each of R partial layers gives its share of the
result in steps that are ``1 / ratio`` of the result's, and the cores add the shares and requantise once:
``y = clip(floor(sum of shares / ratio + 1/2))``. A share is rounded, which costs ``1 / (ratio sqrt(12))`` LSB (root
mean square); R of them cost sqrt(R) times that. ``ratio`` is as large as the expected shares allow: the biases centre
each column's shares, and 127 steps are some standard deviations of them, or all that they can reach.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from match_core import Model, Pass, PassContext, Phase
from match_core.ir.editor import Editor
from match_core.ir.reader import shape_of
from match_quant import multipliers
from match_quant.expectation import Expectation, Reals
from match_quant.linear.expectation import sums
from match_quant.linear.layers import (
    INT8_MAX,
    Ints,
    LinearLayer,
    linear_layers,
    requant_constants,
    sum_ranges,
    value_range,
)

from match_ita.ita.limits import BLOCK, REQUANT, SUM_LENGTH_MAX
from match_ita.passes.linear_expectation import expected
from match_ita.passes.nodes import Label, product, reshaped
from match_ita.passes.split_columns import Range, columns, grain

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

#: Shares further from their mean saturate. As inputs are correlated and their spread is guessed, real shares were up to
#: 2 times as wide as expected (DINOv2's patches), with values to 5 of their own deviations: so 8 are allowed for, and
#: fewer, down to 4, where rounding would cost more than ``_RMS_GOAL``.
_DEVIATIONS, _DEVIATIONS_MIN = 8.0, 4.0
#: The expected error (root mean square, LSB) that rounded shares should and may cost.
_RMS_GOAL, RMS_MAX = 0.5, 0.75
#: Bits of the multipliers of shares per column, which ita_linear replaces; and of the sum's, whose products then fit 32
#: bits and are off by 2^-12 LSB.
_MULTIPLIER_BITS, _SUM_BITS = 30, 20
_INT32 = 6  # TensorProto element type


def run(model: Model, context: PassContext) -> Model:
    """Divide every layer with too many inputs."""
    editor = Editor(model)
    for layer in linear_layers(editor):
        if layer.weight.shape[0] <= SUM_LENGTH_MAX:
            continue
        layer = replace(layer, weight=np.where(layer.multiplier == 0, 0, layer.weight))
        plan = None if model.integer_source else _plan(layer, expected(layer.x, editor.graph.outputs))
        if plan is not None and plan.expected_rms <= RMS_MAX:
            _divide(editor, layer, plan)
            continue
        why = "any expected error" if plan is None else f"an expected error of {plan.expected_rms:.2f} LSB"
        why = "a network of integers keeps its values" if model.integer_source else why
        names = "/".join(editor.origin(layer.matmul))
        editor.notes.append(f"{names}: {layer.weight.shape[0]} inputs are not divided for ITA: {why}")
    return editor.finish()


@dataclass(frozen=True, slots=True)
class Plan:
    """Inputs of each partial layer, the steps of shares as ``multiplier`` ([1], or [K] where columns differ) and
    ``shift``, and ``offsets`` [R, K]: what is added to a share, in steps."""

    ranges: tuple[Range, ...]
    ratio: float
    multiplier: Ints
    shift: int
    offsets: Reals

    def addend(self, index: int) -> Ints:
        """B of the partial layer: with one multiplier a whole number of accumulator steps, as ITA's bias is."""
        half = 1 << (self.shift - 1)
        if self.multiplier.size == 1:
            multiplier = int(self.multiplier[0])
            bias = np.rint(self.offsets[index] * (2.0**self.shift / multiplier)).astype(np.int64)
            exact: Ints = multiplier * bias + half
            return exact
        result: Ints = np.rint(self.offsets[index] * 2.0**self.shift).astype(np.int64) + half
        return result

    @property
    def expected_rms(self) -> float:
        """Root mean square of what rounding the shares costs, in LSB of the result."""
        return _rounding(len(self.ranges)) / self.ratio


def _plan(layer: LinearLayer, x: Expectation) -> Plan | None:
    slopes = layer.multiplier / 2.0**layer.shift
    ranges = _ranges(layer.weight.shape[0], grain(layer.x))
    means, deviations, reaches = _shares(layer, x, ranges, slopes)
    if float(reaches.max(initial=0.0)) <= 0:
        return None
    wide, narrow = (
        INT8_MAX / float(np.minimum(reaches, count * deviations).max()) for count in (_DEVIATIONS, _DEVIATIONS_MIN)
    )
    ratio = min(max(wide, _rounding(len(ranges)) / _RMS_GOAL), narrow)
    moving = slopes[slopes > 0]
    one = multipliers.nearest(ratio * float(moving[0]), REQUANT) if np.all(moving == moving[0]) else None
    if one is not None and one.shift > 0:  # steps of shares that ITA has exactly
        ratio, shift = one.slope / float(moving[0]), one.shift
        multiplier = np.array([one.multiplier], np.int64)
    else:
        shift = _MULTIPLIER_BITS - int(np.ceil(np.log2(ratio * float(slopes.max()))))
        multiplier = np.rint(ratio * slopes * 2.0**shift).astype(np.int64)
    offset = layer.addend / 2.0**layer.shift - 0.5
    result = means.sum(axis=0) + offset
    return Plan(ranges, ratio, multiplier, shift, ratio * (result / len(ranges) - means))


def _ranges(inputs: int, grain: int) -> tuple[Range, ...]:
    """As few ranges as can be, of much the same size, whole grains (or blocks) but for the last."""
    unit = grain if 1 < grain <= SUM_LENGTH_MAX else BLOCK
    units = -(-inputs // unit)
    count = -(-units // (SUM_LENGTH_MAX // unit))
    size = -(-units // count) * unit
    return tuple((start, min(start + size, inputs)) for start in range(0, inputs, size))


def _rounding(parts: int) -> float:
    """Root mean square error of rounding this number of shares, in their steps."""
    return math.sqrt(parts / 12)


def _shares(layer: LinearLayer, x: Expectation, ranges: tuple[Range, ...], slopes: Reals) -> tuple[Reals, Reals, Reals]:
    """Means, standard deviations and largest distances from the mean of the shares, [R, K] in LSB of the result."""
    inputs = x.per_channel(layer.weight.shape[0], x.axis)
    means, deviations, reaches = [], [], []
    for start, stop in ranges:
        weight = layer.weight[start:stop]
        part = replace(inputs, mean=inputs.mean[start:stop], sd=inputs.sd[start:stop])
        mean, sd = sums(part, weight)
        low, high = sum_ranges(weight, *value_range(layer.x))
        means.append(mean * slopes)
        deviations.append(sd * slopes)
        reaches.append(np.maximum(high - mean, mean - low) * slopes)
    return np.array(means), np.array(deviations), np.array(reaches)


def _divide(editor: Editor, layer: LinearLayer, plan: Plan) -> None:
    """Write the partial layers and their sum in place of the layer."""
    name, origin, shape = layer.name, editor.origin(layer.matmul, layer.requant), shape_of(layer.y)
    flat = (math.prod(shape[:-1]), shape[-1])
    parts = columns(editor, layer.x, plan.ranges, name)
    shares = [_share(editor, layer, plan, index, part) for index, part in enumerate(parts)]
    rows = [reshaped(editor, share, (1, *flat), f"{name}_share_rows", origin) for share in shares]
    stacked = (len(shares), *flat)
    joined = editor.node("Concat", rows, np.int8, stacked, name=f"{name}_shares", origin=origin, attrs={"axis": 0})
    wide = editor.node("Cast", [joined], np.int32, stacked, name=f"{name}_wide", origin=origin, attrs={"to": _INT32})
    given = [wide, editor.constant(f"{name}_axes", np.array([0], np.int64))]
    keep = {"keepdims": 0}
    total = editor.node("ReduceSum", given, np.int32, flat, name=f"{name}_sum", origin=origin, attrs=keep)
    shift = _SUM_BITS - max(math.ceil(math.log2(1 / plan.ratio)), 0)
    values = [round(2**shift / plan.ratio), 1 << (shift - 1), 1 << shift, layer.lo, layer.hi]
    given = [total, *(editor.constant(f"{name}_sum_constant", np.array(value, np.int64)) for value in values)]
    result = editor.node("match.arith::RequantI8", given, np.int8, flat, name=f"{name}_sum_requant", origin=origin)
    editor.replace(layer.y, reshaped(editor, result, shape, f"{name}_result", origin))


def _share(editor: Editor, layer: LinearLayer, plan: Plan, index: int, x: gs.Tensor) -> gs.Variable:
    """The partial layer on range ``index`` of the inputs, given as ``x``."""
    start, stop = plan.ranges[index]
    name, rank = f"{layer.name}_{index}", len(layer.y.shape)
    weight = editor.constant(f"{name}_weight", layer.weight[start:stop].astype(np.int8))
    constants = requant_constants(editor, name, rank, plan.multiplier, plan.addend(index), plan.shift)
    requant = Label(f"{name}_requant", editor.origin(layer.requant))
    return product(editor, x, weight, constants, Label(name, editor.origin(layer.matmul)), requant)


SPLIT = Pass(
    "ita_split",
    Phase.TARGET,
    run,
    "linear layers with more inputs than ITA's accumulator allows are divided, the cores add the shares",
    after=("ita_attention", "ita_convolution", "ita_gelu", "ita_softmax"),
    exact=None,
)
