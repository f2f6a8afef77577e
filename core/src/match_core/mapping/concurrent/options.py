"""What may be chosen for the mapping of a concurrent program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: How operators may be spread over units (docs/mapping.md): "whole": each on one unit; "tiles": shares whose slices and
#: joins are copies by the host; "views": shares that are views of whole tensors; "pipeline": as views, and a task waits
#: only for the shares whose bytes it reads, and shares may be cut into several tasks.
Parallel = Literal["whole", "tiles", "views", "pipeline"]


@dataclass(frozen=True, slots=True)
class ConcurrentOptions:
    """``latency_limit_cycles``: the objective is met within it, where that is not latency itself; None: no limit.
    ``copy_cycles_per_byte``: of the host's copies of "tiles". ``steps_max``: tasks that are put on the time line in the
    whole search, the measure of effort. ``solver_seconds``: deterministic seconds of CP-SAT in all."""

    parallel: Parallel = "pipeline"
    latency_limit_cycles: int | None = None
    copy_cycles_per_byte: float = 1.0
    steps_max: int = 800_000
    solver_seconds: float = 0.2
    rounds_max: int = 5
