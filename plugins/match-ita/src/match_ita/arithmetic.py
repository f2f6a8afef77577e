"""ITA's requantisation and GELU in numpy, bit for bit.

Rules of the hardware (pulp-platform/ITA: ita_requantizer.sv, ita_gelu.sv), see the sheet
ita-arithmetic, sections 2.1 and 2.4. All functions take and return integer arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from match_ita.ita.limits import ADD_MAX, ADD_MIN, GELU_END, MULTIPLIER_MAX, SHIFT_MAX

Ints = NDArray[np.signedinteger]
Int8 = NDArray[np.int8]

#: Coefficients of the second order polynomial that approximates erf (I-BERT, https://arxiv.org/abs/2101.01321).
_ERF_A, _ERF_B = -0.2888, -1.769


@dataclass(frozen=True, slots=True)
class RequantStep:
    """Requantisation of one step: ``multiplier`` 0..255, ``shift`` 0..33, ``add`` -128..127."""

    multiplier: int
    shift: int
    add: int = 0

    def __post_init__(self) -> None:
        registers = 0 <= self.multiplier <= MULTIPLIER_MAX and 0 <= self.shift <= SHIFT_MAX
        if not (registers and ADD_MIN <= self.add <= ADD_MAX):
            raise ValueError(f"ITA cannot requantise with {self}")

    @property
    def requant(self) -> tuple[int, int, int]:
        """M, B and D of floor((acc * M + B) / D)."""
        divisor = 1 << self.shift
        return self.multiplier, (divisor >> 1) + self.add * divisor, divisor


@dataclass(frozen=True, slots=True)
class GeluConstants:
    """``b`` < 0 and ``c`` < 0 (16 bits), and the requantisation after them. The result is -GELU(x) / scale."""

    b: int
    c: int
    step: RequantStep


def requantise(acc: Ints, step: RequantStep) -> Int8:
    """clip(floor(multiplier * acc / 2^shift + 1/2) + add) to int8: half rounds up (2.1)."""
    product = acc.astype(np.int64) * step.multiplier
    half = (1 << step.shift) >> 1
    result: Int8 = np.clip(((product + half) >> step.shift) + step.add, -128, 127).astype(np.int8)
    return result


def gelu(x: Int8, constants: GeluConstants) -> Int8:
    """The polynomial GELU, negated (2.4)."""
    return requantise(gelu_polynomial(x, constants.b, constants.c)[1], constants.step)


def gelu_polynomial(x: Ints, b: int, c: int | Ints) -> tuple[Ints, Ints]:
    """The polynomial that approximates erf, and its product with x (2.4). Constants c [.., 1] give a row each."""
    wide = x.astype(np.int64)
    distance = np.minimum(np.abs(wide), -b) + b
    polynomial = distance * distance + c
    return polynomial, wide * (np.where(wide < 0, -polynomial, polynomial) + c)


def gelu_constants(scale: float, shift: int = 20) -> GeluConstants:
    """Constants for inputs of this ``scale``; the result has scale -``scale`` (PyITA's rule, 2.4)."""
    inner = scale / np.sqrt(2.0)
    b = max(round(_ERF_B / inner), -GELU_END)
    c = max(round(1.0 / (_ERF_A * inner**2)), -GELU_END)
    multiplier = min(round(-_ERF_A * inner**2 / 2 * 2**shift), 127)
    return GeluConstants(b, c, RequantStep(multiplier, shift))
