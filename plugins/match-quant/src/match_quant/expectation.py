"""Known bounds and estimated statistics of the values of an 8-bit tensor, per channel.

Known: the range that the integer arithmetic before it can reach (a channel after a ReLU whose weights cannot make it
positive is always zero). Estimated: mean and standard deviation, propagated from the graph inputs through the weights.
The bounds decide whether sums can overflow; the estimate only decides where a requantisation is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from match_core.ir.reader import Quant
from numpy.typing import NDArray

Number = TypeVar("Number", np.int64, np.float64)
Ints = NDArray[np.int64]
Reals = NDArray[np.float64]

# Estimates, found on small public vision and audio networks. Only the share of 1-LSB differences depends on them.
_INPUT_SD = 0.2  # of the range, around its middle: graph inputs
_RELU_MEAN, _RELU_SD = 0.05, 0.075  # of the range: unknown tensors with the zero point at the lower end
_LINEAR_SD = 0.08  # of the range, around the zero point: other unknown tensors
_RESULT_SD = 0.5  # of the range, around the zero point: results of linear operators, before clipping
_NEIGHBOURS = 0.5  # correlation of values of one channel under the same window
_INPUT_NEIGHBOURS = 0.7  # the same in graph inputs
_GAIN_SD = 0.2  # all values of a tensor are larger or smaller together, relative
_POOLED = 0.5  # spread of a window's mean, relative to the spread of single values


@dataclass(frozen=True, slots=True)
class Expectation:
    """Arrays of length C (one entry per index of ``axis``) or 1 (all alike), in stored integers."""

    lo: Ints
    hi: Ints
    mean: Reals
    sd: Reals
    axis: int = 1
    neighbours: float = _NEIGHBOURS

    def bounds(self) -> tuple[int, int]:
        """The range of the whole tensor."""
        return int(self.lo.min()), int(self.hi.max())

    def per_channel(self, count: int, axis: int) -> Expectation:
        """The same with ``count`` entries along ``axis``; entries differ only if they already did."""
        source = self if self.axis == axis and self.lo.size in (1, count) else self.merged()
        return replace(
            source,
            lo=np.broadcast_to(source.lo, (count,)),
            hi=np.broadcast_to(source.hi, (count,)),
            mean=np.broadcast_to(source.mean, (count,)),
            sd=np.broadcast_to(source.sd, (count,)),
            axis=axis,
        )

    def merged(self) -> Expectation:
        """One entry for all channels."""
        mean = self.mean.mean(keepdims=True)
        sd = np.sqrt(np.square(self.sd).mean(keepdims=True) + self.mean.var(keepdims=True))
        return replace(self, lo=self.lo.min(keepdims=True), hi=self.hi.max(keepdims=True), mean=mean, sd=sd)

    def reshaped(self, before: Sequence[int], after: Sequence[int]) -> Expectation:
        """After a Reshape. [1, C, ...] to [1, C * ...] keeps channels separate, other shapes merge them."""
        if self.lo.size == 1 or tuple(before) == tuple(after):
            return self
        if self.axis == 1 and len(before) > 1 and len(after) > 1 and before[0] == after[0] == 1:
            if after[1] == before[1]:
                return self
            if after[1] % before[1] == 0 and after[1] == int(np.prod(before[1:])):
                times = after[1] // before[1]
                return replace(
                    self,
                    lo=np.repeat(self.lo, times),
                    hi=np.repeat(self.hi, times),
                    mean=np.repeat(self.mean, times),
                    sd=np.repeat(self.sd, times),
                )
        return self.merged()


def joined(parts: Sequence[tuple[Expectation, int]], axis: int) -> Expectation:
    """After a Concat along ``axis`` of tensors with these sizes on it."""
    if all(part.axis == axis for part, _ in parts):
        each = [part.per_channel(size, axis) for part, size in parts]
        lo, hi = (np.concatenate([getattr(part, end) for part in each]) for end in ("lo", "hi"))
        mean, sd = (np.concatenate([getattr(part, name) for part in each]) for name in ("mean", "sd"))
        return replace(each[0], lo=lo, hi=hi, mean=mean, sd=sd)
    first = parts[0][0]
    alike = all(part.axis == first.axis and part.lo.size == first.lo.size for part, _ in parts)
    each = [part if alike else part.merged() for part, _ in parts]
    return replace(
        each[0],
        lo=np.minimum.reduce([part.lo for part in each]),
        hi=np.maximum.reduce([part.hi for part in each]),
        mean=np.mean([part.mean for part in each], axis=0),
        sd=np.sqrt(np.mean([np.square(part.sd) for part in each], axis=0)),
    )


def graph_input(quant: Quant) -> Expectation:
    """Values of a graph input: anything in its range, usually around the middle."""
    span = float(quant.hi - quant.lo)
    return _single(quant, quant.lo + span / 2, _INPUT_SD * span, _INPUT_NEIGHBOURS)


def of_values(values: Ints) -> Expectation:
    """Values of a constant."""
    lo, hi = values.min(keepdims=True).reshape(1), values.max(keepdims=True).reshape(1)
    return Expectation(lo, hi, np.array([values.mean()]), np.array([max(float(values.std()), 0.5)]))


def unknown(quant: Quant) -> Expectation:
    """Values of a tensor with an unsupported producer. A zero point at the lower end indicates a ReLU."""
    span = float(quant.hi - quant.lo)
    if quant.zero <= quant.lo + span / 16:
        return _single(quant, quant.zero + _RELU_MEAN * span, _RELU_SD * span)
    return _single(quant, float(quant.zero), _LINEAR_SD * span)


def _single(quant: Quant, mean: float, sd: float, neighbours: float = _NEIGHBOURS) -> Expectation:
    lo, hi = np.array([quant.lo], np.int64), np.array([quant.hi], np.int64)
    return Expectation(lo, hi, np.array([mean]), np.array([max(sd, 0.5)]), neighbours=neighbours)


def of_sum(x: Expectation, weight: Ints, group: int) -> Expectation:
    """Values of ``sum(weight * x)``: ``weight`` is (outputs, inputs / group, taps), ``x`` has an entry for each input.
    The result has one entry per output, in accumulator units; lo and hi are reachable bounds."""
    outputs, inputs, _ = weight.shape
    rows = weight.reshape(group, outputs // group, inputs, -1)

    def over_taps(values: NDArray[Number]) -> NDArray[Number]:
        """The sum over taps; sums of single elements take numpy long."""
        found: NDArray[Number] = values[..., 0] if values.shape[3] == 1 else values.sum(axis=3)
        return found

    columns = (group, 1, inputs)
    positive, negative = over_taps(np.maximum(rows, 0)), over_taps(np.minimum(rows, 0))
    lo, hi = x.lo.reshape(columns), x.hi.reshape(columns)
    total = (positive + negative).astype(np.float64)
    squares = over_taps(np.square(rows.astype(np.float64)))
    share = x.neighbours
    mean = (total * x.mean.reshape(columns)).sum(axis=2).reshape(-1)
    variance = ((share * np.square(total) + (1 - share) * squares) * np.square(x.sd.reshape(columns))).sum(axis=2)
    return Expectation(
        lo=(positive * lo + negative * hi).sum(axis=2).reshape(-1),
        hi=(positive * hi + negative * lo).sum(axis=2).reshape(-1),
        mean=mean,
        sd=np.sqrt(np.maximum(variance.reshape(-1) + np.square(_GAIN_SD * mean), 1.0)),
    )


def of_product(a: tuple[float, float], b: tuple[float, float], depth: int) -> tuple[Reals, Reals]:
    """Estimated mean and standard deviation of ``sum(x * y)`` over ``depth`` independent pairs; ``a`` and ``b`` are
    those of x and y."""
    (mean_a, sd_a), (mean_b, sd_b) = a, b
    mean = np.array([depth * mean_a * mean_b])
    single = (sd_a * sd_b) ** 2 + (mean_a * sd_b) ** 2 + (mean_b * sd_a) ** 2
    return mean, np.sqrt(depth * single + np.square(_GAIN_SD * mean))


def with_result_prior(mean: Reals, sd: Reals, result: Quant) -> tuple[Reals, Reals]:
    """Estimate of unclipped results (in LSB of ``result``), moved slightly towards the zero point: calibration chose
    the range around the values that occurred."""
    limits = np.iinfo(result.dtype)
    weight_a, weight_b = 1 / np.square(sd), 1 / (_RESULT_SD * float(limits.max - limits.min)) ** 2
    total = weight_a + weight_b
    return (mean * weight_a + result.zero * weight_b) / total, np.sqrt(1 / total)


def clipped(mean: Reals, sd: Reals, lo: Ints, hi: Ints, axis: int = 1) -> Expectation:
    """Values of a normally distributed result after rounding and clipping to per-channel bounds."""
    steps = np.linspace(-4.0, 4.0, 81)
    weight = np.exp(-0.5 * np.square(steps))
    weight /= weight.sum()
    values = np.clip(mean[:, None] + sd[:, None] * steps, lo[:, None], hi[:, None])
    centre = (values * weight).sum(axis=1)
    spread = np.sqrt((np.square(values - centre[:, None]) * weight).sum(axis=1))
    return Expectation(lo, hi, centre, np.maximum(spread, 0.5), axis)


def pooled(mean: Reals, sd: Reals) -> tuple[Reals, Reals]:
    """Estimate of means over windows, from the estimate of single values."""
    return mean, _POOLED * sd
