"""Rules about requantisation, clip((sum * M + B) / 2**S, low, high), on the numbers that structures capture."""

from __future__ import annotations

from match_core.contract.structure import Constraint, Match
from match_core.patterns.captures import number, shift, there
from match_core.patterns.rule import rule

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
