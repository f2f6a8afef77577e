"""Turns a draft into the program: tasks, queues, buffers, swaps, use of every memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from match_core.contract.mapping import SolverStatus, held_bytes
from match_core.contract.program import Buffer, MemoryUse, Program, Queue, Swap, Task
from match_core.plan.packing import aligned

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.contract.mapping import Assignment

    from match_concurrent.planning.build import Built
    from match_concurrent.planning.draft import Draft, PlanStep

Residence = tuple[int, int]


class Assembler:
    """Names and numbers of one draft. Tasks are numbered by start time; views, which run nothing and belong to no
    queue, follow the last task that writes their bytes."""

    def __init__(self, built: Built, draft: Draft, assignments: Sequence[Assignment], soc: Soc) -> None:
        self.built, self.draft, self.assignments, self.soc = built, draft, assignments, soc
        self.problem = built.problem
        self.started = {s.job: t for s, t in zip(draft.layout.steps, draft.starts, strict=True) if s.kind == "job"}
        self.job_at = {position: job for job, position in enumerate(built.positions)}
        self.order = self._order()
        self.index = {position: index for index, position in enumerate(self.order)}
        self.users = self.problem.users()
        self.item_of = {tensor: n for n, item in enumerate(self.problem.items) for tensor in item.tensors}
        self.names = self._names()
        self.first_name = {item: name for (item, _), name in reversed(self.names.items())}

    def program(self, status: SolverStatus, constant_bytes: int, stored_bytes: int, caller_bytes: int) -> Program:
        """The program. ``status``: the solver of the order, with cycles."""
        tasks, swaps = self._tasks(), self._swaps()
        buffers = self._buffers()
        arena = self._top(buffers, self.soc.home)
        signalling = self.soc.signalling
        return Program(
            soc=self.soc,
            tasks=tasks,
            buffers=buffers,
            memory=self._memory_use(buffers, constant_bytes, stored_bytes, caller_bytes),
            allocation=SolverStatus(self.draft.origin, "heuristic", arena, self._live_bytes(buffers)),
            predicted_cycles=self.draft.cycles + (signalling.session_cycles if signalling is not None else 0),
            queues=self._queues(),
            swaps=swaps,
            timing=status,
        )

    def _order(self) -> tuple[int, ...]:
        """Positions in the mapping, by start of the job; ties in the draft's order. A view follows the last job that
        writes its bytes."""
        rank = {step.job: place for place, step in enumerate(self.draft.layout.steps) if step.kind == "job"}
        keys: list[tuple[int, int, int]] = []
        for position in range(len(self.assignments)):
            job = self.job_at.get(position)
            if job is not None:
                keys.append((rank[job], 0, position))
            else:
                keys.append((max((rank[maker] for maker in self.built.after[position]), default=-1), 1, position))
        return tuple(position for _, _, position in sorted(keys))

    def _names(self) -> dict[Residence, str]:
        """Inputs, outputs and activations in the order of their producers, then scratch; residences of a swapped item
        are numbered from 0."""
        places: dict[int, list[int]] = {}
        for step in self.draft.layout.steps:
            for touched, residence in step.places:
                if residence not in places.setdefault(touched, []):
                    places[touched].append(residence)
        names: dict[Residence, str] = {}
        counts: dict[str, int] = {}
        for number, item in enumerate(self.problem.items):
            if item.kind == "scratch":
                name = f"scratch_{self.index[self.built.positions[self.users[number][0]]]}"
            else:
                name = f"{item.kind}_{counts.setdefault(item.kind, 0)}"
                counts[item.kind] += 1
            lived = places.get(number, [0])
            if number in self.draft.layout.stores:
                names.update({(number, place): f"{name}#{k}" for k, place in enumerate(lived)})
            else:
                names[number, lived[0]] = name
        return names

    def _store_name(self, item: int) -> str:
        return f"{self.first_name[item].split('#')[0]}#store"

    def _tasks(self) -> tuple[Task, ...]:
        row = {
            step.job: (step, start, needs)
            for step, start, needs in zip(self.draft.layout.steps, self.draft.starts, self.draft.needs, strict=True)
            if step.kind == "job"
        }
        tasks: list[Task] = []
        end: dict[int, int] = {}
        for index, position in enumerate(self.order):
            assignment, after = self.assignments[position], self.built.after[position]
            depends = tuple(sorted(self.index[self.built.positions[job]] for job in after))
            job = self.job_at.get(position)
            if job is None:
                start = max((end[maker] for maker in after), default=0)
                tasks.append(Task(index, assignment, *self._view_buffers(position), depends, start))
                continue
            step, start, needs = row[job]
            end[job] = start + step.cycles
            tasks.append(
                Task(
                    index=index,
                    assignment=assignment,
                    buffers_in=self._buffers_of(position, step, self.built.flows[position].reads),
                    buffers_out=self._buffers_of(position, step, self.built.flows[position].makes),
                    depends=depends,
                    start_cycles=start,
                    queue=self.problem.lanes[step.lane].name,
                    cycles=step.cycles,
                    needs=self._needs(needs),
                )
            )
        return tuple(tasks)

    def _needs(self, needs: Sequence[tuple[int, int]]) -> tuple[tuple[str, int], ...]:
        return tuple((self.problem.lanes[lane].name, count) for lane, count in needs)

    def _buffers_of(self, position: int, step: PlanStep, tensors: Sequence[str]) -> tuple[str, ...]:
        places = dict(step.places)
        items = [self.item_of[tensor] for tensor in tensors]
        return tuple(dict.fromkeys(self.names[item, places.get(item, 0)] for item in items))

    def _view_buffers(self, position: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Buffers of a view: the first residence of the item that it shows."""
        flow = self.built.flows[position]
        sides = []
        for tensors in (flow.reads, flow.makes):
            sides.append(tuple(dict.fromkeys(self.first_name[self.item_of[tensor]] for tensor in tensors)))
        return sides[0], sides[1]

    def _buffers(self) -> tuple[Buffer, ...]:
        spans = self._spans()
        last = max(0, len(self.order) - 1)
        buffers = []
        far_bytes = 0
        for (number, place), name in self.names.items():
            item = self.problem.items[number]
            memory = self.soc.overflow if item.overflow and self.soc.overflow else self.soc.home
            first, end = spans.get((number, place), (0, last))
            first = 0 if item.kind == "input" else first
            end = last if item.kind == "output" else end
            offset = self.draft.layout.homes.get((number, place), 0)
            if item.overflow and item.kind == "activation":  # the overflow memory holds all of them at the same time
                offset = far_bytes
                far_bytes += aligned(item.size_bytes, self.soc.memory(memory).alignment_bytes)
            buffers.append(Buffer(name, item.tensors, memory, offset, item.size_bytes, first, end, item.kind))
        for number, offset in self.draft.layout.stores.items():
            item = self.problem.items[number]
            mine = [span for (other, _), span in spans.items() if other == number]
            first, end = min(span[0] for span in mine), max(span[1] for span in mine)
            assert self.soc.store is not None
            name = self._store_name(number)
            buffers.append(Buffer(name, item.tensors, self.soc.store, offset, item.size_bytes, first, end))
        return tuple(buffers)

    def _spans(self) -> dict[Residence, tuple[int, int]]:
        """The first and the last task that touches each residence, by index."""
        found: dict[Residence, tuple[int, int]] = {}
        for step in self.draft.layout.steps:
            if step.kind != "job":
                continue
            index = self.index[self.built.positions[step.job]]
            places = dict(step.places)
            for item in self.problem.jobs[step.job].items:
                key = (item, places.get(item, 0))
                first, end = found.get(key, (index, index))
                found[key] = (min(first, index), max(end, index))
        return found

    def _swaps(self) -> tuple[Swap, ...]:
        swaps: list[Swap] = []
        for step, start, needs in zip(self.draft.layout.steps, self.draft.starts, self.draft.needs, strict=True):
            if step.kind == "job":
                continue
            home, store = self.names[step.places[0]], self._store_name(step.item)
            source, target = (home, store) if step.kind == "out" else (store, home)
            size = self.problem.items[step.item].size_bytes
            swaps.append(Swap(len(swaps), source, target, size, start, step.cycles, self._needs(needs)))
        return tuple(swaps)

    def _queues(self) -> tuple[Queue, ...]:
        """The host, every unit that runs a task, and the link if anything is swapped."""
        rows: list[list[int]] = [[] for _ in self.problem.lanes]
        swaps = 0
        for step in self.draft.layout.steps:
            if step.kind == "job":
                rows[step.lane].append(self.index[self.built.positions[step.job]])
            else:
                rows[step.lane].append(swaps)
                swaps += 1
        lanes = zip(self.problem.lanes, rows, strict=True)
        return tuple(Queue(lane.name, lane.kind, tuple(row)) for lane, row in lanes if row or lane.kind == "host")

    def _top(self, buffers: Sequence[Buffer], memory: str) -> int:
        alignment = self.soc.memory(memory).alignment_bytes
        mine = [b for b in buffers if b.memory == memory and b.kind in ("activation", "scratch")]
        return max((b.offset_bytes + aligned(b.size_bytes, alignment) for b in mine), default=0)

    def _live_bytes(self, buffers: Sequence[Buffer]) -> int:
        """The most bytes that any single task touches in the arena: no plan uses less."""
        jobs = self.problem.jobs
        sizes = [sum(self.problem.size_of(i) for i in job.items if self.problem.items[i].owned) for job in jobs]
        return max(sizes, default=0)

    def _memory_use(
        self, buffers: Sequence[Buffer], constant_bytes: int, stored_bytes: int, caller_bytes: int
    ) -> tuple[MemoryUse, ...]:
        """All memories of the Soc, in its order. Units that share a memory have parts of it."""
        offsets = {part.unit: part.offset_bytes for part in self.soc.parts}
        working: dict[str, int] = {}
        for assignment in self.assignments:
            schedule, units = assignment.schedule, assignment.candidate.units
            begin = min((offsets[unit] for unit in units if unit in offsets), default=0)
            for name, size in schedule.working_bytes:
                working[name] = max(working.get(name, 0), size + (begin if name == schedule.memory else 0))
        uses, held = [], held_bytes(self.assignments)
        for memory in self.soc.memories:
            use = MemoryUse(memory.name, working.get(memory.name, 0), held.get(memory.name, 0), memory.size_bytes)
            if memory.name == self.soc.home:
                arena = self._top(buffers, memory.name)
                use = replace(use, arena_bytes=arena, constant_bytes=constant_bytes, caller_bytes=caller_bytes)
            elif memory.name == self.soc.store:
                use = replace(use, arena_bytes=self._top(buffers, memory.name), constant_bytes=stored_bytes)
            if memory.name == self.soc.overflow:
                callers = (b for b in buffers if b.memory == memory.name and b.kind in ("input", "output"))
                kept = sum(aligned(b.size_bytes, memory.alignment_bytes) for b in callers)
                use = replace(use, arena_bytes=self._top(buffers, memory.name), caller_bytes=kept)
            uses.append(use)
        return tuple(uses)
