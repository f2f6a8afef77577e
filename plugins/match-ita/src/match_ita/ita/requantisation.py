"""ITA's requantisation of a layer: the register values for (acc * M + B) / D.

``clip8(floor((multiplier * (acc + bias) + 2^(shift-1)) / 2^shift) + add)`` with a bias for each column and the other
numbers for all of them (ita_requantizer.sv; sheet ita-arithmetic, 2.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from match_ita.ita.limits import ACCUMULATOR_END, ADD_MAX, ADD_MIN, BIAS_END

Integers = NDArray[np.int64]

#: Largest size of an int8 activation.
_BYTE = 128
#: Larger addends would overflow where they are taken apart.
_ADDEND_END = 1 << 61
#: All adds, the smallest ones first.
_ADDS = tuple(sorted(range(ADD_MIN, ADD_MAX + 1), key=abs))


@dataclass(frozen=True, slots=True)
class ItaRequant:
    """``bias`` [K], or one for all columns."""

    multiplier: int
    shift: int
    bias: Integers
    add: int

    @property
    def addend(self) -> Integers:
        """B of ``floor((acc * M + B) / D)``, of the bias' shape."""
        half = (1 << self.shift) >> 1
        return self.multiplier * self.bias + half + (self.add << self.shift)


def with_addend(multiplier: int, shift: int, addend: Integers, sums: Integers | None = None) -> ItaRequant | None:
    """The numbers that have this ``addend`` [K] as their B, bit for bit; of several the one with the smallest add. With
    multiplier 0 no bias can carry anything. ``sums`` [K]: largest size of a column's sums, with which biases stay
    within the accumulator too."""
    if int(np.abs(addend).max(initial=0)) >= _ADDEND_END:
        return None
    rest = addend - ((1 << shift) >> 1)
    first = int(rest[:1].sum())  # one number in Python rules most adds out faster than arrays
    for add in _ADDS:
        if (first - (add << shift)) % multiplier if multiplier else first != add << shift:
            continue
        scaled = rest - (add << shift)
        if multiplier == 0 and not np.any(scaled):
            return ItaRequant(0, shift, np.zeros_like(addend), add)
        if multiplier == 0 or np.any(scaled % multiplier):
            continue
        bias = scaled // multiplier
        if biases_fit(bias) and (sums is None or sums_fit(sums, bias)):
            return ItaRequant(multiplier, shift, bias, add)
    return None


def biases_fit(bias: Integers) -> bool:
    """Whether biases fit their 24 bits."""
    return bool(np.all((bias >= -BIAS_END) & (bias < BIAS_END)))


def largest_sums(weight: Integers) -> Integers:
    """Largest size of the sums of each column of ``weight`` [C, K] for any int8 inputs."""
    result: Integers = _BYTE * np.abs(weight).sum(axis=0)
    return result


def sums_fit(sums: Integers, bias: Integers) -> bool:
    """Whether sums of these sizes and biases stay within the accumulator, which would wrap."""
    return int((sums + np.abs(bias)).max(initial=0)) < ACCUMULATOR_END
