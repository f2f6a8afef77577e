"""Check a concurrent program against the graph, sharing nothing with the planner.

The program is run once in a legal order, on tables with a column for every range of bytes that is used as a whole.
The tables record, for each queue, the last task that touched the bytes, and which part of which tensor they hold. Two
tasks that touch the same bytes, one of them writing, must be ordered by queues and needs alone; then every legal order
results in the same contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from match_core.contract.program import Buffer
from match_core.validate.program_static import cover_faults, life_faults, part_faults, time_faults
from match_core.validate.sequential_program import memory_faults, streaming_faults
from match_core.validate.touched import Touch, tensor_size, touches

if TYPE_CHECKING:
    import numpy as np
    import onnx_graphsurgeon as gs
    from numpy.typing import NDArray

    from match_core.contract.program import Program, Swap, Task

#: Contents of a byte: number of the tensor's storage times this, plus the position in it.
_STORAGE = 1 << 40


def concurrent_faults(graph: gs.Graph, program: Program) -> tuple[str, ...]:
    """All faults of a concurrent program; empty if it is correct: shares cover every node once; each task is in its
    unit's queue once; in every order that the needs allow, reads see the bytes that were written for them; needs hold
    nothing superfluous or implied; start times, lives, arenas and sizes are consistent."""
    faults = [*cover_faults(graph, program), *_queue_faults(program), *_buffer_faults(graph, program)]
    if not faults:
        faults += _Run(graph, program).faults()
        faults += time_faults(program)
        faults += life_faults(program)
    faults += memory_faults(program)
    faults += part_faults(program)
    faults += streaming_faults(program)
    return tuple(faults)


def _queue_faults(program: Program) -> Iterator[str]:
    """Every task with code is once in the queue of its unit, or in the host's queue if its unit has no dispatch loop;
    every swap is once in the queue of the link."""
    names = [queue.name for queue in program.queues]
    if len(set(names)) != len(names):
        yield "two queues share a name"
    if [task.index for task in program.tasks] != list(range(len(program.tasks))):
        yield "tasks are not numbered in order"
    if [swap.index for swap in program.swaps] != list(range(len(program.swaps))):
        yield "swaps are not numbered in order"
    queued = [index for queue in program.queues if queue.kind != "link" for index in queue.tasks]
    running = [task.index for task in program.tasks if not task.assignment.candidate.pattern.view]
    if sorted(queued) != running:
        yield "the queues do not hold every task once"
        return
    links = [queue for queue in program.queues if queue.kind == "link"]
    if sorted(index for queue in links for index in queue.tasks) != [swap.index for swap in program.swaps]:
        yield "the link's queue does not hold every swap once"
    sizes = {queue.name: len(queue.tasks) for queue in program.queues}
    for queue in program.queues:
        if queue.kind != "link":
            wrong = [i for i in queue.tasks if program.tasks[i].queue != queue.name]
            if queue.kind != "host":
                wrong += [i for i in queue.tasks if program.tasks[i].assignment.candidate.unit != queue.name]
            yield from (f"task {index} is in the wrong queue, {queue.name}" for index in wrong)
    for what, needs in _all_needs(program):
        if len(dict(needs)) != len(needs):
            yield f"{what} has two counts for one queue"
        yield from (f"{what} needs {n} of {q}" for q, n in needs if not 0 < n <= sizes.get(q, 0))


def _all_needs(program: Program) -> Iterator[tuple[str, tuple[tuple[str, int], ...]]]:
    yield from ((f"task {task.index}", task.needs) for task in program.tasks)
    yield from ((f"swap {swap.index}", swap.needs) for swap in program.swaps)


def _buffer_faults(graph: gs.Graph, program: Program) -> Iterator[str]:
    """Names, kinds and sizes of buffers."""
    if len({buffer.name for buffer in program.buffers}) != len(program.buffers):
        yield "two buffers share a name"
    home, store, overflow = program.soc.home, program.soc.store, program.soc.overflow
    tensors = {t.name: t for node in graph.nodes for t in (*node.inputs, *node.outputs)}
    tensors.update({t.name: t for t in graph.inputs})
    for buffer in program.buffers:
        need = max((tensor_size(tensors[name]) for name in buffer.tensors), default=0)
        if buffer.size_bytes < need:
            yield f"{buffer.name} has {buffer.size_bytes} bytes, its tensors {need}"
        if buffer.memory not in (home, store, overflow) or (buffer.kind == "scratch" and buffer.memory != home):
            yield f"{buffer.name} is in {buffer.memory}"
    for ends, kind in ((graph.inputs, "input"), (graph.outputs, "output")):
        owners = [buffer for buffer in program.buffers if buffer.kind == kind]
        if len(owners) != len(ends):
            yield f"{len(owners)} {kind} buffers for {len(ends)} graph {kind}s"
        for tensor in ends:
            if not any(tensor.name in owner.tensors for owner in owners):
                yield f"graph {kind} {tensor.name!r} is not in a buffer of the caller"


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Rows of bytes in the common space of addresses, the storage that they are part of, and where that begins."""

    first: NDArray[np.int64]
    end: NDArray[np.int64]
    writes: bool
    storage: int
    base: int
    what: str


class _Run:
    """One run of a program in an order that queues and needs allow."""

    def __init__(self, graph: gs.Graph, program: Program) -> None:
        self.graph, self.program = graph, program
        self.queues = {queue.name: number for number, queue in enumerate(program.queues)}
        self.buffers = {buffer.name: buffer for buffer in program.buffers}
        self.problems: list[str] = []
        swaps = (name for swap in program.swaps for name in (swap.source, swap.target))
        self.swapped_out = {n for n in swaps if n in self.buffers and self.buffers[n].memory != program.soc.home}
        self.storage_of = self._storages()
        self.bases = self._bases()

    def faults(self) -> list[str]:
        """The faults found by the run."""
        import numpy as np

        self.work = [self._work(number) for number in range(len(self.program.queues))]
        rows = [rows for queue in self.work for row in queue for rows in (row[1])]
        if self.problems:
            return self.problems
        ends = [np.zeros(1, np.int64), *(r.first for r in rows), *(r.end for r in rows), *self._caller_ends()]
        self.edges = np.unique(np.concatenate(ends), return_index=True)[0]  # alone, it imports numpy.ma: 45 ms
        lanes = len(self.work)
        self.wrote = np.zeros((lanes, len(self.edges)), np.int64)
        self.used = np.zeros((lanes, len(self.edges)), np.int64)
        self.holds = np.full(len(self.edges), -1, np.int64)
        self._fill_inputs()
        self._execute()
        self._check_outputs()
        return self.problems

    def _storages(self) -> dict[str, int]:
        """Numbers of storages; tensors with the same bytes (a view's result and its input) have the same number."""
        tensors = {t.name: t for node in self.graph.nodes for t in (*node.inputs, *node.outputs)}
        tensors.update({t.name: t for t in self.graph.inputs})
        number = {name: place for place, name in enumerate(tensors)}
        for task in self.program.tasks:
            if task.assignment.candidate.pattern.view:
                found = touches(task.assignment, self.graph)
                made = [touch.tensor for touch in found if touch.writes]
                size = tensor_size(tensors[made[0]])
                shown = [t.tensor for t in found if not t.writes and tensor_size(tensors[t.tensor]) == size]
                number.update(dict.fromkeys(made, number[shown[0]]))
        return number

    def _bases(self) -> dict[str, int]:
        """The first address of each buffer in the common space of addresses: arenas, then the caller's buffers one by
        one, then a byte for each unit that tasks of other queues occupy, which its tasks write."""
        bases, top = {}, 0
        for memory in dict.fromkeys((self.program.soc.home, self.program.soc.store, self.program.soc.overflow)):
            mine = [b for b in self.program.buffers if b.memory == memory and b.kind in ("activation", "scratch")]
            bases.update({buffer.name: top + buffer.offset_bytes for buffer in mine})
            top += max((buffer.offset_bytes + buffer.size_bytes for buffer in mine), default=0)
        for buffer in self.program.buffers:
            if buffer.kind in ("input", "output"):
                bases[buffer.name] = top
                top += buffer.size_bytes
        tasks = (task.assignment.candidate for task in self.program.tasks)
        units = dict.fromkeys(unit for candidate in tasks for unit in candidate.pattern.occupies)
        return bases | {f"unit {unit}": top + number for number, unit in enumerate(units)}

    def _work(self, number: int) -> list[tuple[str, list[_Bytes], tuple[tuple[str, int], ...]]]:
        """The accesses and needs of a queue's tasks, in the queue's order."""
        queue = self.program.queues[number]
        if queue.kind == "link":
            swaps = [self.program.swaps[index] for index in queue.tasks]
            return [(f"swap {swap.index}", self._of_swap(swap), swap.needs) for swap in swaps]
        tasks = [self.program.tasks[index] for index in queue.tasks]
        return [(f"task {task.index}", self._of_task(task), task.needs) for task in tasks]

    def _of_task(self, task: Task) -> list[_Bytes]:
        found = []
        match = task.assignment.candidate.match
        listed = {tensor.name for tensor in match.results or match.nodes[-1].outputs}
        for touch in touches(task.assignment, self.graph):
            if touch.writes and touch.tensor not in listed:
                self.problems.append(f"task {task.index} does not list {touch.tensor!r}, which other tasks read")
            names = task.buffers_out if touch.writes else task.buffers_in
            mine = [self.buffers[n] for n in names if n in self.buffers and touch.tensor in self.buffers[n].tensors]
            if len(mine) != 1 or mine[0].name in self.swapped_out:
                self.problems.append(f"task {task.index} names no buffer for {touch.tensor!r}")
                continue
            found.append(self._part(mine[0], touch))
            if mine[0].memory != self._expected(task, touch):
                self.problems.append(f"task {task.index}: {touch.tensor!r} is in {mine[0].memory}, not as scheduled")
        own = [b for b in self.program.buffers if b.kind == "scratch" and b.first_task == task.index == b.last_task]
        found += [self._whole(buffer, writes=True) for buffer in own]
        units = (f"unit {unit}" for unit in task.assignment.candidate.units)
        return [*found, *(self._whole(Buffer(u, (), "", 0, 1, 0, 0), writes=True) for u in units if u in self.bases)]

    def _expected(self, task: Task, touch: Touch) -> str | None:
        """The memory in which the task's schedule expects a tensor; for units that work in place, any that holds it."""
        candidate, program = task.assignment.candidate, self.program
        if task.assignment.schedule.memory is None:
            names = (*task.buffers_in, *task.buffers_out)
            return next(b.memory for b in map(self.buffers.__getitem__, names) if touch.tensor in b.tensors)
        made = iter(candidate.match.results or candidate.match.nodes[-1].outputs)
        for operand in candidate.workload.operands:
            if operand.role == ("output" if touch.writes else "input"):
                tensor = next(made) if touch.writes else candidate.match.tensor(operand.name)
                if tensor.name == touch.tensor:
                    return operand.far or program.soc.home
        return program.soc.home

    def _part(self, buffer: Buffer, touch: Touch) -> _Bytes:
        base = self.bases[buffer.name]
        storage = self.storage_of[touch.tensor]
        return _Bytes(touch.first + base, touch.end + base, touch.writes, storage, base, repr(touch.tensor))

    def _whole(self, buffer: Buffer, *, writes: bool) -> _Bytes:
        import numpy as np

        base = self.bases[buffer.name]
        storage = self.storage_of[buffer.tensors[0]] if buffer.tensors else len(self.storage_of)
        first = np.full(1, base, np.int64)
        return _Bytes(first, first + buffer.size_bytes, writes, storage, base, buffer.name)

    def _of_swap(self, swap: Swap) -> list[_Bytes]:
        source, target = self.buffers.get(swap.source), self.buffers.get(swap.target)
        if source is None or target is None:
            self.problems.append(f"swap {swap.index} names buffers that do not exist")
            return []
        memories = {source.memory, target.memory}
        same = source.tensors == target.tensors != () and source.size_bytes == target.size_bytes == swap.size_bytes
        if memories != {self.program.soc.home, self.program.soc.store} or not same:
            self.problems.append(f"swap {swap.index} does not copy a buffer from one memory to the other")
        if source.kind != "activation" or target.kind != "activation":
            self.problems.append(f"swap {swap.index} copies a buffer of the caller, or scratch")
        return [self._whole(source, writes=False), self._whole(target, writes=True)]

    def _caller_ends(self) -> list[NDArray[np.int64]]:
        import numpy as np

        kept = [b for b in self.program.buffers if b.kind in ("input", "output")]
        return [np.array([self.bases[b.name], self.bases[b.name] + b.size_bytes], np.int64) for b in kept]

    def _columns(self, rows: _Bytes) -> NDArray[np.int64] | slice:
        """The columns of the tables for these bytes."""
        import numpy as np

        low, high = np.searchsorted(self.edges, rows.first), np.searchsorted(self.edges, rows.end)
        if len(low) == 1:
            return slice(int(low[0]), int(high[0]))
        counts = high - low
        starts = np.repeat(low - np.cumsum(counts) + counts, counts)
        return np.asarray(starts + np.arange(int(counts.sum())), np.int64)

    def _fill_inputs(self) -> None:
        for buffer in self.program.buffers:
            if buffer.kind == "input":
                self._hold(self._whole(buffer, writes=True))

    def _hold(self, rows: _Bytes) -> None:
        columns = self._columns(rows)
        self.holds[columns] = rows.storage * _STORAGE + self.edges[columns] - rows.base

    def _holds(self, rows: _Bytes) -> bool:
        columns = self._columns(rows)
        wanted = rows.storage * _STORAGE + self.edges[columns] - rows.base
        return bool((self.holds[columns] == wanted).all())

    def _check_outputs(self) -> None:
        for buffer in self.program.buffers:
            if buffer.kind == "output" and not self._holds(self._whole(buffer, writes=False)):
                self.problems.append(f"{buffer.name} is incomplete at the end")

    def _execute(self) -> None:
        """Run queues in turn as far as their needs allow. ``clocks``: by queue and position, how many tasks of every
        queue are certainly done when that task is."""
        clocks: list[list[list[int]]] = [[] for _ in self.work]
        moved = True
        while moved:
            moved = False
            for lane, queue in enumerate(self.work):
                while len(clocks[lane]) < len(queue):
                    what, rows, needs = queue[len(clocks[lane])]
                    if any(len(clocks[self.queues[name]]) < count for name, count in needs):
                        break
                    self._step(lane, what, rows, {self.queues[n]: count for n, count in needs}, clocks)
                    moved = True
        stuck = [q[len(c)][0] for q, c in zip(self.work, clocks, strict=True) if len(c) < len(q)]
        if stuck:
            self.problems.append(f"{', '.join(stuck)} wait for each other")

    def _step(
        self, lane: int, what: str, rows: list[_Bytes], needs: dict[int, int], clocks: list[list[list[int]]]
    ) -> None:
        lanes = range(len(clocks))
        own = list(clocks[lane][-1]) if clocks[lane] else [0] * len(clocks)
        known = list(own)
        for other, count in needs.items():
            known = [max(a, b) for a, b in zip(known, clocks[other][count - 1], strict=True)]
        wanted = [0] * len(clocks)
        for part in rows:
            columns = self._columns(part)
            table = self.used if part.writes else self.wrote
            last = table[:, columns].max(axis=1)
            wanted = [max(a, int(b)) for a, b in zip(wanted, last, strict=True)]
            if not part.writes and not self._holds(part):
                self.problems.append(f"{what} reads {part.what}, which is not there")
        names = [queue.name for queue in self.program.queues]
        for other in lanes:
            if other != lane and wanted[other] > known[other]:
                self.problems.append(f"{what} shares bytes with number {wanted[other]} of {names[other]}: no order")
        for other, count in needs.items():
            rest = [clocks[third][n - 1][other] for third, n in needs.items() if third != other]
            if count <= max([own[other], *rest]):
                self.problems.append(f"{what}: {count} of {names[other]} is implied")
            elif count != wanted[other]:
                self.problems.append(f"{what} needs {count} of {names[other]}, shares bytes with {wanted[other]}")
        position = len(clocks[lane]) + 1
        for part in rows:
            columns = self._columns(part)
            self.used[lane, columns] = position
            if part.writes:
                self.wrote[lane, columns] = position
                self._hold(part)
        known[lane] = position
        clocks[lane].append(known)
