"""Memories and the rectangles in them: which bytes hold what, from when to when."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from match_core.planning.program import Buffer, Program, Task


def memories_json(program: Program) -> list[dict[str, object]]:
    """By memory its size and what is used of it, in bytes (``MemoryUse``)."""
    level = {memory.name: memory.level for memory in program.soc.memories}
    return [
        {
            "name": use.memory,
            "level": level[use.memory],
            "available_bytes": use.available_bytes,
            "used_bytes": use.used_bytes,
            "arena_bytes": use.arena_bytes,
            "constant_bytes": use.constant_bytes,
            "caller_bytes": use.caller_bytes,
        }
        for use in program.memory
    ]


def buffers_json(program: Program) -> list[dict[str, object]]:
    """Buffers of the arenas. A buffer lives from the start of its first task to the end of its last one, in modelled
    cycles; graph inputs and outputs are the caller's and have no place (``offset_bytes`` is null)."""
    return [_buffer(program, buffer) for buffer in program.buffers]


def _buffer(program: Program, buffer: Buffer) -> dict[str, object]:
    placed = buffer.kind in ("activation", "scratch")
    start, end = lifetime(program, buffer)
    return {
        "name": buffer.name,
        "tensors": list(buffer.tensors),
        "kind": buffer.kind,
        "memory": buffer.memory,
        "offset_bytes": buffer.offset_bytes if placed else None,
        "size_bytes": buffer.size_bytes,
        "first_layer": buffer.first_task,
        "last_layer": buffer.last_task,
        "start_cycles": start,
        "end_cycles": end,
    }


def end_cycles(task: Task) -> int:
    """When a task ends, in modelled cycles."""
    return task.start_cycles + (task.cycles or task.assignment.schedule.cost.total_cycles)


def lifetime(program: Program, buffer: Buffer) -> tuple[int, int]:
    """[start, end) in modelled cycles. Side by side, tasks do not end in the order of their numbers."""
    alive = [task for task in program.tasks if buffer.first_task <= task.index <= buffer.last_task]
    if not alive:
        return (0, program.predicted_cycles)
    if not program.queues:
        return (alive[0].start_cycles, end_cycles(alive[-1]))
    users = [task for task in alive if buffer.name in (*task.buffers_in, *task.buffers_out)] or alive
    return (min(task.start_cycles for task in users), max(end_cycles(task) for task in users))
