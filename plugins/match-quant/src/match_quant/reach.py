"""Rules about the largest values that requantisation computes, (sum * M + B) / 2**S, for kernels of limited width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.structure import Constraint, Match
from match_core.patterns.captures import largest, number, sum_bounds, value_range, weight_rows
from match_core.patterns.rule import rule

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INT32 = 1 << 31


def product_reach(match: Match) -> int:
    """The largest magnitude of sum * M and of sum * M + B, for all channels and all inputs of their type."""
    return _product_reach(match, _sums(match))


def _sums(match: Match) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return sum_bounds(weight_rows(match), *value_range(match))


def _product_reach(match: Match, sums: tuple[NDArray[np.int64], NDArray[np.int64]]) -> int:
    multiplier, addend = (match.const(name).reshape(-1) for name in ("multiplier", "addend"))
    fit = largest(*sums, multiplier) < _INT32 and largest(addend) < 1 << 62
    kind = np.int64 if fit else object  # Python integers do not overflow
    products = [bound.astype(kind) * multiplier.astype(kind) for bound in sums]
    return largest(*products, *(product + addend.astype(kind) for product in products))


def product_below(bits: int) -> Constraint:
    """Kernels add in 32 bits, and their multiplication requires products and addends below 2**``bits``."""

    @rule("product", f"sums and M fit int32, sum * M and sum * M + B stay below 2**{bits} for every input")
    def check(match: Match) -> str | None:
        sums = _sums(match)
        reach = largest(*sums)
        widest = largest(match.const("multiplier"))
        if reach >= _INT32 or widest >= _INT32:
            return f"a sum reaches {reach}" if reach >= _INT32 else f"a multiplier is {widest}"
        worst = _product_reach(match, sums)
        return None if worst < 1 << bits else f"a product reaches {worst}"

    return check


def added_below(bits: int) -> Constraint:
    """The same for a sum of two tensors, each with its multiplier, added in this order."""

    @rule("product", f"M fit int32 and a * Ma + b * Mb + B stays below 2**{bits} for every input")
    def check(match: Match) -> str | None:
        low = high = worst = 0
        for name in ("a", "b"):
            multiplier = number(match, f"multiplier_{name}")
            if abs(multiplier) >= _INT32:
                return f"a multiplier is {multiplier}"
            # An input may also be absent from a partial sum.
            ends = [0, *(end * multiplier for end in value_range(match, f"input_{name}"))]
            low, high = low + min(ends), high + max(ends)
            worst = max(worst, -low, high)
        addend = number(match, "addend")
        worst = max(worst, abs(low + addend), abs(high + addend))
        return None if worst < 1 << bits else f"it reaches {worst}"

    return check
