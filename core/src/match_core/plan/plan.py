"""From a mapping to a program: an order of tasks, buffers with lifetimes and addresses, use of every memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from match_core.contract.mapping import held_bytes
from match_core.contract.program import Buffer, MemoryUse, Program, Task
from match_core.plan.draft import Draft
from match_core.plan.order import dependencies
from match_core.plan.packing import aligned

if TYPE_CHECKING:
    from match_core.contract.hardware import Memory, Soc
    from match_core.contract.planning import Sizes

Kind = Literal["activation", "input", "output"]


def program_of(soc: Soc, draft: Draft, constants: Sizes = (), stored: Sizes = ()) -> Program:
    """The program of a draft that fits, with its constants in the home memory and in the store."""
    buffers = _buffers(soc, draft)
    tasks = _tasks(draft, buffers)
    memory = _memory_use(soc, draft, sum(size for _, size in constants), sum(size for _, size in stored))
    cycles = sum(assignment.schedule.cost.total_cycles for assignment in draft.assignments)
    return Program(soc, tasks, buffers, memory, draft.allocation.solver, cycles)


def _buffers(soc: Soc, draft: Draft) -> tuple[Buffer, ...]:
    """Named by kind and number: inputs, outputs and activations as they are written, then scratch."""
    offsets = dict(zip(draft.owned, draft.allocation.offsets, strict=False))
    buffers: list[Buffer] = []
    counts: dict[str, int] = {}
    far_bytes = 0  # the memory has room for all of them at once
    for number, (storage, life) in enumerate(zip(draft.storages, draft.lives, strict=True)):
        kind: Kind = "input" if storage.source else "output" if storage.target else "activation"
        name = f"{kind}_{counts.setdefault(kind, 0)}"
        counts[kind] += 1
        memory, offset = soc.home, offsets.get(number, 0)
        if storage.overflow:
            memory, offset = soc.overflow or soc.home, 0 if kind != "activation" else far_bytes
            far_bytes += aligned(storage.size_bytes, soc.memory(memory).alignment_bytes) if kind == "activation" else 0
        size, starts = storage.size_bytes, storage.starts
        buffers.append(Buffer(name, storage.tensors, memory, offset, size, life.first, life.last, kind, starts))
    for place, block, offset in zip(
        draft.scratch, draft.blocks[len(draft.owned) :], draft.allocation.offsets[len(draft.owned) :], strict=True
    ):
        buffers.append(Buffer(f"scratch_{place}", (), soc.home, offset, block.size_bytes, place, place, "scratch"))
    return tuple(buffers)


def _tasks(draft: Draft, buffers: Sequence[Buffer]) -> tuple[Task, ...]:
    home = {tensor: buffer.name for buffer in buffers for tensor in buffer.tensors}
    depends = dependencies(draft.flows)
    tasks, start = [], 0
    for index, (assignment, flow) in enumerate(zip(draft.assignments, draft.flows, strict=True)):
        reads, makes = (tuple(dict.fromkeys(home[name] for name in names)) for names in (flow.reads, flow.makes))
        tasks.append(Task(index, assignment, reads, makes, depends[index], start))
        start += assignment.schedule.cost.total_cycles
    return tuple(tasks)


def far_bytes(draft: Draft, memory: Memory) -> tuple[int, int]:
    """Bytes of the overflow memory used by the program and by the caller."""
    sizes = {True: 0, False: 0}
    for storage in draft.storages:
        if storage.overflow:
            sizes[storage.source or storage.target] += aligned(storage.size_bytes, memory.alignment_bytes)
    return sizes[False], sizes[True]


def _memory_use(soc: Soc, draft: Draft, constant_bytes: int, stored_bytes: int) -> tuple[MemoryUse, ...]:
    """All memories of the Soc, in its order; a unit's memory is used by one task at a time."""
    working: dict[str, int] = {}
    for assignment in draft.assignments:
        if assignment.schedule.memory == soc.home:
            raise ValueError(f"a unit has its tiles in {soc.home}, which holds the activations")
        for name, size in assignment.schedule.working_bytes:
            working[name] = max(working.get(name, 0), size)
    uses, held = [], held_bytes(draft.assignments)
    for memory in soc.memories:
        use = MemoryUse(memory.name, working.get(memory.name, 0), held.get(memory.name, 0), memory.size_bytes)
        if memory.name == soc.home:
            use = replace(use, arena_bytes=draft.allocation.arena_bytes, caller_bytes=draft.caller_bytes)
            use = replace(use, constant_bytes=constant_bytes)
        elif memory.name == soc.store:
            use = replace(use, constant_bytes=stored_bytes)
        if memory.name == soc.overflow:
            own, callers = far_bytes(draft, memory)
            use = replace(use, arena_bytes=own, caller_bytes=callers)
        uses.append(use)
    return tuple(uses)
