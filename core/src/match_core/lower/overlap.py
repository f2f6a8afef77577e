"""Kernels whose result overwrites an input in some call: C must not promise that their parameters are separate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.contract.program import Buffer, Program
    from match_core.lower.lower import Lowered


def overwritten(program: Program) -> dict[int, tuple[Buffer, ...]]:
    """By index of the tasks that overwrite inputs: the buffers that they read and that have bytes of the arena in
    common with one that they write."""
    kept = {buffer.name: buffer for buffer in program.buffers if buffer.kind == "activation"}
    found = {}
    for task in program.tasks:
        made = [kept[name] for name in task.buffers_out if name in kept and name not in task.buffers_in]
        read = (kept[name] for name in task.buffers_in if name in kept)
        found[task.index] = tuple(buffer for buffer in read if any(_meet(buffer, other) for other in made))
    return {index: buffers for index, buffers in found.items() if buffers}


def _meet(one: Buffer, two: Buffer) -> bool:
    start, end = max(one.offset_bytes, two.offset_bytes), min(b.offset_bytes + b.size_bytes for b in (one, two))
    return one.memory == two.memory and start < end


def unrestricted(program: Program, lowered: Sequence[Lowered | None]) -> tuple[Lowered | None, ...]:
    """The code of the program's tasks; kernels that overwrite an input in one of their calls do not state
    ``restrict``."""
    over = overwritten(program)
    tasks = zip(program.tasks, lowered, strict=True)
    shared = {low.kernel for task, low in tasks if low is not None and low.kernel and task.index in over}
    return tuple(
        replace(low, definition=low.definition.replace("*restrict ", "*")) if low and low.kernel in shared else low
        for low in lowered
    )
