"""The queues of a concurrent program with their tables, as the templates print them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from match_core.contract.unit_api import QueueApi
from match_core.emit.view import NeedsView, QueueView, RowView, SwapView
from match_core.ir.naming import c_identifier
from match_core.lower.text import comment, noted

if TYPE_CHECKING:
    from match_core.contract.program import Queue, Swap, Task
    from match_core.emit.places import Places
    from match_core.emit.tasks import EmitRequest
    from match_core.emit.view import TaskView
    from match_core.lower.lower import Lowered

#: Counts of tasks are 16 bits wide in the tables of needs.
MOST_TASKS = 0xFFFF


class QueueWriter:
    """Makes the views of a program's queues. ``views``: of the tasks that have code, by index."""

    def __init__(self, request: EmitRequest, places: Places, views: Mapping[int, TaskView]) -> None:
        self.request, self.program, self.places, self.views = request, request.program, places, views
        self.filled = tuple(queue for queue in self.program.queues if queue.tasks)
        self.swaps = {swap.index: swap for swap in self.program.swaps}

    def write(self) -> tuple[QueueView, ...]:
        """All queues that have tasks, in the program's order."""
        if too_long := [queue.name for queue in self.filled if len(queue.tasks) > MOST_TASKS]:
            raise ValueError(f"queues {too_long} have more than {MOST_TASKS} tasks")
        return tuple(self._link(queue) if queue.kind == "link" else self._tasks(queue) for queue in self.filled)

    def _tasks(self, queue: Queue) -> QueueView:
        tasks = [self.program.tasks[index] for index in queue.tasks]
        units = {task.assignment.candidate.unit for task in tasks} - {queue.name}
        if strangers := {unit for unit in units if queue.kind != "host" or self.request.apis[unit].queue is not None}:
            raise ValueError(f"queue {queue.name} has tasks of other units: {sorted(strangers)}")
        if missing := [task.index for task in tasks if task.index not in self.views]:
            raise ValueError(f"queue {queue.name} has tasks without code: {missing}")
        api = self.request.apis[queue.name].queue
        if queue.kind == "unit" and api is None:
            raise ValueError(f"unit {queue.name} has no dispatch loop")
        api = api if queue.kind == "unit" and api is not None else QueueApi()
        return QueueView(
            name=queue.name,
            field=c_identifier(queue.name),
            kind="started" if api.done else queue.kind,
            needs=tuple(self._needs(task.needs, self._words(task)) for task in tasks),
            rows=tuple(self._row(task) for task in tasks),
            regions=tuple(self.views[task.index].region for task in tasks),
            calls=tuple(self._call(task) if queue.kind == "host" else "" for task in tasks),
            launch=api.launch,
            wait=api.wait,
            join=api.join,
            signal=api.signal,
            notify=api.notify,
            done=api.done,
        )

    def _link(self, queue: Queue) -> QueueView:
        swaps = [self.swaps[index] for index in queue.tasks]
        return QueueView(
            name=queue.name,
            field=c_identifier(queue.name),
            kind="link",
            needs=tuple(self._needs(swap.needs, _swap_words(swap)) for swap in swaps),
            swaps=tuple(self._swap(swap) for swap in swaps),
        )

    def _needs(self, needs: tuple[tuple[str, int], ...], words: str) -> NeedsView:
        counts, names = dict(needs), [queue.name for queue in self.filled]
        if unknown := {name for name, count in needs if count} - set(names):
            raise ValueError(f"{words}: needs tasks of queues that have none: {sorted(unknown)}")
        row = tuple(counts.get(name, 0) for name in names)
        return NeedsView(row, noted(f"{{{', '.join(f'{count}u' for count in row)}}},", words, indent=4))

    def _words(self, task: Task) -> str:
        end = task.start_cycles + task.cycles
        return f"{task.index}: {self.views[task.index].title}; cycles {task.start_cycles}..{end} (modelled)"

    def _row(self, task: Task) -> RowView:
        view, lowered = self.views[task.index], self._lowered(task)
        return RowView(
            index=task.index,
            note=comment(f"{task.index}: {view.title}", indent=4),
            function=view.function,
            near=self._place(self.places.near(task)),
            scratch=self._place(self.places.scratch(task)),
            inputs=tuple(self._place(self.places.tensor(t, task.buffers_in)) for t in lowered.inputs),
            outputs=tuple(self._place(self.places.tensor(t, task.buffers_out)) for t in lowered.outputs),
            privates=tuple(self._place((c_identifier(memory), 0)) for memory in view.private_memories),
        )

    def _call(self, task: Task) -> str:
        """The C function with which the host hands a task to its unit; empty for the host's own tasks."""
        unit = task.assignment.candidate.unit
        return self.request.apis[unit].platform.call if unit != self.program.soc.host else ""

    def _lowered(self, task: Task) -> Lowered:
        lowered = self.request.lowered[task.index]
        assert lowered is not None
        return lowered

    def _swap(self, swap: Swap) -> SwapView:
        buffers = {buffer.name: buffer for buffer in self.program.buffers}
        source, target = buffers[swap.source], buffers[swap.target]
        out = target.memory == self.program.soc.store
        home, store = (source, target) if out else (target, source)
        return SwapView(self._place(self.places.place(home)), store.offset_bytes, swap.size_bytes, out)

    def _place(self, place: tuple[str, int]) -> str:
        """A place as an initialiser; empty for none."""
        base, offset = place
        return "" if base == "none" else f"{{{self.request.model.name}_base_{base}, {offset}u}}"


def _swap_words(swap: Swap) -> str:
    end = swap.start_cycles + swap.cycles
    words = f"{swap.source} to {swap.target}, {swap.size_bytes} bytes"
    return f"{words}; cycles {swap.start_cycles}..{end} (modelled)"
