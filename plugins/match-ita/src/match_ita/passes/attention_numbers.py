"""The numbers of attention on ITA: requantisation of both products in 8 bits.

ITAMax halves a weight for every 2^shift steps of a logit, so a step is ln 2 / 2^shift (sheet ita-arithmetic, 2.3).
Probabilities have a unit of 256 / numerator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from match_quant.multipliers import nearest

from match_ita.arithmetic import RequantStep
from match_ita.ita.limits import BLOCK, GROUP, REQUANT, SUM_LENGTH_MAX, TILES_MAX
from match_ita.passes.attention_affine import Affine, integers, scalar
from match_ita.passes.attention_match import Heads, NotAttentionError
from match_ita.passes.attention_symmetric import Symmetric, symmetric

#: Largest error that 8 bits of a multiplier may cause, at the ends of the range, in LSB of the result.
ERROR_MAX = 1.0
#: Keys of attention.
COLUMNS_MAX = TILES_MAX * BLOCK
#: A weight of 256 becomes 0 after this many halvings.
_HALVINGS = 9


@dataclass(frozen=True, slots=True)
class ItaMax:
    """ITA's softmax: ``shift`` and ``numerator`` of the hardware, ``group`` columns at a time."""

    shift: int
    numerator: int
    group: int = GROUP

    @property
    def step(self) -> float:
        """The size of one step of a logit."""
        return float(np.log(2.0)) / (1 << self.shift)

    @property
    def lightest(self) -> int:
        """With a row's largest logit at least this, a logit of -128 has no weight; above 127 where there is none."""
        half = (1 << self.shift) >> 1
        return -128 + (_HALVINGS << self.shift) - half


@dataclass(frozen=True, slots=True)
class Design:
    """All numbers of one attention on ITA."""

    q: Symmetric
    k: Symmetric
    v: Symmetric
    qk: RequantStep
    av: RequantStep


def approximate(heads: Heads, softmax: ItaMax) -> Design:
    """The nearest that ITA can do to a softmax of real numbers; NotAttentionError where that is not near enough."""
    if heads.size > SUM_LENGTH_MAX:
        raise NotAttentionError(f"heads have {heads.size} columns, more than {SUM_LENGTH_MAX}")
    q, k, v = (symmetric(projection) for projection in (heads.q, heads.k, heads.v))
    qk = logit_step(logits_of(heads), q.ratio * k.ratio, heads.k.rows, softmax)
    return Design(q, k, v, qk, value_step(heads, v.ratio, softmax.numerator / 256))


@dataclass(frozen=True, slots=True)
class Logits:
    """The real-valued logits: what a product of q and k (less zero points) is worth, and the range of the logits that
    the model was quantised for."""

    slope: float
    low: float
    high: float


def logits_of(heads: Heads) -> Logits:
    """Read from the softmax's table of exponentials and the requantisation before it."""
    step, line = _table_step(heads), heads.qk
    return Logits(step * line.slope, step * (line.lo - line.offset), step * (line.hi - line.offset))


def _table_step(heads: Heads) -> float:
    """The size of one step of the softmax's input: its table holds exp(-step * d)."""
    table = integers(heads.softmax.inputs[1])
    if table is None or table.size != 256 or table[0] <= 0:
        raise NotAttentionError("the softmax has no table of exponentials")
    distance = np.arange(256)
    weight = table * distance  # the step that an entry gives is exact to 0.5 / weight
    best = int(np.argmax(weight))
    if weight[best] <= 0:
        raise NotAttentionError("the softmax's table drops to 0 immediately")
    step = float(np.log(table[0] / table[best]) / best)
    if np.any(np.abs(table - table[0] * np.exp(-step * distance)) > 1.0 + 1e-6 * table[0]):
        raise NotAttentionError("the softmax's table is not an exponential")
    return step


def logit_step(logits: Logits, ratio: float, columns: int, softmax: ItaMax) -> RequantStep:
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


def value_step(heads: Heads, ratio: float, levels: float) -> RequantStep:
    """Requantisation of the product with the values. ``ratio``: by how much v is smaller than the model's; ``levels``:
    the sum of a row of probabilities."""
    before, ends = scalar(heads.softmax.inputs[2]), (heads.av.lo, heads.av.hi)
    if ends != (-128, 127):
        raise NotAttentionError(f"the product with the values saturates at {ends[0]} and {ends[1]}")
    if before is None:
        raise NotAttentionError("the softmax's levels are not constant")
    return _whole_step(heads.av.slope * before / levels / ratio, heads.av, "the product with the values")


def product_steps(heads: Heads, qk_ratio: float, v_ratio: float, levels: int) -> tuple[RequantStep, RequantStep]:
    """Requantisation of both products where the softmax keeps its steps and has this many levels. Logits saturate at
    the ends of int8, however narrow the model's range is: nothing but its calibration gives that one."""
    _table_step(heads)  # the softmax is one of real numbers
    qk = _whole_step(heads.qk.slope / qk_ratio, heads.qk, "q k^T")
    return qk, value_step(heads, v_ratio, levels)


def _whole_step(slope: float, line: Affine, what: str) -> RequantStep:
    """Requantisation with the offset of ``line``, which is an integer but for rounding."""
    add = round(line.offset)
    if not -128 <= add <= 127:
        raise NotAttentionError(f"the offset {line.offset:.1f} of {what} does not fit int8")
    return _step(slope, add, max(line.hi - add, add - line.lo), what)


def _step(slope: float, add: int, reach: float, what: str) -> RequantStep:
    """``reach``: the largest result before ``add``."""
    found = nearest(slope, REQUANT)
    if found is None:
        raise NotAttentionError(f"ITA cannot requantise {what} by {slope:.3g}: no 8-bit multiplier is near")
    error = found.error(slope, max(1, int(np.ceil(reach / slope))))
    if error > ERROR_MAX:
        raise NotAttentionError(
            f"ITA cannot requantise {what} by {slope:.3g}: the error would be up to {error:.1f} LSB"
        )
    return RequantStep(found.multiplier, found.shift, add)
