"""Chooses the scale of a tensor: a balance of resolution, clipping, and use of the 8 bits of its layers' weights.

A layer's weights are scaled by a power of two, so the largest of them lies anywhere between 64 and 127. A scale of the
result that is a little smaller or larger moves it to 127. The choice compares squared errors of the result: rounding
and clipping of the tensor itself against rounding of the weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from match_quant.powers.graph import Activation, bounds
from match_quant.powers.weights import WEIGHT_MAX

#: Estimate: the density of values after a ReLU falls exponentially from 0, those of other tensors to both sides of it;
#: the mean of the distribution as a share of the end of the range that calibration found (0.03 to 0.2 in small public
#: vision and audio networks). It decides how much of a range may be cut off, within the limits below.
_MEAN = 0.085
_CANDIDATES = 49


@dataclass(frozen=True, slots=True)
class Range:
    """``steps`` integers hold the range of a tensor. The scale may be ``low`` to ``high`` times the one at which they
    hold all of it."""

    steps: int
    low: float
    high: float


#: Zero point 0; a range that begins at its zero point; others, of which the ends may be what decides (results of
#: classifiers), so that nothing is cut off.
CENTRAL, RECTIFIED, WHOLE = Range(127, 0.8, 1.0), Range(255, 0.8, 1.4), Range(255, 1.0, 1.4)


@dataclass(frozen=True, slots=True)
class Filling:
    """A layer that writes the tensor, of which the input is decided: the ``largest`` real value of one step of the
    input times a weight, and the squared error that rounding the weights is expected to make, in their own steps."""

    largest: float
    variance: float

    def loss(self, scale: float) -> float:
        """Expected squared error in real units for this scale of the result."""
        if self.largest == 0:
            return 0.0
        shift = math.ceil(math.log2((WEIGHT_MAX + 0.5) * scale / self.largest)) - 1
        return self.variance * scale**2 * 4.0**-shift


def best_scale(members: Sequence[Activation], kind: Range, layers: Sequence[Filling]) -> float:
    """The scale for tensors that share one."""
    alone = [_extent(member, kind) / kind.steps for member in members]
    if len(members) == 1 and members[0].limited:
        return alone[0]  # its upper end is the bound of the result, which must be the unit's
    tried = np.geomspace(kind.low * min(alone), kind.high * max(alone), _CANDIDATES)
    return min(
        (float(scale) for scale in tried),
        key=lambda scale: (
            sum(_loss(member, kind, scale) for member in members) + sum(layer.loss(scale) for layer in layers)
        ),
    )


def _extent(activation: Activation, kind: Range) -> float:
    low, high = bounds(activation.quant)
    extent = max(high, -low * 127 / 128) if kind is CENTRAL else high - low
    return extent if extent > 0 else activation.quant.scale  # nothing but zeros


def _loss(activation: Activation, kind: Range, scale: float) -> float:
    """Expected squared error of rounding to ``scale`` and of clipping at its last step."""
    extent = _extent(activation, kind)
    last, mean = scale * kind.steps, _MEAN * extent
    beyond = 2 * mean**2 * math.exp(-last / mean) if last < extent else 0.0
    return scale**2 / 12 + beyond
