"""Rules about requantisation, clip((sum * M + B) / 2**S, low, high), on the numbers that structures capture."""

from __future__ import annotations

from match_core.contract.structure import Constraint, Match
from match_core.patterns.captures import (
    largest,
    number,
    product_reach,
    shift,
    sum_bounds,
    there,
    value_range,
    weight_rows,
)
from match_core.patterns.rule import rule

_INT32 = 1 << 31
_FACTORS = ("multiplier", "multiplier_a", "multiplier_b", "addend")


def shift_at_most(most: int) -> Constraint:
    """The divisor is a power of two, at most 2**``most``."""

    @rule("shift", f"the requantisation divides by 2**S with S of 0 to {most}")
    def check(match: Match) -> str | None:
        divisor = number(match, "divisor")
        power = divisor > 0 and not divisor & (divisor - 1)
        return None if power and shift(match) <= most else f"the divisor is {divisor}"

    return check


def bounds_are(description: str, *pairs: tuple[int, int]) -> Constraint:
    """Results are clipped to one of these pairs of a lower and an upper bound."""

    @rule("bounds", description)
    def check(match: Match) -> str | None:
        low, high = number(match, "low"), number(match, "high")
        return None if (low, high) in pairs else f"bounds are {low} and {high}"

    return check


uint8_bounds = bounds_are("the result saturates at 0 and 255", (0, 255))


def per_tensor(prefix: str = "", description: str = "multipliers and addend are per tensor") -> Constraint:
    """Numbers whose captures begin with ``prefix`` have one value each."""

    @rule("multipliers", description)
    def check(match: Match) -> str | None:
        names = there(match, *(prefix + name for name in _FACTORS))
        wrong = [f"{name} has {match.const(name).size} values" for name in names if match.const(name).size != 1]
        return wrong[0] if wrong else None

    return check


def product_below(bits: int) -> Constraint:
    """Kernels add in 32 bits, and their multiplication requires products and addends below 2**``bits``."""

    @rule("product", f"sums and M fit int32, sum * M and sum * M + B stay below 2**{bits} for every input")
    def check(match: Match) -> str | None:
        reach = largest(*sum_bounds(weight_rows(match), *value_range(match)))
        widest = largest(match.const("multiplier").astype(object).reshape(-1))
        if reach >= _INT32 or widest >= _INT32:
            return f"a sum reaches {reach}" if reach >= _INT32 else f"a multiplier is {widest}"
        worst = product_reach(match)
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
