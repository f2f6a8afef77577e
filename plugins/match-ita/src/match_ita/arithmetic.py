"""ITA's arithmetic in numpy, bit for bit: what the twin and the bodies of the operators are compared with.

Rules of the hardware (pulp-platform/ITA: ita_requantizer.sv, ita_softmax.sv, ita_gelu.sv), see the sheet
ita-arithmetic, sections 2.1 to 2.5. All functions take and return integer arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from match_ita.ita_limits import ADD_MAX, ADD_MIN, GELU_END, GROUP, MULTIPLIER_MAX, SHIFT_MAX

Ints = NDArray[np.signedinteger]
Int8 = NDArray[np.int8]
UInt8 = NDArray[np.uint8]

#: One exponential of 2^0 in the row's sum.
_UNIT = 256
#: Coefficients of the second order polynomial that stands for erf (I-BERT, https://arxiv.org/abs/2101.01321).
_ERF_A, _ERF_B = -0.2888, -1.769


@dataclass(frozen=True, slots=True)
class Step:
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
    """``b`` < 0 and ``c`` < 0 (16 bits), and the requantisation behind. The result is -GELU(x) / scale."""

    b: int
    c: int
    step: Step


def requantise(acc: Ints, step: Step) -> Int8:
    """clip(floor(multiplier * acc / 2^shift + 1/2) + add) to int8: half rounds up (2.1)."""
    product = acc.astype(np.int64) * step.multiplier
    half = (1 << step.shift) >> 1
    result: Int8 = np.clip(((product + half) >> step.shift) + step.add, -128, 127).astype(np.int8)
    return result


def itamax(logits: Int8, shift: int, numerator: int, group: int = GROUP) -> UInt8:
    """Streaming softmax in powers of two along the last axis, whose size is a multiple of ``group`` (2.3)."""
    x = logits.astype(np.int64)
    if x.shape[-1] % group:
        raise ValueError(f"{x.shape[-1]} columns are no multiple of {group}")
    top = np.full(x.shape[:-1], -128, np.int64)
    total = np.zeros(x.shape[:-1], np.int64)
    for start in range(0, x.shape[-1], group):
        columns = x[..., start : start + group]
        risen = np.maximum(top, columns.max(axis=-1))
        weights = _UNIT >> _exponent(risen[..., None] - columns, shift)
        total = (total >> _exponent(risen - top, shift)) + weights.sum(axis=-1)
        top = risen
    inverse = numerator // total
    return (inverse[..., None] >> _exponent(top[..., None] - x, shift)).astype(np.uint8)


def _exponent(distance: Ints, shift: int) -> Ints:
    """A distance of logits as a number of halvings, rounded half up. At most 62, so that numpy can shift by it."""
    halvings: Ints = np.minimum((distance + ((1 << shift) >> 1)) >> shift, 62)
    return halvings


def gelu(x: Int8, constants: GeluConstants) -> Int8:
    """The polynomial GELU, negated (2.4)."""
    return requantise(gelu_polynomial(x, constants.b, constants.c)[1], constants.step)


def gelu_polynomial(x: Ints, b: int, c: int | Ints) -> tuple[Ints, Ints]:
    """The polynomial that stands for erf, and its product with x (2.4). Constants c [.., 1] give a row each."""
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
    return GeluConstants(b, c, Step(multiplier, shift))


def relu(x: Int8, step: Step) -> Int8:
    """max(x, 0) and the second requantisation (2.5)."""
    return requantise(np.maximum(x, 0).astype(np.int64), step)


def linear(x: Int8, weight: Int8, bias: Ints, step: Step) -> Int8:
    """x [.., S, C] times weight [.., C, K] plus bias [.., K], requantised."""
    return requantise(product(x, weight) + np.expand_dims(bias.astype(np.int64), -2), step)


def product(a: NDArray[np.integer], b: NDArray[np.integer]) -> Ints:
    """Sums of products of 8-bit values, exact (doubles hold them and are fast)."""
    return np.rint(a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


def attention(
    q: Int8,
    k: Int8,
    vt: Int8,
    qk: Step,
    av: Step,
    heads: int,
    shift: int,
    numerator: int,
    group: int = GROUP,
) -> Int8:
    """softmax(q k^T) v of each head: q [S, HP], k [T, HP], vt [HP, Tp] -> [S, HP]. Logits of the columns T to Tp are
    -128."""
    columns = vt.shape[1]
    by_head = [np.stack(np.split(x, heads, axis=1)) for x in (q, k)]
    logits = requantise(product(by_head[0], by_head[1].transpose(0, 2, 1)), qk)
    padded = np.pad(logits, ((0, 0), (0, 0), (0, columns - k.shape[0])), constant_values=-128)
    weights = itamax(padded, shift, numerator, group)
    values = np.stack(np.split(vt, heads, axis=0)).transpose(0, 2, 1)
    result = requantise(product(weights, values), av)
    return np.concatenate(list(result), axis=1)
