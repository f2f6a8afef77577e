"""The objective of the schedule search."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from match_core.contract.loops import Objective, ScheduleRequest
    from numpy.typing import NDArray

    Numbers = TypeVar("Numbers", float, NDArray[np.float64])


class EnergyUnknownError(ValueError):
    """The objective requires energy figures, and the cost model has none."""


def check_objective(request: ScheduleRequest) -> None:
    """EnergyUnknownError if the request's objective cannot be computed."""
    if request.objective != "latency" and request.cost_model.energy is None:
        name, objective = request.cost_model.name, request.objective
        raise EnergyUnknownError(f"objective {objective}: the cost model {name} has no energy figures")


def score(objective: Objective, cycles: Numbers, energy_pj: Numbers) -> Numbers:
    """The minimised value: cycles of the layer, its energy in pJ, or their product. It grows with both."""
    if objective == "latency":
        return cycles
    return energy_pj if objective == "energy" else cycles * energy_pj
