"""The least energy-delay product of a program.

The product of both sums is not a sum over candidates; but it is a quasiconcave function of them, so its minimum is at a
corner of the convex hull of all (energy, cycles) pairs. Every corner is the cheapest cover under some weighting of the
two, and the weightings that matter are found from neighbouring corners (the dichotomic search of Aneja and Nair,
Management Science 1979).
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Protocol, TypeVar

from match_core.map.objective import WEIGHTINGS, Weighting

#: Upper bound of the cost of a program under a weighting, so that solvers with 64-bit integers can add costs.
_WEIGHTED_MAX = 1 << 60


class Totals(Protocol):
    """The sums over all candidates of a choice."""

    @property
    def predicted_cycles(self) -> int:
        """Cycles of the program."""
        ...

    @property
    def energy_pj(self) -> int:
        """Energy of the program, in whole pJ."""
        ...


_Choice = TypeVar("_Choice", bound=Totals)


def least_product(choose: Callable[[Weighting], _Choice]) -> _Choice:
    """The choice with the least product of energy and cycles; ``choose`` returns the cheapest one under a weighting.
    Ties go to the first in the order of the search; exact if ``choose`` is exact."""
    ends = choose(WEIGHTINGS["energy"]), choose(WEIGHTINGS["latency"])
    best = min(ends, key=_product)
    pending = [ends]
    while pending:
        low, high = pending.pop()  # low in energy, high in energy (and low in cycles)
        if not _may_hold(low, high, _product(best)):
            continue
        weighting = _through(low, high)
        found = choose(weighting)
        if _value(weighting, found) >= min(_value(weighting, low), _value(weighting, high)):
            continue
        best = min(best, found, key=_product)
        pending += [(found, high), (low, found)]
    return best


def _product(choice: Totals) -> int:
    return choice.energy_pj * choice.predicted_cycles


def _may_hold(low: Totals, high: Totals, best: int) -> bool:
    """Whether a corner between the two could be better than ``best``: such a corner has at least the energy of ``low``
    and at least the cycles of ``high``."""
    between = low.energy_pj < high.energy_pj and high.predicted_cycles < low.predicted_cycles
    return between and low.energy_pj * high.predicted_cycles < best


def _through(low: Totals, high: Totals) -> Weighting:
    """The weighting that gives both the same cost."""
    cycle_weight, energy_weight = high.energy_pj - low.energy_pj, low.predicted_cycles - high.predicted_cycles
    divisor = gcd(cycle_weight, energy_weight)
    cycle_weight, energy_weight = cycle_weight // divisor, energy_weight // divisor
    while cycle_weight * low.predicted_cycles + energy_weight * high.energy_pj > _WEIGHTED_MAX:
        cycle_weight, energy_weight = max(1, cycle_weight // 2), max(1, energy_weight // 2)
    return Weighting(cycle_weight, energy_weight)


def _value(weighting: Weighting, choice: Totals) -> int:
    return weighting.cycle_weight * choice.predicted_cycles + weighting.energy_weight * choice.energy_pj
