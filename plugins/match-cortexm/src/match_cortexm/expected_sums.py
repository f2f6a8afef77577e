"""What operators that compute make of expected numbers.

Sums of many terms are nearly normal, whatever the terms are (central limit theorem). The mean of max(0, x) of a normal
x with mean m and standard deviation s is m F(m / s) + s f(m / s), that of its square (m^2 + s^2) F(m / s) + m s f(m /
s), with the standard normal distribution F and its density f.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import erf, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.geometry import channels_last
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant

from match_cortexm.expected import UNKNOWN, Expected, everywhere

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs

    from match_cortexm.expected import Floats

Rule = Callable[["gs.Node", Sequence[Expected]], Expected]


def _normal(x: Floats) -> Floats:
    """The standard normal distribution."""
    return np.array([0.5 * (1 + erf(value / sqrt(2))) for value in x])


def rectified(below: float | None) -> Rule:
    """Relu and what resembles it; results for numbers up to ``below`` are 0, those for 0 always."""

    def rule(node: gs.Node, read: Sequence[Expected]) -> Expected:
        x = read[0]
        deviation = np.sqrt(np.maximum(x.variance, 1e-12))
        at = x.mean / deviation
        density = np.exp(-at * at / 2) / np.sqrt(2 * pi)
        mean = x.mean * _normal(at) + deviation * density
        square = (x.mean**2 + x.variance) * _normal(at) + x.mean * deviation * density
        zero = x.zero if below is None else np.maximum(_normal(below / deviation - at), x.zero)
        return Expected(mean, np.maximum(square - mean**2, 0), zero, x.axis)

    return rule


def clip(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """Limits from 0 on work as Relu does, other ones leave nearly all numbers as they are."""
    least = node.inputs[1] if len(node.inputs) > 1 else None
    if least is None or not is_constant(least) or bool(np.any(least.values)):
        return read[0]
    return rectified(0.0)(node, read)


def convolution(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """Sums of products with weights (K, C, ...)."""
    if not is_constant(node.inputs[1]):
        return UNKNOWN
    weight = node.inputs[1].values.astype(np.float64)
    outputs, inputs = weight.shape[:2]
    rows = weight.reshape(outputs, inputs, -1)
    groups = int(node.attrs.get("group", 1))
    axis = -1 if channels_last(node) else 1 - weight.ndim
    x = read[0].along(axis, inputs * groups)
    mean, variance = (
        np.repeat(np.broadcast_to(value, inputs * groups).reshape(groups, inputs), outputs // groups, 0)
        for value in (x.mean, x.variance)
    )
    sums, squares = rows.sum(2), (rows**2).sum(2)
    bias = _bias(node, 2, outputs)
    return Expected((sums * mean).sum(1) + bias, (squares * variance).sum(1), np.zeros(outputs), axis)


def product(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """A matrix product with weights (C, K), or (K, C) if they are transposed."""
    if not is_constant(node.inputs[1]) or node.inputs[1].values.ndim != 2 or node.attrs.get("transA", 0):
        return UNKNOWN
    weight = node.inputs[1].values.astype(np.float64)
    weight = weight.T if node.attrs.get("transB", 0) else weight
    inputs, outputs = weight.shape
    x = read[0].along(-1, inputs)
    mean, variance = (np.broadcast_to(value, inputs) for value in (x.mean, x.variance))
    return Expected(mean @ weight + _bias(node, 2, outputs), variance @ weight**2, np.zeros(outputs), -1)


def _bias(node: gs.Node, index: int, size: int) -> Floats:
    tensor = node.inputs[index] if len(node.inputs) > index else None
    if tensor is None or not is_constant(tensor) or tensor.values.size not in (1, size):
        return np.zeros(size)
    return np.broadcast_to(tensor.values.reshape(-1).astype(np.float64), size)


def _pair(node: gs.Node, read: Sequence[Expected]) -> tuple[Expected, Expected]:
    """Both operands by the channels of one of them."""
    one, other = read[:2]
    axis, size = (one.axis, len(one.mean)) if one.axis is not None else (other.axis, len(other.mean))
    pair = one.along(axis, size), other.along(axis, size)
    return pair if len(pair[0].mean) >= len(pair[1].mean) else (replace(pair[0], axis=axis), pair[1])


def added(sign: int) -> Rule:
    """Sums, or differences."""

    def rule(node: gs.Node, read: Sequence[Expected]) -> Expected:
        x, y = _pair(node, read)
        return Expected(x.mean + sign * y.mean, x.variance + y.variance, x.zero * y.zero, x.axis)

    return lambda node, read: reduce(lambda x, y: rule(node, (x, y)), read)


def times(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """Products of independent numbers."""
    x, y = _pair(node, read)
    variance = x.variance * y.variance + x.variance * y.mean**2 + y.variance * x.mean**2
    return Expected(x.mean * y.mean, variance, 1 - (1 - x.zero) * (1 - y.zero), x.axis)


def divided(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """Quotients are 0 where the dividend is."""
    return replace(UNKNOWN, zero=np.full(1, read[0].zeros))


def normalised(node: gs.Node, read: Sequence[Expected]) -> Expected:
    """Means and variances are 0 and 1 before scale and bias; BatchNormalization has stored ones."""
    size = len(read[1].mean)
    scale, bias = (np.broadcast_to(one.mean, size) for one in (read[1], read[2] if len(read) > 2 else everywhere(0, 0)))
    axis = 1 - len(shape_of(node.inputs[0])) if node.op != "LayerNormalization" else -1
    if node.op != "BatchNormalization":
        return Expected(bias, scale**2, np.zeros(size), axis)
    x, factor = read[0].along(axis, size), scale / np.sqrt(read[4].mean + float(node.attrs.get("epsilon", 1e-5)))
    return Expected((x.mean - read[3].mean) * factor + bias, x.variance * factor**2, np.zeros(size), axis)


def always(mean: float, variance: float) -> Rule:
    """Results of known size, whatever is read: estimates."""
    return lambda node, read: everywhere(mean, variance)
