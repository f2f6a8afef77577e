"""A guess of what 8-bit activations look like, for choosing where a requantisation is exact. It never decides
correctness: every choice is within 1 LSB everywhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from match_core.transforms.quant import Quant

Reals = NDArray[np.float64]


#: Shares of the 8-bit range, as found on the activations of small public vision and audio networks: values behind a
#: ReLU are mostly zero or small; others spread around their zero point; real results lie around their zero point.
_RELU_MEAN, _RELU_SD = 0.05, 0.075
_LINEAR_SD = 0.08
_RESULT_SD = 0.12


def input_prior(quant: Quant) -> tuple[float, float]:
    """Mean and standard deviation of stored values. A zero point at the lower end tells of a ReLU."""
    span = float(quant.hi - quant.lo)
    if quant.zero <= quant.lo + span / 16:
        return quant.zero + _RELU_MEAN * span, _RELU_SD * span
    return float(quant.zero), _LINEAR_SD * span


def result_prior(quant: Quant) -> tuple[float, float]:
    """Mean and standard deviation of unclipped results in LSB: calibration chose the range around them."""
    limits = np.iinfo(quant.dtype)
    return float(quant.zero), _RESULT_SD * float(limits.max - limits.min)


def combine(first: tuple[Reals, Reals], second: tuple[Reals, Reals]) -> tuple[Reals, Reals]:
    """Mean and standard deviation of the product of two normal densities."""
    (mean_a, sd_a), (mean_b, sd_b) = first, second
    weight_a, weight_b = 1 / np.square(sd_a), 1 / np.square(sd_b)
    total = weight_a + weight_b
    return (mean_a * weight_a + mean_b * weight_b) / total, np.sqrt(1 / total)
