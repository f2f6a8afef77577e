"""ITA's requantisation that is nearest to a real-valued factor."""

from __future__ import annotations

from dataclasses import dataclass

#: Register widths (ita_requantizer.sv): the multiplier is an unsigned byte, shifts are legal up to 33.
MULTIPLIER_MAX, SHIFT_MAX = 255, 33


@dataclass(frozen=True, slots=True)
class EightBit:
    """``multiplier`` / 2^``shift`` stands for a factor; ``error``: how far a product is off before it is rounded, at
    the end of the range of accumulators, in LSB of the result."""

    multiplier: int
    shift: int
    error: float

    @property
    def slope(self) -> float:
        """The factor itself."""
        return self.multiplier / float(1 << self.shift)


def nearest(slope: float, acc_bound: int) -> EightBit | None:
    """The representable factor with the least relative error, None where there is none (slope <= 0 or above 255, or
    so small that it rounds to 0). ``acc_bound``: largest size of an accumulator whose result does not saturate."""
    best: EightBit | None = None
    for shift in range(SHIFT_MAX + 1):
        multiplier = round(slope * (1 << shift))
        if not 1 <= multiplier <= MULTIPLIER_MAX:
            continue
        found = EightBit(multiplier, shift, abs(multiplier / (1 << shift) - slope) * acc_bound)
        if best is None or found.error <= best.error:  # of equal factors the one with the larger multiplier
            best = found
    return best
