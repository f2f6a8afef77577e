"""Mean, variance and share of zeros of numbers, by channel, as far as a graph tells them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The share of zeros in a graph's inputs, which are pictures (none), or what a Relu made (half): an estimate.
GIVEN = 0.2


@dataclass(frozen=True, slots=True)
class Expected:
    """By index of ``axis`` (counted from the end; None: the same everywhere): mean, variance, share of zeros [C]."""

    mean: Floats
    variance: Floats
    zero: Floats
    axis: int | None = None

    @property
    def zeros(self) -> float:
        """The share of zeros in all."""
        return float(np.mean(self.zero))

    @property
    def finite(self) -> bool:
        """Whether all of these are numbers, which those of hostile weights are not."""
        return all(bool(np.isfinite(values).all()) for values in (self.mean, self.variance, self.zero))

    def along(self, axis: int | None, size: int) -> Expected:
        """The same for an axis of another operand or a result: by its indices if these are channels, else for all."""
        if axis is not None and axis == self.axis and len(self.mean) == size:
            return self
        return self.merged()

    def merged(self) -> Expected:
        """The same for all channels together."""
        spread = np.mean(self.variance) + np.var(self.mean)
        return everywhere(float(np.mean(self.mean)), float(spread), self.zeros)

    def spread(self, change: Callable[[Floats], Floats], axis: int) -> Expected:
        """The same for the channels of another axis."""
        return Expected(change(self.mean), change(self.variance), change(self.zero), axis)


def everywhere(mean: float, variance: float, zero: float = 0.0) -> Expected:
    """The same for all numbers."""
    return Expected(np.full(1, mean), np.full(1, variance), np.full(1, zero))


#: Of numbers about which nothing is known, and of a graph's input.
UNKNOWN, INPUT = everywhere(0.0, 1.0), everywhere(0.0, 1.0, GIVEN)


def constant(values: NDArray[np.generic]) -> Expected:
    """Of numbers that are known: by the only axis with several, if there is one."""
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "fiu" or not numbers.size:
        return UNKNOWN
    flat = numbers.astype(np.float64).reshape(-1)
    long = [axis for axis, size in enumerate(numbers.shape) if size > 1]
    if len(long) <= 1:
        return Expected(flat, np.zeros(flat.size), (flat == 0) * 1.0, long[0] - numbers.ndim if long else None)
    return everywhere(float(flat.mean()), float(flat.var()), float(np.mean(flat == 0)))
