"""Orders of tasks: the given one, and a greedy one with few bytes alive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from match_core.map.dataflow import Flow, Storage
from match_core.plan.overlap import Over, saved_bytes


@dataclass(frozen=True, slots=True)
class Life:
    """A storage lives during the tasks [first, last], both included."""

    first: int
    last: int


def dependencies(flows: Sequence[Flow]) -> tuple[tuple[int, ...], ...]:
    """For each task, the tasks that compute what it reads, ascending."""
    maker = {name: index for index, flow in enumerate(flows) for name in flow.makes}
    return tuple(tuple(sorted({maker[name] for name in flow.reads if name in maker})) for flow in flows)


def lives(flows: Sequence[Flow], storages: Sequence[Storage]) -> tuple[Life, ...]:
    """From the first task that writes one of the storage's tensors to the last that reads one. Graph inputs live from
    the start, outputs to the end. Copies between memories do not count."""
    made = {name: index for index, flow in enumerate(flows) for name in flow.makes}
    read = {name: index for index, flow in enumerate(flows) for name in flow.reads if not flow.swapped}
    found = []
    for storage in storages:
        first = 0 if storage.source else min(made[name] for name in storage.tensors)
        uses = [read.get(name, first) for name in storage.tensors]
        uses += [made.get(name, first) for name in storage.tensors]
        found.append(Life(first, max(len(flows) - 1, first) if storage.target else max(uses)))
    return tuple(found)


def low_memory_order(
    flows: Sequence[Flow], storages: Sequence[Storage], scratch_bytes: Mapping[int, int], over: Over = ()
) -> tuple[int, ...]:
    """A greedy topological order: of the tasks that can run next, the one that leaves the fewest bytes alive, then the
    one that requires the fewest while it runs, then the first. ``over``: what tasks may overwrite."""
    home = {name: number for number, storage in enumerate(storages) for name in storage.tensors}
    size = [0 if s.source or s.target else s.size_bytes for s in storages]
    readers = [0] * len(storages)  # tasks that have yet to touch the storage
    touches = [{home[name] for name in (*flow.reads, *flow.makes)} for flow in flows]
    for touched in touches:
        for number in touched:
            readers[number] += 1
    waiting = [len(makers) for makers in dependencies(flows)]
    followers: list[list[int]] = [[] for _ in flows]
    for task, makers in enumerate(dependencies(flows)):
        for maker in makers:
            followers[maker].append(task)
    alive: set[int] = set()
    ready = [task for task, count in enumerate(waiting) if count == 0]
    order: list[int] = []
    while ready:
        ranked = []
        for task in ready:
            during = sum(size[number] for number in touches[task] - alive)
            dying = [number for number in touches[task] if readers[number] == 1]
            freed = sum(size[number] for number in dying)
            during -= saved_bytes(over[task], dying, size) if over else 0
            ranked.append((during - freed, during + scratch_bytes.get(task, 0), task))
        task = min(ranked)[2]
        ready.remove(task)
        order.append(task)
        alive |= touches[task]
        for number in touches[task]:
            readers[number] -= 1
            if readers[number] == 0:
                alive.discard(number)
        for follower in followers[task]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    return tuple(order)
