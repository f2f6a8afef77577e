"""Signal to quantisation noise, and how often two results choose the same class."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Noise:
    """Sums of squares of the original values (``signal``) and of the differences to them (``noise``)."""

    signal: float = 0.0
    noise: float = 0.0

    def __add__(self, other: Noise) -> Noise:
        return Noise(self.signal + other.signal, self.noise + other.noise)

    @property
    def sqnr_db(self) -> float:
        """10 log10(signal / noise) in dB: inf where nothing differs, -inf where the original is 0 everywhere,
        or the noise is infinite."""
        if self.noise == 0:
            return math.inf
        ratio = self.signal / self.noise
        return 10 * math.log10(ratio) if ratio > 0 else -math.inf


def noise_of(original: Array, got: Array) -> Noise:
    """Of two arrays of real values of one shape. Where the original is not finite, an equal value counts as no noise;
    any other difference to or from a value that is not finite is infinite noise."""
    if original.shape != got.shape:
        return Noise(1.0, math.inf)
    wanted, found = (array.astype(np.float64) for array in (original, got))
    finite = np.isfinite(wanted) & np.isfinite(found)
    same = (wanted == found) | (np.isnan(wanted) & np.isnan(found))
    if not np.all(finite | same):
        return Noise(1.0, math.inf)
    with np.errstate(over="ignore"):
        signal = float(np.square(wanted[finite]).sum())
        return Noise(signal, float(np.square(wanted[finite] - found[finite]).sum()))


def agreement(original: Array, got: Array, tie: float) -> float:
    """The share of rows [rows, classes] in which the original gives the class that ``got`` chooses its largest value,
    or one that is at most ``tie`` smaller. 1 without rows."""
    if not len(original):
        return 1.0
    wanted = original.astype(np.float64)
    chosen = np.take_along_axis(wanted, got.astype(np.float64).argmax(axis=1)[:, None], axis=1)[:, 0]
    with np.errstate(invalid="ignore"):
        return float(np.mean(~(wanted.max(axis=1) - chosen > tie)))
