"""Kernels whose result overwrites an input in some call: C must not promise that their parameters are separate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.program import Buffer, Program, Task
    from match_core.lower.lower import Lowered


def overwritten(program: Program, task: Task) -> tuple[Buffer, ...]:
    """The buffers that the task reads and that have bytes of the arena in common with one that it writes."""
    kept = [b for b in program.buffers if b.kind == "activation" and b.memory == program.soc.home]
    own = {b.name: range(b.offset_bytes, b.offset_bytes + b.size_bytes) for b in kept}
    made = [own[name] for name in task.buffers_out if name in own and name not in task.buffers_in]
    read = (b for b in kept if b.name in task.buffers_in)
    return tuple(b for b in read if any(own[b.name].start < r.stop and r.start < own[b.name].stop for r in made))


def unrestricted(program: Program, lowered: Sequence[Lowered | None]) -> tuple[Lowered | None, ...]:
    """The code of the program's tasks; kernels that overwrite an input in one of their calls do not state
    ``restrict``."""
    calls = [(task, low) for task, low in zip(program.tasks, lowered, strict=True) if low is not None and low.kernel]
    shared = {low.kernel for task, low in calls if overwritten(program, task)}
    return tuple(low if low is None or low.kernel not in shared else _without(low) for low in lowered)


def _without(low: Lowered) -> Lowered:
    head, brace, body = low.definition.partition("\n{")
    return replace(low, definition=head.replace("*restrict ", "*") + brace + body)
