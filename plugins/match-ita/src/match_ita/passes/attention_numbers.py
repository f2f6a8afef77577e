"""The numbers of attention on ITA: symmetric q, k and v, and requantisation of both products in 8 bits.

ITA multiplies q, k and v as they are, so their zero points must be 0: the linear layers give
``ratio * (value - zero)``, with a ratio below 1 by as much as the zero point takes of the range. ITAMax halves a weight
for every 2^shift steps of a logit, so a step is ln 2 / 2^shift (sheet ita-arithmetic, 2.3). Probabilities have a
unit of 256 / numerator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from match_ita.arithmetic import Step
from match_ita.ita_interfaces import BLOCK
from match_ita.passes.attention_affine import Affine, integers, scalar
from match_ita.passes.attention_match import Heads, NotAttentionError, Projection
from match_ita.passes.requant_search import nearest

Ints = NDArray[np.int64]

#: Largest error that 8 bits of a multiplier may cause, at the ends of the range, in LSB of the result.
ERROR_MAX = 1.0
#: Keys of attention: 15 tiles of 64 (the registers' fields have 4 bits).
COLUMNS_MAX = 15 * BLOCK
#: Columns of a head: sums of as many products fit the accumulator (sheet ita-arithmetic, 2.6).
HEAD_MAX = 512
#: Bits of a new multiplier, as the core's own ones have (match_core/transforms/requant.py).
_MULTIPLIER_BITS = 24
_SHIFT_MAX = 48
#: A weight of 256 is gone after so many halvings.
_HALVINGS = 9


@dataclass(frozen=True, slots=True)
class ItaMax:
    """ITA's softmax: ``shift`` and ``numerator`` of the hardware, ``group`` columns at once."""

    shift: int
    numerator: int
    group: int = 16

    @property
    def step(self) -> float:
        """What one step of a logit is."""
        return float(np.log(2.0)) / (1 << self.shift)

    @property
    def lightest(self) -> int:
        """With a row's largest logit at least this, a logit of -128 has no weight; above 127 where there is none."""
        half = (1 << self.shift) >> 1
        return -128 + (_HALVINGS << self.shift) - half


@dataclass(frozen=True, slots=True)
class Symmetric:
    """A linear layer whose result is ``ratio * (value - zero)`` of a projection, heads one behind the other, each with
    columns of zeros up to a multiple of a block. ``weight`` [C, K], ``multiplier`` and ``addend`` [K]."""

    weight: Ints
    multiplier: Ints
    addend: Ints
    shift: int
    lo: int
    hi: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Design:
    """Everything about one attention in ITA's numbers."""

    q: Symmetric
    k: Symmetric
    v: Symmetric
    qk: Step
    av: Step


def approximate(heads: Heads, softmax: ItaMax) -> Design:
    """The nearest that ITA can do to a softmax of real numbers; NotAttentionError where that is not near enough."""
    if heads.size > HEAD_MAX:
        raise NotAttentionError(f"heads have {heads.size} columns, more than {HEAD_MAX}")
    q, k, v = (symmetric(projection) for projection in (heads.q, heads.k, heads.v))
    qk = logit_step(logits_of(heads), q.ratio * k.ratio, heads.k.rows, softmax)
    return Design(q, k, v, qk, value_step(heads, v.ratio, softmax.numerator / 256))


def symmetric(projection: Projection) -> Symmetric:
    """The linear layer of a projection with zero point 0. Where all columns have one multiplier, the ratio is lowered
    until the new one has 8 bits."""
    layer, line, zero = projection.layer, projection.affine, projection.zero
    slope = layer.multiplier / 2.0**layer.shift * line.slope
    offset = (layer.addend / 2.0**layer.shift - 0.5) * line.slope + line.offset - zero
    ratio = min(1.0, 127.0 / max(line.hi - zero, zero - line.lo - 1, 1))
    if np.all(slope == slope[0]) and slope[0] > 0:
        ratio = _eight_bits_below(ratio * float(slope[0])) / float(slope[0])
    columns = padded_columns(projection.columns)
    real = columns >= 0
    weight = np.where(real, layer.weight[:, columns], 0)
    slopes, offsets = ratio * slope[columns], np.where(real, ratio * offset[columns], 0.0)
    shift = min(_SHIFT_MAX, _MULTIPLIER_BITS - 1 - int(np.floor(np.log2(max(slopes.max(), 2.0**-40)))))
    if shift < 0:
        raise NotAttentionError("a multiplier of a linear layer is too large")
    unit = 2.0**shift
    multiplier = np.rint(slopes * unit).astype(np.int64)
    addend = np.rint((offsets + 0.5) * unit).astype(np.int64)
    lo, hi = (int(np.clip(round(ratio * (end - zero)), -128, 127)) for end in (line.lo, line.hi))
    full = (layer.lo, layer.hi, line.lo, line.hi) == (-128, 127, -128, 127)
    return Symmetric(weight, multiplier, addend, shift, -128 if full else lo, 127 if full else hi, ratio)


def _eight_bits_below(slope: float) -> float:
    """The largest factor m / 2^s with m of 8 bits that is at most ``slope``."""
    shift = int(np.clip(7 - np.floor(np.log2(slope)), 0, 33))
    found = float(np.floor(slope * 2.0**shift)) / 2.0**shift
    if found <= 0:
        raise NotAttentionError("a multiplier of a linear layer is too small")
    return found


def padded_columns(columns: Ints) -> Ints:
    """[H, P] -> [H * P'] with P' a multiple of a block; -1 where a column is added."""
    return np.pad(columns, ((0, 0), (0, -columns.shape[1] % BLOCK)), constant_values=-1).reshape(-1)


@dataclass(frozen=True, slots=True)
class Logits:
    """The real-valued logits: what a product of q and k (less zero points) is worth, and the range of the logits that
    the model was quantised for."""

    slope: float
    low: float
    high: float


def logits_of(heads: Heads) -> Logits:
    """Read from the softmax's table of exponentials and the requantisation in front of it."""
    step, line = _table_step(heads), heads.qk
    return Logits(step * line.slope, step * (line.lo - line.offset), step * (line.hi - line.offset))


def _table_step(heads: Heads) -> float:
    """What one step of the softmax's input is: its table holds exp(-step * d)."""
    table = integers(heads.softmax.inputs[1])
    if table is None or table.size != 256 or table[0] <= 0:
        raise NotAttentionError("the softmax has no table of exponentials")
    distance = np.arange(256)
    weight = table * distance  # the step that an entry gives is exact to 0.5 / weight
    best = int(np.argmax(weight))
    if weight[best] <= 0:
        raise NotAttentionError("the softmax's table drops to 0 at once")
    step = float(np.log(table[0] / table[best]) / best)
    if np.any(np.abs(table - table[0] * np.exp(-step * distance)) > 1.0 + 1e-6 * table[0]):
        raise NotAttentionError("the softmax's table is no exponential")
    return step


def logit_step(logits: Logits, ratio: float, columns: int, softmax: ItaMax) -> Step:
    """Requantisation of q k^T for ITAMax. ``ratio``: by how much q and k together are smaller than the model's;
    ``columns``: keys. The offset brings the logits' range to the middle, which changes no softmax and keeps what is
    added to the keys without weight: with logits anywhere in the range that the model was quantised for."""
    if columns > COLUMNS_MAX:
        raise NotAttentionError(f"{columns} keys are more than {COLUMNS_MAX}")
    low, high = logits.low / softmax.step, logits.high / softmax.step
    if high - low > 255:
        span, most = logits.high - logits.low, 255 * softmax.step
        raise NotAttentionError(f"logits span {span:.1f}, int8 in steps of {softmax.step:.3g} holds {most:.1f}")
    add = int(np.clip(-round((low + high) / 2), -128, 127))
    if columns % BLOCK and low + add - 1 < softmax.lightest:
        raise NotAttentionError(
            f"{columns} keys are no multiple of {BLOCK}, and added ones would get weight: they have none in a row with "
            f"a logit of {softmax.lightest} or more after requantisation, the model's logits begin at {low + add:.0f}"
        )
    return _step(logits.slope / (softmax.step * ratio), add, max(abs(low), abs(high)), "q k^T")


def value_step(heads: Heads, ratio: float, levels: float) -> Step:
    """Requantisation of the product with the values. ``ratio``: by how much v is smaller than the model's; ``levels``:
    the sum of a row of probabilities."""
    before, ends = scalar(heads.softmax.inputs[2]), (heads.av.lo, heads.av.hi)
    if ends != (-128, 127):
        raise NotAttentionError(f"the product with the values saturates at {ends[0]} and {ends[1]}")
    if before is None:
        raise NotAttentionError("the softmax's levels are not constant")
    return _whole_step(heads.av.slope * before / levels / ratio, heads.av, "the product with the values")


def product_steps(heads: Heads, qk_ratio: float, v_ratio: float, levels: int) -> tuple[Step, Step]:
    """Requantisation of both products where the softmax keeps its steps and has this many levels. Logits saturate at
    the ends of int8, however narrow the model's range is: nothing but its calibration gives that one."""
    _table_step(heads)  # the softmax is one of real numbers
    qk = _whole_step(heads.qk.slope / qk_ratio, heads.qk, "q k^T")
    return qk, value_step(heads, v_ratio, levels)


def _whole_step(slope: float, line: Affine, what: str) -> Step:
    """Requantisation with the offset of ``line``, which is an integer but for rounding."""
    add = round(line.offset)
    if not -128 <= add <= 127:
        raise NotAttentionError(f"the offset {line.offset:.1f} of {what} does not fit int8")
    return _step(slope, add, max(line.hi - add, add - line.lo), what)


def _step(slope: float, add: int, reach: float, what: str) -> Step:
    """``reach``: the largest result before ``add``."""
    found = nearest(slope, max(1, int(np.ceil(reach / slope))))
    if found is None or found.error > ERROR_MAX:
        off = "no 8-bit multiplier is near" if found is None else f"it would be up to {found.error:.1f} LSB off"
        raise NotAttentionError(f"ITA cannot requantise {what} by {slope:.3g}: {off}")
    return Step(found.multiplier, found.shift, add)
