"""Turns requantisation per column into one for the layer: the weights include the columns' factors.

ITA has one multiplier for a layer. With ``w'[c,k] = round(w[c,k] * slope[k] / slope)`` the columns require no
multipliers; the rounding error, ``e = slope * w' - slope[k] * w``, is an error of ``sum over c of e[c,k] x[c]`` in LSB
of the result. Its mean goes into the bias; the rest is judged by its expected size, from mean and standard deviation of
each channel of x (linear_expectation).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_quant import multipliers
from match_quant.expectation import Expectation
from match_quant.linear.layers import INT8_MAX, INT8_MIN, Ints, LinearLayer

from match_ita.ita.limits import REQUANT
from match_ita.ita.requantisation import ItaRequant
from match_ita.passes.linear_requant import through

#: The expected error (root mean square over all results) that is allowed, in LSB. Rounding an exact result to integers
#: has one of 0.29.
RMS_MAX = 0.5


@dataclass(frozen=True, slots=True)
class ScaledLayer:
    """The layer with new ``weight`` [C, K], ITA's constants, and the expected error in LSB (root mean square)."""

    weight: Ints
    requant: ItaRequant
    expected_rms: float


def scaled(layer: LinearLayer, x: Expectation) -> ScaledLayer | None:
    """The layer with one multiplier; None where the constants do not fit. ``x``: what is expected of the C inputs."""
    slopes = layer.multiplier / 2.0**layer.shift
    largest = float((slopes * np.abs(layer.weight).max(axis=0, initial=0)).max(initial=0.0)) / INT8_MAX
    factor = multipliers.above(largest, REQUANT) if largest > 0 else None
    if factor is None:
        return None
    weight = np.clip(np.rint(layer.weight * (slopes / factor.slope)), INT8_MIN, INT8_MAX).astype(np.int64)
    error = factor.slope * weight - slopes * layer.weight
    inputs = x.per_channel(layer.weight.shape[0], x.axis)
    offset = layer.addend / 2.0**layer.shift - 0.5 - inputs.mean @ error
    constant = slopes == 0
    offset[constant] = np.clip(np.floor(offset[constant] + 0.5), layer.lo, layer.hi)
    rms = float(np.sqrt(np.mean(np.square(inputs.sd) @ np.square(error))))
    requant = through(factor, np.zeros_like(offset), offset, offset, weight)
    return ScaledLayer(weight, requant, rms) if requant is not None else None
