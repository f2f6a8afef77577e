"""CP-SAT over covers, units, tiles and starts of a window of operators, with the exact order of all others.

The model of a window: groups of nodes are chosen so that each node is in one; each chosen group has one division; a
part that is present occupies its queue, and starts after the parts whose bytes it reads, plus the cycles of a signal
to another queue. Operators before the window stay where they are. Those after it keep their divisions and their order
on each queue, and move. Of those far behind, what is left of the longest path and of each queue's work counts.

The model omits the host's work between its tasks and may hold estimated costs, so every answer is evaluated on the
exact time line, with real costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from match_core.cp_sat import load_cp_model, solve

from match_concurrent.mapping.network import Source
from match_concurrent.mapping.timeline import HOST, ranks

if TYPE_CHECKING:
    from match_core.map.dataflow import Flow

    from match_concurrent.mapping.covers import Group
    from match_concurrent.mapping.evaluate import Evaluation, Evaluator
    from match_concurrent.mapping.network import Network
    from match_concurrent.mapping.parts import Division, Part

#: Operators after the window that move in its model.
NEAR = 32


class Member(NamedTuple):
    """A group that a window may choose, with the divisions that it may have (none for a view). Of the present cover:
    ``starts`` of its parts, and its present division first; of others: None."""

    group: Group
    divisions: tuple[Division, ...]
    starts: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The chosen groups with their divisions (None: a view) and starts; ``later``: starts of the operators after the
    window that move; ``seconds``: deterministic ones that the solver took."""

    chosen: tuple[tuple[Group, Division | None, tuple[int, ...]], ...]
    later: tuple[tuple[int, ...], ...]
    seconds: float


@dataclass(frozen=True)
class Outside:
    """Of a cover: the operators that make tensors, what views read, by the tensors that they make, and what each
    operator makes."""

    makers: dict[str, int]
    views: dict[str, tuple[str, ...]]
    makes: dict[int, tuple[str, ...]]

    @classmethod
    def of(cls, network: Network, flows: Sequence[Flow]) -> Outside:
        """``flows``: of the network's cover."""
        at = {operator.place: number for number, operator in enumerate(network.operators)}
        makers: dict[str, int] = {}
        views: dict[str, tuple[str, ...]] = {}
        makes: dict[int, tuple[str, ...]] = {}
        for place, flow in enumerate(flows):
            if place in at:
                makers.update(dict.fromkeys(flow.makes, at[place]))
                makes[at[place]] = flow.makes
            else:
                views.update(dict.fromkeys(flow.makes, flow.reads))
        return cls(makers, views, makes)


class _Task(NamedTuple):
    """A part in the model: ``start`` a variable or a number; ``taken``: the literal of its presence, None if always."""

    queues: tuple[int, ...]
    cycles: int
    start: Any
    taken: Any


class _Row(NamedTuple):
    """The tasks of one division; ``taken``: as for a task."""

    taken: Any
    division: Division
    tasks: list[_Task]


class _Maker(NamedTuple):
    """Who may make a tensor: the key of an operator or member, the tensor that it makes, and the literals of the views
    between."""

    key: tuple[str, int]
    made: str
    views: tuple[Any, ...]


@dataclass
class Window:
    """``operators``: those whose nodes may be covered anew; ``members``: all groups within these nodes that are tried,
    the present ones first with their present divisions first."""

    best: Evaluation
    evaluator: Evaluator
    operators: range
    members: Sequence[Member]
    outside: Outside
    #: Numbers of members by the tensors that they make.
    _made_by: dict[str, list[int]] = field(default_factory=dict)
    _tasks: dict[tuple[str, int], list[_Row]] = field(default_factory=dict)

    def solve(self, seconds: float) -> Answer:
        """The best answer within the deterministic limit; nothing is chosen if there is none."""
        self.model = load_cp_model().CpModel()
        self.horizon = 2 * self.best.finish + 1
        self.last = min(self.operators.stop + NEAR, len(self.best.choice))
        self._members()
        self._fixed()
        self._later()
        self._queues()
        self._waits()
        self._objective()
        answer = solve(self.model, seconds, self.evaluator.costs.scheduling.watch)
        return Answer((), (), answer.seconds) if answer.values is None else self._answer(answer.values, answer.seconds)

    # --- variables ---------------------------------------------------------------------------------------------------

    def _members(self) -> None:
        """A literal for each group and each of its divisions; each node is in one group. The present ones are hints."""
        self.chosen = [self.model.new_bool_var(f"y{number}") for number in range(len(self.members))]
        covering: dict[int, list[Any]] = {}
        for number, (group, divisions, starts) in enumerate(self.members):
            self.model.add_hint(self.chosen[number], starts is not None)
            for node in group.nodes:
                covering.setdefault(node, []).append(self.chosen[number])
            for name in group.flow.makes:
                self._made_by.setdefault(name, []).append(number)
            rows: list[_Row] = []
            for n, division in enumerate(divisions):
                taken = self.model.new_bool_var(f"x{number}_{n}")
                self.model.add_hint(taken, starts is not None and n == 0)
                tasks = [self._free(part, taken, f"s{number}_{n}_{p}") for p, part in enumerate(division)]
                for task, start in zip(tasks, starts if starts and n == 0 else (), strict=False):
                    self.model.add_hint(task.start, start)
                rows.append(_Row(taken, division, tasks))
            if not group.flow.view:
                self.model.add(sum(row.taken for row in rows) == self.chosen[number])
                self._tasks["member", number] = rows
        for literals in covering.values():
            self.model.add_exactly_one(literals)

    def _free(self, part: Part, taken: Any, name: str) -> _Task:
        queues, signalling = self._queues_of(part), self.evaluator.signalling
        least = 0 if queues[0] == HOST else signalling.post_cycles + signalling.wake_cycles
        start = self.model.new_int_var(least, self.horizon, name)
        return _Task(queues, self.evaluator.costs.cycles(part), start, taken)

    def _fixed(self) -> None:
        """Operators before the window."""
        for number in range(self.operators.start):
            division = self.best.choice[number]
            tasks = [
                _Task(self._queues_of(part), self.evaluator.costs.cycles(part), start, None)
                for part, start in zip(division, self.best.starts[number], strict=True)
            ]
            self._tasks["operator", number] = [_Row(None, division, tasks)]

    def _later(self) -> None:
        """Operators after the window, in their present order on each queue."""
        lines: dict[int, list[tuple[int, _Task]]] = {}
        for number in range(self.operators.stop, self.last):
            division, starts = self.best.choice[number], self.best.starts[number]
            tasks = [self._free(part, None, f"l{number}_{p}") for p, part in enumerate(division)]
            for task, start in zip(tasks, starts, strict=True):
                self.model.add_hint(task.start, start)
                lines.setdefault(task.queues[0], []).append((start, task))
            self._tasks["operator", number] = [_Row(None, division, tasks)]
        for line in lines.values():
            ordered = [task for _, task in sorted(line, key=lambda pair: pair[0])]
            for one, other in pairwise(ordered):
                self.model.add(other.start >= one.start + one.cycles + self.evaluator.signalling.task_cycles)

    # --- rules -------------------------------------------------------------------------------------------------------

    def _queues(self) -> None:
        """Tasks of one queue do not overlap."""
        gap = self.evaluator.signalling.task_cycles
        lines: dict[int, list[Any]] = {}
        for rows in self._tasks.values():
            for taken, _, tasks in rows:
                for task in tasks:
                    size = task.cycles + gap
                    interval = (
                        self.model.new_fixed_size_interval_var(task.start, size, "i")
                        if taken is None
                        else self.model.new_optional_fixed_size_interval_var(task.start, size, taken, "i")
                    )
                    for queue in task.queues:
                        lines.setdefault(queue, []).append(interval)
        for line in lines.values():
            self.model.add_no_overlap(line)

    def _waits(self) -> None:
        """A part starts after the parts whose bytes it reads."""
        network = self.evaluator.network
        for number, member in enumerate(self.members):
            if not member.group.flow.view:
                for read in member.group.flow.reads:
                    for maker in self._makers(read):
                        self._wait(("member", number), read, maker)
        for number in range(self.operators.stop, self.last):
            for read in dict.fromkeys(source.read for source in network.operators[number].sources):
                for maker in self._makers(read):
                    self._wait(("operator", number), read, maker)

    def _makers(self, tensor: str) -> Iterator[_Maker]:
        """The operators and members that may write the bytes of a tensor, through views."""
        if tensor in self._made_by:
            for number in self._made_by[tensor]:
                flow = self.members[number].group.flow
                if not flow.view:
                    yield _Maker(("member", number), tensor, ())
                    continue
                for read in flow.reads:
                    for maker in self._makers(read):
                        yield maker._replace(views=(*maker.views, self.chosen[number]))
            return
        if tensor in self.outside.views:
            for read in self.outside.views[tensor]:
                yield from self._makers(read)
        elif tensor in self.outside.makers:
            yield _Maker(("operator", self.outside.makers[tensor]), tensor, ())

    def _wait(self, reader: tuple[str, int], read: str, maker: _Maker) -> None:
        source = Source(-1, maker.made, read)
        for taken, division, tasks in self._tasks[reader]:
            for made_taken, made, makers in self._tasks.get(maker.key, ()):
                literals = [literal for literal in (taken, made_taken, *maker.views) if literal is not None]
                for r, m in self.evaluator.waits(source, made, division):
                    ready = makers[m].start + makers[m].cycles + self._lag(makers[m], tasks[r])
                    rule = self.model.add(tasks[r].start >= ready)
                    if literals:
                        rule.only_enforce_if(literals)

    def _objective(self) -> None:
        """The least finish, at the last task that the host has noticed, or what follows after it."""
        finish = self.model.new_int_var(0, self.horizon, "finish")
        after, work = self._behind()
        notify = self.evaluator.signalling.notify_cycles
        for key, rows in self._tasks.items():
            if key[0] == "operator" and key[1] < self.operators.start:
                continue
            makes = self._makes(key)
            for taken, _, tasks in rows:
                for task in tasks:
                    rest = max(after.get(name, 0) for name in makes) if makes else 0
                    rest = max(rest, 0 if task.queues[0] == HOST else notify)
                    rest = max([rest, *(work.get(queue, 0) for queue in task.queues)])
                    rule = self.model.add(finish >= task.start + task.cycles + rest)
                    if taken is not None:
                        rule.only_enforce_if(taken)
        self.model.add_hint(finish, self.best.finish)
        self.model.minimize(finish)

    def _makes(self, key: tuple[str, int]) -> tuple[str, ...]:
        if key[0] == "member":
            return self.members[key[1]].group.flow.makes
        return self.outside.makes[key[1]]

    def _behind(self) -> tuple[dict[str, int], dict[int, int]]:
        """Of the operators behind those that move: for tensors that they read, the cycles from their end to the
        program's end; for each queue, the work."""
        after: dict[str, int] = {}
        work: dict[int, int] = {}
        if self.last == len(self.best.choice):
            return after, work
        steps, places = self.evaluator.steps(self.best.choice)
        left = ranks(steps, self.evaluator.signalling)
        for number in range(self.last, len(self.best.choice)):
            rest = max(left[step] for step in places[number])
            for source in self.evaluator.network.operators[number].sources:
                after[source.made] = max(after.get(source.made, 0), rest)
            for part in self.best.choice[number]:
                for queue in self._queues_of(part):
                    work[queue] = work.get(queue, 0) + self.evaluator.costs.cycles(part)
        return after, work

    def _lag(self, maker: _Task, reader: _Task) -> int:
        signalling, made, read = self.evaluator.signalling, maker.queues[0], reader.queues[0]
        if made == read:
            return signalling.task_cycles
        notify = 0 if made == HOST else signalling.notify_cycles
        return notify + (0 if read == HOST else signalling.post_cycles + signalling.wake_cycles)

    def _queues_of(self, part: Part) -> tuple[int, ...]:
        """The queues that a part keeps busy, first the one that runs it."""
        return self.evaluator.queues_of(part.offer)

    def _answer(self, values: Any, seconds: float) -> Answer:
        chosen: list[tuple[Group, Division | None, tuple[int, ...]]] = []
        for number, member in enumerate(self.members):
            if not values.boolean_value(self.chosen[number]):
                continue
            if member.group.flow.view:
                chosen.append((member.group, None, ()))
                continue
            rows = self._tasks["member", number]
            division, tasks = next((d, tasks) for taken, d, tasks in rows if values.boolean_value(taken))
            chosen.append((member.group, division, tuple(values.value(task.start) for task in tasks)))
        later = tuple(
            tuple(values.value(task.start) for task in self._tasks["operator", number][0][2])
            for number in range(self.operators.stop, self.last)
        )
        return Answer(tuple(chosen), later, seconds)
