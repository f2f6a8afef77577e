"""The variables of the model behind the strong bound (``strong_model``): ways of operators, and times between which
they run, with what holds for each operator by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from match_concurrent.mapping.evaluate import Evaluator
from match_concurrent.mapping.timeline import HOST
from match_core.cp_sat import load_cp_model

from benchmarks.share_readings import Shares
from benchmarks.share_tasks import Way


@dataclass
class Times:
    """Of operators with these ways, in at most ``most`` cycles. ``first``, ``last``: whether no operators run before
    them, or after them; if some do, queues are awake at first, and the last end is not told to the host."""

    evaluator: Evaluator
    shares: tuple[Shares, ...]
    most: int
    fine: bool = False
    first: bool = True
    last: bool = True

    def add_variables(self) -> None:
        """Of each operator: the way, with its axis and queues; first start and last end, of all and of each queue."""
        self.model: Any = load_cp_model().CpModel()
        self.finish = self.model.new_int_var(0, self.most, "finish")
        self.model.minimize(self.finish)
        self.taken: list[list[tuple[Any, Way]]] = []
        self.axis: list[dict[int, Any]] = []
        self.uses: list[dict[int, Any]] = []
        self.loads: list[dict[int, Any]] = []
        self.start: list[Any] = []
        self.end: list[Any] = []
        self.starts: list[dict[int, Any]] = []
        self.ends: list[dict[int, Any]] = []
        self.head: list[dict[int, Any]] = []
        self.tail: list[dict[int, Any]] = []
        self.alone: dict[int, list[Any]] = {}
        for number, own in enumerate(self.shares):
            ways = [way for way in own.ways if max(way.loads.values(), default=0) <= self.most]
            taken = [self.model.new_bool_var(f"w{number}_{n}") for n in range(len(ways))]
            self.model.add_exactly_one(taken)
            self.taken.append(list(zip(taken, ways, strict=True)))
            self.axis.append({axis: self.model.new_bool_var("") for axis in sorted({way.axis for way in ways})})
            for axis, literal in self.axis[-1].items():
                self.model.add(sum(t for t, way in self.taken[-1] if way.axis == axis) == literal)
            self.start.append(self.model.new_int_var(0, self.most, f"s{number}"))
            self.end.append(self.model.new_int_var(0, self.most, f"e{number}"))
            spans = sum(t * (max(way.loads.values(), default=self._gap) - self._gap) for t, way in self.taken[-1])
            self.model.add(self.end[-1] >= self.start[-1] + spans)
            for queues in (self.uses, self.loads, self.starts, self.ends, self.head, self.tail):
                queues.append({})
            for queue in sorted({queue for way in ways for queue in way.loads}):
                self._queue(number, queue)
            if self.fine:
                self._edges(number)

    def _queue(self, number: int, queue: int) -> None:
        """What an operator does in a queue."""
        model, by_way = self.model, [(t, way.loads[queue]) for t, way in self.taken[number] if queue in way.loads]
        uses = self.uses[number][queue] = model.new_bool_var(f"u{number}_{queue}")
        model.add(sum(t for t, _ in by_way) == uses)
        load = self.loads[number][queue] = sum(t * cycles for t, cycles in by_way)
        start = self.starts[number][queue] = model.new_int_var(self._begin(queue), self.most, f"s{number}_{queue}")
        end = self.ends[number][queue] = model.new_int_var(0, self.most, f"e{number}_{queue}")
        model.add(end >= start + load - self._gap).only_enforce_if(uses)
        model.add(self.start[number] <= start).only_enforce_if(uses)
        model.add(self.end[number] >= end).only_enforce_if(uses)
        model.add(self.finish >= end + self._told(queue)).only_enforce_if(uses)
        if self.fine:
            self._tasks(number, queue)

    def _nowhere(self, number: int) -> Any:
        """Whether the operator's way has no known costs."""
        return sum(t for t, way in self.taken[number] if not way.loads)

    def _edges(self, number: int) -> None:
        """The first start and the last end are those of some queue."""
        for whole, own in ((self.start[number], self.starts[number]), (self.end[number], self.ends[number])):
            chosen = {queue: self.model.new_bool_var("") for queue in own}
            self.model.add(sum(chosen.values()) + self._nowhere(number) == 1)
            for queue, literal in chosen.items():
                self.model.add_implication(literal, self.uses[number][queue])
                self.model.add(whole == own[queue]).only_enforce_if(literal)

    def _tasks(self, number: int, queue: int) -> None:
        """Of an operator in a queue, the first and the last task, or the only one: no other runs there meanwhile."""
        tasks = [(t, way.tasks[queue]) for t, way in self.taken[number] if queue in way.tasks]
        several = [(t, own) for t, own in tasks if not own.single]
        self.head[number][queue] = sum(t * own.head_cycles for t, own in tasks)
        self.tail[number][queue] = sum(t * own.tail_cycles for t, own in tasks)
        start, end = self.starts[number][queue], self.ends[number][queue]
        if tasks:
            self._alone(queue, [t for t, _ in tasks], self.head[number][queue], start, None)
        if several:
            self._alone(queue, [t for t, _ in several], sum(t * own.tail_cycles for t, own in several), None, end)

    def _alone(self, queue: int, taken: Sequence[Any], cycles: Any, start: Any, end: Any) -> None:
        """A task that runs if one of some ways is taken, with its start or its end."""
        model = self.model
        present, size, other = (
            model.new_bool_var(""),
            model.new_int_var(0, self.most, ""),
            model.new_int_var(0, self.most, ""),
        )
        model.add(sum(taken) == present)
        model.add(size == cycles)
        begin, until = (other, end) if start is None else (start, other)
        self.alone.setdefault(queue, []).append(model.new_optional_interval_var(begin, size, until, present, ""))

    # --- signals -----------------------------------------------------------------------------------------------------

    @property
    def _gap(self) -> int:
        return self.evaluator.signalling.task_cycles

    def _wake(self, queue: int) -> int:
        return 0 if queue == HOST else self.evaluator.signalling.post_cycles + self.evaluator.signalling.wake_cycles

    def _notify(self, queue: int) -> int:
        return 0 if queue == HOST else self.evaluator.signalling.notify_cycles

    def _begin(self, queue: int) -> int:
        return self._wake(queue) if self.first else 0

    def _told(self, queue: int) -> int:
        return self._notify(queue) if self.last else 0

    def lag(self, made: int, read: int) -> int:
        """Cycles from the end of a task to the start of one that needs it, by their queues."""
        return self._gap if made == read else self._notify(made) + self._wake(read)
