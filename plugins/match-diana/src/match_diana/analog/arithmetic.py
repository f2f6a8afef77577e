"""The analog array's arithmetic in numpy (sheet 5.3).

One group of input channels is one conversion: inputs of 7 bits times cells of -1, 0, 1, divided by the gain, rounded
down and clipped to 6 bits. Groups are summed, then ``sum * multiplier + addend`` in 16 bits, a right shift, 7 bits.
Noise, drift and transfer curves of the converters are not public: this is the ideal array.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from match_diana.analog import limits

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Norm:
    """The stage after the converters: ``gain`` divides each group's sum; ``multiplier`` and ``addend`` (8 bits, one for
    each output channel) and ``shift`` scale the groups' sum; ``relu`` makes 0 the lower bound."""

    gain: int
    multiplier: Ints
    addend: Ints
    shift: int
    relu: bool

    @property
    def low(self) -> int:
        """The lower bound of the result."""
        return 0 if self.relu else limits.OUTPUT_MIN


def converted(sums: Ints, gain: int) -> Ints:
    """The converters' results for sums of one group."""
    return np.clip(sums // gain, limits.SUM_MIN, limits.SUM_MAX)
