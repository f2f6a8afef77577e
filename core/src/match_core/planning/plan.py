"""From a mapping to a program: an order of tasks, buffers with lifetimes and addresses, use of every
memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from match_core.patterns.topology import Topology
from match_core.planning.allocate import Allocation, allocate
from match_core.planning.dataflow import Flow, Storage, flow_of, storages_of
from match_core.planning.order import Life, dependencies, lives, low_memory_order
from match_core.planning.packing import Block
from match_core.planning.program import Buffer, MemoryUse, Program, Task
from match_core.planning.shortage import Shortage

if TYPE_CHECKING:
    from match_core.hardware import Soc
    from match_core.ir.model import Model
    from match_core.mapping.result import Assignment
    from match_core.mapping.result import Mapping as UnitMapping

Kind = Literal["activation", "input", "output"]


@dataclass(frozen=True)
class _Draft:
    """One order of tasks and what it costs in memory. ``blocks``: first the storages that need bytes of the
    arena (``owned``), then the scratch of tasks (``scratch``)."""

    assignments: tuple[Assignment, ...]
    flows: tuple[Flow, ...]
    storages: tuple[Storage, ...]
    lives: tuple[Life, ...]
    owned: tuple[int, ...]
    scratch: tuple[int, ...]
    blocks: tuple[Block, ...]
    allocation: Allocation


def plan(
    model: Model,
    mapping: UnitMapping,
    soc: Soc,
    constants: Sequence[tuple[str, int]] = (),
    scratch_bytes: Mapping[int, int] | None = None,
) -> Program:
    """Plan a program that runs task after task.

    ``constants``: (name, bytes) of everything that lies in the home memory besides activations;
    ``scratch_bytes``: position in ``mapping.assignments`` -> bytes of the home memory that the task needs
    while it runs. Of the mapping's order and one that keeps little alive, the order with the smaller arena is
    taken (the first of equals). InfeasibleError MATCH-M001 where activations and constants exceed the home
    memory.
    """
    scratch = dict(scratch_bytes or {})
    home = soc.memory(soc.home)
    capacity = home.size_bytes - sum(size for _, size in constants)
    topology = Topology.of(model.graph)
    flows = tuple(flow_of(topology, assignment) for assignment in mapping.assignments)
    storages = storages_of(model, flows)
    given = tuple(range(len(flows)))
    drafts = [
        _draft(mapping, flows, storages, order, scratch, home.alignment_bytes, capacity)
        for order in dict.fromkeys((given, low_memory_order(flows, storages, scratch)))
    ]
    draft = min(drafts, key=lambda d: d.allocation.arena_bytes)
    if draft.allocation.arena_bytes > capacity:
        names = [draft.storages[n].tensors[0] for n in draft.owned] + [f"scratch of task {n}" for n in draft.scratch]
        raise Shortage(
            home, draft.assignments, draft.blocks, tuple(names), draft.allocation.arena_bytes, tuple(constants)
        ).error(model)
    return _program(soc, draft, constants)


def _draft(
    mapping: UnitMapping,
    flows: Sequence[Flow],
    storages: tuple[Storage, ...],
    order: Sequence[int],
    scratch_bytes: Mapping[int, int],
    alignment_bytes: int,
    capacity_bytes: int,
) -> _Draft:
    ordered = tuple(flows[task] for task in order)
    alive = lives(ordered, storages)
    owned = tuple(n for n, storage in enumerate(storages) if not storage.source and not storage.target)
    scratch = tuple(place for place, task in enumerate(order) if scratch_bytes.get(task, 0) > 0)
    blocks = tuple(Block(storages[n].size_bytes, alive[n].first, alive[n].last) for n in owned)
    blocks += tuple(Block(scratch_bytes[order[place]], place, place) for place in scratch)
    return _Draft(
        assignments=tuple(mapping.assignments[task] for task in order),
        flows=ordered,
        storages=storages,
        lives=alive,
        owned=owned,
        scratch=scratch,
        blocks=blocks,
        allocation=allocate(blocks, alignment_bytes, capacity_bytes),
    )


def _program(soc: Soc, draft: _Draft, constants: Sequence[tuple[str, int]]) -> Program:
    buffers = _buffers(soc, draft)
    tasks = _tasks(draft, buffers)
    return Program(
        soc=soc,
        tasks=tasks,
        buffers=buffers,
        memory=_memory_use(soc, draft, sum(size for _, size in constants)),
        allocation=draft.allocation.solver,
        predicted_cycles=sum(a.schedule.cost.total_cycles for a in draft.assignments),
    )


def _buffers(soc: Soc, draft: _Draft) -> tuple[Buffer, ...]:
    """Named by kind and number: inputs, outputs and activations in the order in which they are made, then
    scratch."""
    offsets = dict(zip(draft.owned, draft.allocation.offsets, strict=False))
    buffers: list[Buffer] = []
    counts: dict[str, int] = {}
    for number, (storage, life) in enumerate(zip(draft.storages, draft.lives, strict=True)):
        kind: Kind = "input" if storage.source else "output" if storage.target else "activation"
        name = f"{kind}_{counts.setdefault(kind, 0)}"
        counts[kind] += 1
        offset = offsets.get(number, 0)
        buffers.append(Buffer(name, storage.tensors, soc.home, offset, storage.size_bytes, life.first, life.last, kind))
    for place, block, offset in zip(
        draft.scratch,
        draft.blocks[len(draft.owned) :],
        draft.allocation.offsets[len(draft.owned) :],
        strict=True,
    ):
        buffers.append(Buffer(f"scratch_{place}", (), soc.home, offset, block.size_bytes, place, place, "scratch"))
    return tuple(buffers)


def _tasks(draft: _Draft, buffers: Sequence[Buffer]) -> tuple[Task, ...]:
    home = {tensor: buffer.name for buffer in buffers for tensor in buffer.tensors}
    depends = dependencies(draft.flows)
    tasks, start = [], 0
    for index, (assignment, flow) in enumerate(zip(draft.assignments, draft.flows, strict=True)):
        tasks.append(
            Task(
                index=index,
                assignment=assignment,
                buffers_in=tuple(dict.fromkeys(home[name] for name in flow.reads)),
                buffers_out=tuple(dict.fromkeys(home[name] for name in flow.makes)),
                depends=depends[index],
                start_cycles=start,
            )
        )
        start += assignment.schedule.cost.total_cycles
    return tuple(tasks)


def _memory_use(soc: Soc, draft: _Draft, constant_bytes: int) -> tuple[MemoryUse, ...]:
    """All memories of the Soc, in its order; a unit's memory is used by one task at a time."""
    working: dict[str, int] = {}
    for assignment in draft.assignments:
        schedule = assignment.schedule
        if schedule.memory is not None:
            working[schedule.memory] = max(working.get(schedule.memory, 0), schedule.memory_bytes)
    if soc.home in working:
        raise ValueError(f"a unit tiles into {soc.home}, which holds the activations")
    return tuple(
        MemoryUse(
            memory=memory.name,
            arena_bytes=draft.allocation.arena_bytes if memory.name == soc.home else working.get(memory.name, 0),
            constant_bytes=constant_bytes if memory.name == soc.home else 0,
            available_bytes=memory.size_bytes,
        )
        for memory in soc.memories
    )
