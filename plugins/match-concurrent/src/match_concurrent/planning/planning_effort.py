"""The effort limits of a concurrent plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Effort is in CP-SAT's deterministic seconds, which do not depend on the machine. ``deterministic_seconds``: for
    graphs that are planned as a whole; 0: only the heuristic, for every size. ``window_jobs``: graphs with
    more than one and a half times as many jobs are planned in windows of this size, with ``windows_seconds`` for all of
    them."""

    deterministic_seconds: float = 4.0
    window_jobs: int = 80
    windows_seconds: float = 6.0
