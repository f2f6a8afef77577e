"""Sums of two tensors.

The library scales both summands, rounds, adds, and rounds the sum: two roundings, where the graph has one. With factors
of 20 bits the first rounding changes nothing, because its result is a whole number: ``(a + o1) * f1 + (b + o2) * f2``.
So the sum is rounded once. For a pair of factors, all 65,536 pairs of bytes bound what may be added; offsets between
the bounds make up the graph's addend.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import floor, log2, prod
from typing import TYPE_CHECKING

import numpy as np
from match_core.ir.reader import shape_of
from match_core.ir.topology import is_constant
from match_host.graph import constant_at, dtype_of

from match_cmsisnn.kernels.call import Counted, call

if TYPE_CHECKING:
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

ADD_REQUANT = "match.arith::AddRequantI8"
#: The library's shift of summands before it scales them, and bits of the factors that remain exact.
LEFT, BITS = 20, 20
#: Pairs of factors that are tried: those whose ratio is nearest to the graph's.
_TRIED = 12


@dataclass(frozen=True)
class Sum:
    """``((((a + o1) * f1 + (b + o2) * f2) * multiplier + half) >> total) + offset``."""

    factors: tuple[int, int]
    offsets: tuple[int, int]
    multiplier: int
    total: int
    offset: int


def sum_of(node: gs.Node) -> tuple[Sum, int, int] | str:
    """The library's numbers and the bounds; or why it does not compute the sum as the graph does."""
    a, b = node.inputs[:2]
    if is_constant(a) or is_constant(b) or shape_of(a) != shape_of(b):
        return "a summand is constant or broadcast"
    if {dtype_of(tensor).name for tensor in (a, b, node.outputs[0])} != {"int8"}:
        return "the tensors are not int8"
    values = [constant_at(node, index) for index in range(2, 8)]
    if any(value is None or value.size != 1 for value in values):
        return "factors differ between elements"
    numbers = tuple(int(value.reshape(-1)[0]) for value in values if value is not None)
    if min(numbers[:2]) <= 0:
        return f"factors are {numbers[0]} and {numbers[1]}"
    found = _search(numbers)
    return found if isinstance(found, str) else (found, numbers[4], numbers[5])


@lru_cache(maxsize=64)
def _search(numbers: tuple[int, ...]) -> Sum | str:
    first, second, addend, divisor, low, high = numbers
    a, b = np.arange(-128, 128, dtype=np.int64)[:, None], np.arange(-128, 128, dtype=np.int64)[None, :]
    total = a.astype(object) * first + b.astype(object) * second + addend
    exact = np.clip((total // divisor).astype(np.int64), low, high)
    results = np.arange(low + 1, high + 1, dtype=np.int64)
    for f1, f2 in _pairs(first, second):
        value = a * f1 + b * f2
        begins, ends = _ranges(value, exact, low, high)
        if bool((ends >= begins).any()):
            continue
        found = _offsets(begins, ends, results, f1, f2, first / divisor / f1)
        if found is not None:
            return found
    return f"no {BITS}-bit factors give the same sums for all 65,536 pairs of values"


def _pairs(first: int, second: int) -> list[tuple[int, int]]:
    """Factors in nearly the ratio of the graph's, the larger one between half of 2^BITS and 2^BITS."""
    large, small = max(first, second), min(first, second)
    ours = np.arange((1 << BITS) - 1, 1 << BITS - 1, -1, dtype=np.int64)
    exact = ours * (small / large)
    others = np.round(exact).astype(np.int64)
    best = np.argsort(np.abs(exact - others), kind="stable")[:_TRIED]
    pairs = [(int(ours[k]), int(others[k])) for k in best if others[k] > 0]
    return pairs if first >= second else [(other, own) for own, other in pairs]


def _ranges(
    value: NDArray[np.int64], exact: NDArray[np.int64], low: int, high: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each result above ``low``: the least sum that gives it or more, and the largest that gives less."""
    least = np.full(high - low + 1, 1 << 40, np.int64)
    most = np.full(high - low + 1, -(1 << 40), np.int64)
    np.minimum.at(least, exact.ravel() - low, value.ravel())
    np.maximum.at(most, exact.ravel() - low, value.ravel())
    begins = np.minimum.accumulate(least[::-1])[::-1][1:]
    return begins, np.maximum.accumulate(most)[:-1]


def _offsets(
    begins: NDArray[np.int64], ends: NDArray[np.int64], results: NDArray[np.int64], f1: int, f2: int, step: float
) -> Sum | None:
    """Offsets with which every result begins where it should; a sum counts ``step`` results."""
    total = 30 - floor(log2(step))
    multiplier = min(round(step * 2.0**total), (1 << 31) - 1)
    offset = np.arange(-128, 128, dtype=np.int64)[:, None]
    # The least sum, with offsets, that the library rounds to each result.
    edges = -(-((2 * (results[None, :] - offset) - 1).astype(object) << (total - 1)) // multiplier).astype(np.int64)
    least, most = (edges - begins).max(axis=1), (edges - ends - 1).min(axis=1)
    o1 = np.arange(-127, 129, dtype=np.int64)[None, :]
    o2 = np.clip(-((o1 * f1 - least[:, None]) // f2), -127, 128)
    added = o1 * f1 + o2 * f2
    good = np.argwhere((added >= least[:, None]) & (added <= most[:, None]))
    if not good.size:
        return None
    row, column = map(int, good[0])
    return Sum((f1, f2), (int(o1[0, column]), int(o2[row, column])), multiplier, total, row - 128)


def build_add(nodes: tuple[gs.Node, ...], function: str, helium: bool = False) -> Counted:
    """The kernel of one AddRequant."""
    (node,) = nodes
    found = sum_of(node)
    if isinstance(found, str):
        raise ValueError(f"{function}: {found}")
    numbers, low, high = found
    count = prod(shape_of(node.outputs[0]))
    # Multipliers have 31 bits: those of the summands hold 20 bits, shifted so that nothing is rounded.
    scales = [
        f"{offset}, {factor << 31 - BITS}, 0" for offset, factor in zip(numbers.offsets, numbers.factors, strict=True)
    ]
    lines = (
        f"    (void)arm_elementwise_add_s8(in0, in1, {scales[0]}, {scales[1]}, {LEFT},",
        f"        out0, {numbers.offset}, {numbers.multiplier}, {31 - numbers.total}, {low}, {high}, {count});",
    )
    words = f"Sum of CMSIS-NN: {count} pairs"
    return call(function, words, node.inputs[:2], node.outputs[:1], lines, "add", helium, {"pairs": count})
