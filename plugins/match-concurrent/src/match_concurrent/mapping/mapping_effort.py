"""Options of the mapping of a concurrent program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.mapping import Parallel


@dataclass(frozen=True, slots=True)
class ConcurrentOptions:
    """``parallel``: how operators may be divided among units. ``copy_cycles_per_byte``: of the host's copies for
    "tiles". ``steps_max``: tasks that the stages evaluate on time lines, their measure of effort; ``joint_steps``:
    those of the joint search before its windows, for up to ten operators ("long": times ``long_steps`` a turn; seconds
    of its windows: times ``long_seconds``; at most ``long_turns``; estimates, tried on MobileNet on Carfield only).
    ``solver_seconds``: total deterministic seconds of CP-SAT in the stages; ``joint_seconds``, ``window_seconds``: in
    the joint search, in all and for a window; ``free_covers``, ``free_tiles``: what that may change; ``thorough``:
    costs are requested where they would be priced, and windows of all starts are solved."""

    parallel: Parallel = "pipeline"
    copy_cycles_per_byte: float = 1.0
    steps_max: int = 800_000
    solver_seconds: float = 0.2
    rounds_max: int = 5
    joint_seconds: float = 3.0
    joint_steps: int = 3_000_000
    long_steps: int = 60
    long_seconds: int = 10
    long_turns: int = 10
    window_seconds: float = 0.1
    free_covers: bool = True
    free_tiles: bool = True
    thorough: bool = False

    @property
    def pipelined(self) -> bool:
        """Whether tasks may be cut, and wait only for the bytes that they read."""
        return self.parallel == "pipeline" or self.joint

    @property
    def joint(self) -> bool:
        """Whether covers, units and tiles are searched together."""
        return self.parallel in ("joint", "long")

    @property
    def long_turn(self) -> ConcurrentOptions:
        """With the effort of a turn of "long"."""
        steps, seconds = self.joint_steps * self.long_steps, self.joint_seconds * self.long_seconds
        return replace(self, joint_steps=steps, joint_seconds=seconds)
