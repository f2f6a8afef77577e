"""Memories and the buffers in them: which bytes hold what, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.lower.overlap import overwritten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from match_core.contract.program import Buffer, Program, Task


def memories_json(program: Program) -> list[dict[str, object]]:
    """Size and use of each memory by name, in bytes (``MemoryUse``)."""
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
    cycles; graph inputs and outputs belong to the caller and have no address (``offset_bytes`` is null)."""
    users: dict[str, list[Task]] = {}
    for task in program.tasks:
        for name in (*task.buffers_in, *task.buffers_out):
            users.setdefault(name, []).append(task)
    by_index = {task.index: task for task in program.tasks}
    shared = overwritten(program).items()
    over = {name: [one.name for one in read] for index, read in shared for name in by_index[index].buffers_out}
    return [
        _buffer(program, buffer, by_index, users.get(buffer.name, []))
        | ({"overwrites": over[buffer.name]} if buffer.name in over else {})
        for buffer in program.buffers
    ]


def _buffer(program: Program, buffer: Buffer, by_index: Mapping[int, Task], users: Sequence[Task]) -> dict[str, object]:
    placed = buffer.kind in ("activation", "scratch") or (buffer.kind, buffer.memory) == ("constant", program.soc.home)
    start, end = _lifetime(program, buffer, by_index, users)
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


def _lifetime(program: Program, buffer: Buffer, by_index: Mapping[int, Task], users: Sequence[Task]) -> tuple[int, int]:
    """[start, end) in modelled cycles. In a concurrent program, tasks do not end in the order of their numbers, and
    swapped buffers live from the copy that fills them, or until the copy that empties them."""
    ends = [by_index[number] for number in (buffer.first_task, buffer.last_task) if number in by_index]
    swaps = [swap for swap in program.swaps if buffer.name in (swap.source, swap.target)]
    known = (users if users or swaps else ends) if program.queues else ends
    spans = [(task.start_cycles, end_cycles(task)) for task in known]
    spans += [(swap.start_cycles, swap.start_cycles + swap.cycles) for swap in swaps]
    if not spans:
        return (0, program.predicted_cycles)
    return (min(start for start, _ in spans), max(end for _, end in spans))
