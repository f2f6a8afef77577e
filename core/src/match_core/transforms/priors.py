"""A guess of what 8-bit activations look like, for choosing where a requantisation is exact. It never decides
correctness: every choice is within 1 LSB everywhere."""

from __future__ import annotations

from match_core.transforms.quant import Quant


def input_prior(quant: Quant) -> tuple[float, float]:
    """Mean and standard deviation of stored values. With the zero point at the lower end (after a ReLU) values are
    taken as half-normal, else as normal around the zero point."""
    span = float(quant.hi - quant.lo)
    if quant.zero <= quant.lo + span / 16:
        return quant.zero + 0.12 * span, 0.15 * span
    return float(quant.zero), 0.15 * span
