"""What to tell the user where a program does not fit its home memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.errors import InfeasibleError
from match_core.planning.packing import Block, live_bytes

if TYPE_CHECKING:
    from match_core.hardware import Memory
    from match_core.ir.model import Model
    from match_core.mapping.result import Assignment

#: So many tensors and constants are told by name.
SHOWN_MAX = 8


@dataclass(frozen=True, slots=True)
class Shortage:
    """A program that does not fit: ``tasks`` in order, ``blocks`` with the name of each, ``arena_bytes`` as
    allocated and ``constants`` as (name, bytes)."""

    memory: Memory
    tasks: tuple[Assignment, ...]
    blocks: tuple[Block, ...]
    names: tuple[str, ...]
    arena_bytes: int
    constants: tuple[tuple[str, int], ...]

    def error(self, model: Model) -> InfeasibleError:
        """MATCH-M001, with the tensors that live at the peak and the largest constants."""
        fixed = sum(size for _, size in self.constants)
        need, have = self.arena_bytes + fixed, self.memory.size_bytes
        live = live_bytes(self.blocks, self.memory.alignment_bytes)
        step = max(live, key=lambda s: (live[s], -s), default=0)
        return InfeasibleError(
            code="MATCH-M001",
            what=f"the program does not fit memory {self.memory.name}: {need - have} bytes too much",
            where=self._where(model, step),
            why=self._why(need, have, fixed, live.get(step, 0), step),
            help=tuple(self._help(fixed, have, live.get(step, 0))),
        )

    def _where(self, model: Model, step: int) -> str:
        if not self.tasks:
            return model.source or model.name
        candidate = self.tasks[step].candidate
        sources = ", ".join(repr(name) for name in model.origin(candidate.match.nodes)[:SHOWN_MAX])
        return f"most is alive at task {step}: {sources} ({candidate.pattern.name} on {candidate.unit})"

    def _why(self, need: int, have: int, fixed: int, peak: int, step: int) -> str:
        at_peak = [
            (name, block.size_bytes)
            for name, block in zip(self.names, self.blocks, strict=True)
            if block.first <= step <= block.last
        ]
        told = [
            f"needs {need} bytes of {have}: {self.arena_bytes} for activations, {fixed} for constants",
            f"alive at task {step}: {_largest(at_peak) or 'nothing'}",
        ]
        if self.arena_bytes > peak:
            told.append(f"{self.arena_bytes - peak} bytes of the activations are gaps between tensors")
        if self.constants:
            told.append(f"largest constants: {_largest(self.constants)}")
        return "; ".join(told)

    def _help(self, fixed: int, have: int, peak: int) -> list[str]:
        lines = []
        if fixed > have:
            lines.append(f"make the constants {fixed - have} bytes smaller: fewer channels, or narrower weights")
        if fixed + peak > have:
            over = fixed + peak - have
            lines.append(f"make the tensors at the peak {over} bytes smaller: a smaller input, or fewer channels there")
        lines.append(f"choose a target whose {self.memory.name} has at least {fixed + self.arena_bytes} bytes")
        return lines


def _largest(sizes: Sequence[tuple[str, int]]) -> str:
    ranked = sorted(sizes, key=lambda pair: (-pair[1], pair[0]))
    told = [f"{name!r} {size}" for name, size in ranked[:SHOWN_MAX]]
    rest = ranked[SHOWN_MAX:]
    if rest:
        told.append(f"{len(rest)} more with {sum(size for _, size in rest)} together")
    return ", ".join(told)
