"""Attention of integer networks that ITA computes unchanged, bit for bit."""

from __future__ import annotations

import numpy as np
from match_core.contract.model import qualified_op
from match_core.ir.reader import producer

from match_ita.arithmetic import RequantStep
from match_ita.ita.limits import BLOCK, SUM_LENGTH_MAX
from match_ita.passes.attention_affine import IDENTITY, scalar
from match_ita.passes.attention_match import Heads, NotAttentionError, Projection
from match_ita.passes.attention_numbers import COLUMNS_MAX, Design, ItaMax
from match_ita.passes.attention_symmetric import Symmetric, padded_columns


def exact(heads: Heads, softmax: ItaMax) -> Design:
    """The same numbers in ITA's terms; NotAttentionError where there are none. Columns that ITA adds must not exist:
    with a shift of 5 they would take weight."""
    if heads.softmax.op != "ShiftSoftmaxU8":
        raise NotAttentionError(f"ITA has no {heads.softmax.op}")
    group, numerator = int(heads.softmax.attrs["group"]), scalar(heads.softmax.inputs[1])
    if (softmax.shift, softmax.numerator, softmax.group) != (5, numerator, group):
        raise NotAttentionError(
            f"the softmax has shift 5, numerator {numerator} and {group} columns at once, the target's has "
            f"{softmax.shift}, {softmax.numerator} and {softmax.group}"
        )
    if heads.k.rows % BLOCK or heads.k.rows > COLUMNS_MAX or heads.size > SUM_LENGTH_MAX:
        raise NotAttentionError(
            f"{heads.k.rows} keys of {heads.size} columns: ITA needs a multiple of {BLOCK} up to {COLUMNS_MAX} keys "
            f"and up to {SUM_LENGTH_MAX} columns"
        )
    q, k, v = (_as_it_is(projection) for projection in (heads.q, heads.k, heads.v))
    before = producer(heads.softmax.inputs[0])
    if before is None or qualified_op(before) != "match.arith::RequantI8" or before not in heads.nodes:
        raise NotAttentionError("there is more than a requantisation before the softmax")
    product = producer(before.inputs[0])
    if product is None or product.op != "MatMulInteger":
        raise NotAttentionError("the logits are requantised more than once")
    steps = [_step([scalar(t) for t in node.inputs[1:]]) for node in (before, heads.av_requant)]
    return Design(q, k, v, steps[0], steps[1])


def _as_it_is(projection: Projection) -> Symmetric:
    """The columns of a projection in the order of the heads."""
    layer = projection.layer
    if projection.affine != IDENTITY or projection.zero:
        raise NotAttentionError("q, k or v have a zero point or are requantised twice")
    columns = padded_columns(projection.columns)
    real = columns >= 0
    half = (1 << layer.shift) >> 1
    return Symmetric(
        weight=np.where(real, layer.weight[:, columns], 0),
        multiplier=layer.multiplier[columns],
        addend=np.where(real, layer.addend[columns], half),
        shift=layer.shift,
        lo=layer.lo,
        hi=layer.hi,
        ratio=1.0,
    )


def _step(numbers: list[int | None]) -> RequantStep:
    """M, B, D, lo and hi as ITA's registers."""
    multiplier, addend, divisor, lo, hi = numbers
    if multiplier is None or addend is None or divisor is None:
        raise NotAttentionError("a product is requantised per row or column")
    shift = divisor.bit_length() - 1
    add, rest = divmod(addend - (divisor >> 1), divisor)
    if rest or divisor != 1 << shift or (lo, hi) != (-128, 127):
        raise NotAttentionError(f"ITA does not support a requantisation: (x * {multiplier} + {addend}) / {divisor}")
    try:
        return RequantStep(multiplier, shift, add)
    except ValueError as error:
        raise NotAttentionError(str(error)) from error
