"""ITA's products and softmax in numpy, bit for bit: what the twin and the bodies of the operators are compared with.

Rules of the hardware (pulp-platform/ITA: ita_softmax.sv), see the sheet ita-arithmetic, sections 2.2 to 2.5. Functions
take and return integer arrays.
"""

from __future__ import annotations

import numpy as np
from match_ita.arithmetic import Int8, Ints, RequantStep, requantise
from match_ita.ita.limits import GROUP
from numpy.typing import NDArray

UInt8 = NDArray[np.uint8]

#: One exponential of 2^0 in the row's sum.
_UNIT = 256


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


def relu(x: Int8, step: RequantStep) -> Int8:
    """max(x, 0) and the second requantisation (2.5)."""
    return requantise(np.maximum(x, 0).astype(np.int64), step)


def linear(x: Int8, weight: Int8, bias: Ints, step: RequantStep) -> Int8:
    """x [.., S, C] times weight [.., C, K] plus bias [.., K], requantised."""
    return requantise(product(x, weight) + np.expand_dims(bias.astype(np.int64), -2), step)


def product(a: NDArray[np.integer], b: NDArray[np.integer]) -> Ints:
    """Sums of products of 8-bit values, exact (doubles hold them and are fast)."""
    return np.rint(a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


def attention(
    q: Int8,
    k: Int8,
    vt: Int8,
    qk: RequantStep,
    av: RequantStep,
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
