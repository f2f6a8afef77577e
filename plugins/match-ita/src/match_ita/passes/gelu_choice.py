"""ITA's polynomial GELU instead of a table: its constants, those of the layer before it, and how far they are off.

With the input in steps of S, ITA gives ``g = -GELU / (0.2888 S (S / sqrt 2)^2 / 2)`` (sheet ita-arithmetic, 2.4), whose
sign cannot be turned. So the pass lets it compute ``-1 - y`` for the table's result y, all bits of it inverted: -128 to
127 become 127 to -128, nothing saturates that did not. S takes in what the table's own result can hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_quant import multipliers
from match_quant.expectation import Expectation, Reals
from match_quant.linear.layers import INT8_MAX, Ints, LinearLayer
from numpy.typing import NDArray

from match_ita.arithmetic import GeluConstants, RequantStep, gelu, gelu_constants
from match_ita.ita.limits import REQUANT
from match_ita.passes.gelu_fit import GeluTable

#: c = 1 / (-0.2888 S^2 / 2) must fit 16 bits.
_SCALE_MIN = 0.01454
#: A share of the negative part that is enough: GELU(-3.5) is -0.001.
_X_LEAST = 3.5
_ERF_A = 0.2888
#: Largest difference from the table's result and expected one (root mean square), in LSB.
DIFFERENCE_MAX, RMS_MAX = 5, 1.25


@dataclass(frozen=True, slots=True)
class GeluChoice:
    """The layer's new requantisation (results in steps of ``scale`` around 0), and ITA's constants after it.
    ``difference``: the largest from the table's result over all sums; ``rms``: the expected root mean square."""

    scale: float
    multiplier: Ints
    addend: Ints
    shift: int
    constants: GeluConstants
    difference: int
    rms: float


def choose(layer: LinearLayer, table: NDArray[np.int8], fitted: GeluTable, before: Expectation) -> GeluChoice | None:
    """For the layer whose result (of which ``before`` is expected) goes through the table; None where constants do not
    fit their registers."""
    slopes = layer.multiplier / 2.0**layer.shift
    if not np.any(slopes > 0):
        return None
    scale = _scale(table, fitted)
    offset = layer.addend / 2.0**layer.shift - 0.5 - fitted.zero_x
    moving = slopes[slopes > 0]
    ratio = fitted.scale_x / scale * float(moving[0])
    one = multipliers.nearest(ratio, REQUANT) if np.all(slopes == moving[0]) else None
    if one is not None and one.shift > 0:  # the layer gets ITA's constants, and S what belongs to them
        scale = fitted.scale_x * float(moving[0]) / one.slope
        multiplier, shift = np.array([one.multiplier], np.int64), one.shift
        bias = np.rint(offset * (fitted.scale_x / scale) / one.slope).astype(np.int64)
        addend = one.multiplier * bias + (1 << (shift - 1))
    else:
        shift = layer.shift - 1
        multiplier = np.rint(layer.multiplier * (fitted.scale_x / scale / 2)).astype(np.int64)
        addend = np.rint((offset * (fitted.scale_x / scale) + 0.5) * 2.0**shift).astype(np.int64)
    constants = _constants(scale, fitted)
    if constants is None:
        return None
    difference, rms = _distance(table, fitted, scale, constants, before)
    return GeluChoice(scale, multiplier, addend, shift, constants, difference, rms)


def _scale(table: NDArray[np.int8], fitted: GeluTable) -> float:
    """Steps of ITA's input: 127 of them reach the value of the table's last useful entry."""
    saturated = np.flatnonzero(table.reshape(-1) == INT8_MAX)
    last = int(saturated[0]) - 128 if saturated.size else INT8_MAX
    most = (last - fitted.zero_x) * fitted.scale_x
    least = min((fitted.zero_x + 128) * fitted.scale_x, _X_LEAST)
    return max(most / 127, least / 128, _SCALE_MIN)


def _constants(scale: float, fitted: GeluTable) -> GeluConstants | None:
    """b and c for inputs in steps of ``scale``, and a second requantisation that gives ``-1 - result``."""
    polynomial = gelu_constants(scale)
    step = multipliers.nearest(_ERF_A * scale**3 / 4 / fitted.scale_y, REQUANT)
    add = -round(fitted.zero_y) - 1
    if step is None or not -128 <= add <= 127:
        return None
    return GeluConstants(polynomial.b, polynomial.c, RequantStep(step.multiplier, step.shift, add))


def _distance(
    table: NDArray[np.int8], fitted: GeluTable, scale: float, constants: GeluConstants, before: Expectation
) -> tuple[int, float]:
    """Largest and expected difference for real-valued results of the layer, in fine steps over all that matters."""
    v = np.arange(-136.0, 136.0, 1 / 32)
    index = np.clip(np.floor(v + 0.5), -128, 127).astype(np.int64)
    expected = table.reshape(-1)[index + 128].astype(np.int64)
    x = np.clip(np.floor((v - fitted.zero_x) * (fitted.scale_x / scale) + 0.5), -128, 127).astype(np.int8)
    got = -1 - gelu(x, constants).astype(np.int64)
    error = np.abs(got - expected)
    weight = _density(v, before)
    return int(error.max()), float(np.sqrt((np.square(error) * weight).sum()))


def _density(v: Reals, before: Expectation) -> Reals:
    """Share of each step, over all channels as one normal distribution."""
    whole = before.merged()
    density = np.exp(-0.5 * np.square((v - whole.mean[0]) / whole.sd[0]))
    result: Reals = density / density.sum()
    return result
