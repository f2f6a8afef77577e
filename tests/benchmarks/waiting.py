"""Where the time of a program with units side by side goes, on its busiest queue: work, waiting for others, signals."""

from __future__ import annotations

from dataclasses import dataclass

from match_core.planning.program import Program, Queue


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
