"""What cost models state about estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.cost import CostModel
    from match_core.contract.workload import Workload


def estimate_of(model: CostModel, workload: Workload) -> str:
    """What a model states about its estimates; empty if it states nothing."""
    estimate = getattr(model, "estimate", None)
    return str(estimate(workload)) if callable(estimate) else ""
