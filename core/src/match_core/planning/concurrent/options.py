"""How much effort a concurrent plan may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Effort is in CP-SAT's own deterministic seconds, which do not depend on the machine. ``deterministic_seconds``:
    for graphs that are planned at once; 0: the heuristic alone, whatever the size. ``window_jobs``: graphs with more
    jobs are planned in windows of so many, with ``windows_seconds`` for all of them."""

    deterministic_seconds: float = 4.0
    window_jobs: int = 80
    windows_seconds: float = 6.0
