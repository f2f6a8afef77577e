"""Where the time of a program with units side by side goes, on its busiest queue: work, waiting for others, signals."""

from __future__ import annotations

from dataclasses import dataclass

from match_core.contract.program import Program, Queue, Task


@dataclass(frozen=True, slots=True)
class Spent:
    """Modelled cycles of one queue: ``works`` on its tasks; ``waits`` until what its tasks need is done, and at the end
    for the other queues; ``signals``: from then until the task begins, between tasks, and around the session."""

    queue: str
    works: int
    waits: int
    signals: int


def busiest(program: Program) -> Spent:
    """The queue of a unit or the host that works most."""
    spent = [_spent(program, queue) for queue in program.queues if queue.kind != "link"]
    return max(spent, key=lambda queue: queue.works)


def _spent(program: Program, queue: Queue) -> Spent:
    tasks = {task.index: task for task in program.tasks}
    done = {q.name: [_end(program, q, index) for index in q.tasks] for q in program.queues}
    works = waits = now = 0
    for index in queue.tasks:
        task = tasks[index]
        ready = max((done[name][count - 1] for name, count in task.needs), default=0)
        waits += max(0, min(ready, task.start_cycles) - now)
        works += task.cycles
        now = task.start_cycles + task.cycles
    waits += max(end for ends in done.values() for end in ends) - now
    return Spent(queue.name, works, waits, program.predicted_cycles - works - waits)


def _end(program: Program, queue: Queue, index: int) -> int:
    if queue.kind == "link":
        swap = program.swaps[index]
        return swap.start_cycles + swap.cycles
    task = next(task for task in program.tasks if task.index == index)
    return task.start_cycles + task.cycles


def works(program: Program) -> str:
    """The part of the time that each queue works, or its unit is busy with a task of another, in words."""
    queues = (queue for queue in program.queues if queue.kind != "link")
    busy = {queue.name: sum(program.tasks[index].cycles for index in queue.tasks) for queue in queues if queue.tasks}
    for task in program.tasks:
        for unit in task.assignment.candidate.pattern.occupies:
            busy[unit] = busy.get(unit, 0) + task.cycles
    return ", ".join(f"{name} {cycles / program.predicted_cycles:.0%}" for name, cycles in busy.items())


def surcharge(before: Program, beside: Program) -> float | None:
    """By how much shares cost more than their part of the whole operator, of those whose whole operator the program
    ``before`` runs by the same pattern of the same unit: 0.1 for 10 %. None where there are none."""
    whole = {_key(task): task.assignment.schedule.cost.total_cycles for task in before.tasks}
    cost = parts = 0.0
    for task in beside.tasks:
        share = task.assignment.candidate.share
        if share is not None and _key(task) in whole:
            cost += task.cycles
            parts += whole[_key(task)] * share.size / share.whole.dim(share.dim).size
    return cost / parts - 1 if parts else None


def _key(task: Task) -> tuple[str, str, tuple[str, ...]]:
    candidate = task.assignment.candidate
    return candidate.unit, candidate.pattern.name, candidate.node_names
