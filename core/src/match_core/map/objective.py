"""The minimised quantity as one integer per candidate: latency sums cycles, energy sums picojoules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from match_core.contract.cost import Cost
    from match_core.contract.mapping import Mapping


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
    """The effect of one candidate's cost on a mapping's objective: exact for latency and energy, the slope of the
    product at the mapping for both."""
    if mapping.objective == "edp":
        return Weighting(max(1, mapping.energy_pj), max(1, mapping.predicted_cycles))
    return WEIGHTINGS[mapping.objective]
