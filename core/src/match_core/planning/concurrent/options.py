"""How much effort a concurrent plan may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """``deterministic_seconds``: CP-SAT's own measure of effort, which does not depend on the machine, for the whole
    plan; 0: the heuristic alone. ``window_jobs``: graphs with more jobs are planned in windows of so many."""

    deterministic_seconds: float = 8.0
    window_jobs: int = 80
