"""Options of the mapping of a concurrent program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.mapping import Parallel


@dataclass(frozen=True, slots=True)
class ConcurrentOptions:
    """``parallel``: how operators may be divided among units. ``copy_cycles_per_byte``: of the host's copies for
    "tiles". ``steps_max``: tasks that the stages evaluate on time lines, their measure of effort; ``joint_steps``:
    those of the joint search before its windows, for up to ten operators. ``solver_seconds``: total deterministic
    seconds of CP-SAT in the stages; ``joint_seconds``, ``window_seconds``: in the joint search, in all and for a
    window; ``free_covers``, ``free_tiles``: what that may change; ``thorough``: costs are requested where they would be
    priced, and windows of all starts are solved."""

    parallel: Parallel = "pipeline"
    copy_cycles_per_byte: float = 1.0
    steps_max: int = 800_000
    solver_seconds: float = 0.2
    rounds_max: int = 5
    joint_seconds: float = 3.0
    joint_steps: int = 3_000_000
    window_seconds: float = 0.1
    free_covers: bool = True
    free_tiles: bool = True
    thorough: bool = False

    @property
    def pipelined(self) -> bool:
        """Whether tasks may be cut, and wait only for the bytes that they read."""
        return self.parallel in ("pipeline", "joint")
