"""What the mapper minimises, as one integer per candidate.

Latency sums cycles and energy sums picojoules. The energy-delay product of a program is the product of both sums, which
is no sum over candidates; but it is a quasiconcave function of them, so its minimum lies at a corner of the convex hull
of all (energy, cycles) pairs. Every corner is the cheapest cover under some weighting of the two, and the weightings
that matter are found from neighbouring corners (the dichotomic search of Aneja and Nair, Management Science 1979).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from match_core.cost import Cost
    from match_core.mapping.result import Mapping

#: Costs of whole programs under a weighting stay below this, so that solvers with 64-bit integers can add them.
_WEIGHTED_MAX = 1 << 60


@dataclass(frozen=True, slots=True)
class Weighting:
    """The cost of a candidate: ``cycle_weight`` times its cycles and ``energy_weight`` times its energy in pJ."""

    cycle_weight: int
    energy_weight: int

    def of(self, cost: Cost) -> int:
        """The weighted cost. Views have no energy figure and use none."""
        energy = round(cost.energy_pj or 0.0) if self.energy_weight else 0
        return self.cycle_weight * cost.total_cycles + self.energy_weight * energy


WEIGHTINGS: dict[Literal["latency", "energy"], Weighting] = {"latency": Weighting(1, 0), "energy": Weighting(0, 1)}


def weighting_of(mapping: Mapping) -> Weighting:
    """What a change of one candidate's cost means for a mapping's objective: exact for latency and energy, the slope of
    the product at the mapping for both."""
    if mapping.objective == "edp":
        return Weighting(max(1, mapping.energy_pj), max(1, mapping.predicted_cycles))
    return WEIGHTINGS[mapping.objective]


class Totals(Protocol):
    """The sums that decide, over all candidates of a choice."""

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
    """The choice with the least product of energy and cycles; ``choose`` gives the cheapest one under a weighting. The
    first of equals, in the order of the search; exact where ``choose`` is."""
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
    """Whether a corner between the two could be better than ``best``: none has less energy than one or fewer cycles
    than the other."""
    between = low.energy_pj < high.energy_pj and high.predicted_cycles < low.predicted_cycles
    return between and low.energy_pj * high.predicted_cycles < best


def _through(low: Totals, high: Totals) -> Weighting:
    """The weighting under which both cost the same."""
    cycle_weight, energy_weight = high.energy_pj - low.energy_pj, low.predicted_cycles - high.predicted_cycles
    divisor = gcd(cycle_weight, energy_weight)
    cycle_weight, energy_weight = cycle_weight // divisor, energy_weight // divisor
    while cycle_weight * low.predicted_cycles + energy_weight * high.energy_pj > _WEIGHTED_MAX:
        cycle_weight, energy_weight = max(1, cycle_weight // 2), max(1, energy_weight // 2)
    return Weighting(cycle_weight, energy_weight)


def _value(weighting: Weighting, choice: Totals) -> int:
    return weighting.cycle_weight * choice.predicted_cycles + weighting.energy_weight * choice.energy_pj
