"""The product of two computed tensors: the meaning of each axis in memory, including surrounding permutations.

A kernel reads operands in place, so a head between sequence and features stays there: nothing is copied, and heads
remain a dimension that can be divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from match_core import Match

#: The orders of axes that kernels read and write, the last one innermost; preferred ones first.
_A_ORDERS = ("BMC", "MBC")
_B_ORDERS = ("BCK", "CBK", "BKC", "KBC")
_OUTPUT_ORDERS = ("BMK", "MBK")


@dataclass(frozen=True, slots=True)
class Product:
    """Sizes of the dimensions, and for each operand the dimensions of its three axes in memory."""

    b: int
    m: int
    k: int
    c: int
    a_order: str
    b_order: str
    output_order: str


def product_of(match: Match) -> Product | None:
    """How the operands lie; None where kernels cannot read or write them so, or where batches differ."""
    left, right = (tuple(int(size) for size in tensor.shape) for tensor in match.node("matmul").inputs[:2])
    if len(left) < 2 or left[:-2] != right[:-2]:
        return None
    whole = (*left[:-1], right[-1])
    orders = (
        _order("MC", left, _stored(match, "turn_left", len(left)), _A_ORDERS),
        _order("CK", right, _stored(match, "turn_right", len(left)), _B_ORDERS),
        _order("MK", whole, _permutation(match, "turn_output", len(left)), _OUTPUT_ORDERS),
    )
    if orders[0] is None or orders[1] is None or orders[2] is None:
        return None
    return Product(prod(left[:-2]), left[-2], right[-1], left[-1], orders[0], orders[1], orders[2])


def _permutation(match: Match, capture: str, rank: int) -> tuple[int, ...]:
    if not match.has(capture):
        return tuple(range(rank))
    return tuple(int(axis) for axis in match.node(capture).attrs.get("perm", range(rank)[::-1]))


def _stored(match: Match, capture: str, rank: int) -> tuple[int, ...]:
    """The axis of the product's input that each axis of the tensor before the permutation becomes."""
    order = _permutation(match, capture, rank)
    return tuple(order.index(axis) for axis in range(rank))


def _order(last: str, shape: Sequence[int], stored: Sequence[int], known: Sequence[str]) -> str | None:
    """The first known order that fits. ``last``: the dimensions of the last two axes of the product's side, ``shape``
    its sizes, ``stored`` its axes as they lie. Axes of one index may lie anywhere."""
    axes = [axis for axis in stored if shape[axis] > 1]
    batch = [axis for axis in axes if axis < len(shape) - 2]
    if batch != sorted(batch):
        return None
    found = ""
    for axis in axes:
        dim = "B" if axis in batch else last[axis - len(shape)]
        found += "" if found.endswith(dim) else dim
    return next((order for order in known if "".join(dim for dim in order if dim in found) == found), None)


def factor_bits(match: Match) -> int:
    """The factor on the result as the bits of a binary16 number; those of one where there is none."""
    factor = np.float32(1.0)
    if match.has("scale"):
        by = match.const("factor").astype(np.float32).reshape(-1)[0]
        factor = by if match.node("scale").op == "Mul" else factor / by
    return int(np.float16(factor).view(np.uint16))
