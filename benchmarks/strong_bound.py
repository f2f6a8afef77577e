"""A lower bound of the makespan of every program that the mapper may make with one cover: with exact costs of shares.

The space: every operator is whole on a unit, or divided along one axis into any parts of whole tiles, in any number of
tasks, on any of the units, in any order. CP-SAT chooses for each operator the axis, the tiles of every queue and what
is known of the sizes of its first and last tasks, at the fewest cycles of any such tasks (``share_tasks``), and times
between which an operator runs. It demands less than a program has to fulfil:

- Between the first start of an operator and the last end of another, a queue does all work of operators that lie
  between them on every path.
- The first part of a reader follows the fewest tiles that any of its parts reads, at the speed of all queues together;
  the last end of a maker is followed by the fewest tiles that read any part of it.
- The first task of a reader in a queue follows all tiles that it reads, at that speed, and the end of the maker if
  these are all. A whole task is done before what it makes can be read: the last end of a reader follows the last task
  of a queue of the maker by the tiles that read any tile of that.
- The first start of a reader follows that of its maker by the shortest first task, and its last end that of the maker
  by its shortest last task.
- A reader whose every part reads the whole maker starts after its end, with the signal if another queue made it.

If the solver does not find the optimum, each choice of axes of the operators with the most work becomes a model of its
own. The least bound of these holds for all.
So the optimum of a model, and every lower bound of it that the solver proves, is at most the makespan of every program
with these axes. Memory, the host's posts between tasks, and contention on links cost nothing in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from match_concurrent.mapping.evaluate import Evaluator
from match_concurrent.mapping.parts import Part
from match_concurrent.mapping.stages import bounds_of
from match_concurrent.mapping.timeline import HOST
from match_core.cp_sat import Answer, load_cp_model, solve

from benchmarks.share_costs import AxisCosts, axis_costs
from benchmarks.share_readings import Reading, Readings, Shares, all_readings, shares_of
from benchmarks.share_tasks import Way

#: The number of operators of whose axes each choice has a model of its own.
BRANCHED = 3
#: How many times as much of the solver's time all these models get as the one of all choices.
BRANCHES_TIMES = 20 / 3


def _least_of(way: Way, what: str) -> int:
    return min((getattr(tasks, what) for tasks in way.tasks.values()), default=0)


def strong_bound(
    evaluator: Evaluator,
    most: int,
    seconds: float,
    axes: Sequence[tuple[AxisCosts, ...]] | None = None,
    *,
    branched: bool = True,
) -> tuple[int, bool]:
    """A lower bound of the makespan of all programs with the evaluator's cover, and whether it is the model's optimum;
    at most ``most``, the makespan of a program that is known. ``seconds``: deterministic ones of the solver for the
    model of all choices, before there is one for each choice of axes if ``branched``; ``axes``: costs of shares, if
    they are known.
    Where the solver does not end, the sum over stages may be higher (docs/mapping.md)."""
    operators = evaluator.network.operators
    axes = [axis_costs(operator, evaluator) for operator in operators] if axes is None else axes
    shares = tuple(shares_of(operator, evaluator, own) for operator, own in zip(operators, axes, strict=True))
    reading = all_readings(shares, evaluator)

    def answer(some: tuple[Shares, ...], limit: float) -> Answer:
        return solve(_Model(evaluator, some, reading, most).made(), limit, linearization_level=2)

    whole = answer(shares, seconds)
    if whole.infeasible:  # no program with this cover takes at most so many cycles
        return most, True
    least, solved = whole.bound, whole.optimal
    if branched and not solved:
        branches = list(_branches(shares))
        answers = [answer(branch, BRANCHES_TIMES * seconds / len(branches)) for branch in branches]
        least = max(least, min(most if each.infeasible else each.bound for each in answers))
        solved = any(each.optimal and each.bound == least for each in answers)
    # Costs of all shares are known now, so this is higher than that of the mapping.
    found = min(most, max(least, bounds_of([evaluator]).cycles))
    return found, found == most or solved


def _branches(shares: tuple[Shares, ...]) -> Iterator[tuple[Shares, ...]]:
    """The operators with every choice of axes of those with the most work: rules that hold for a choice have no
    condition in a model of it, and the solver knows them sooner."""
    several = [number for number, own in enumerate(shares) if len({way.axis for way in own.ways}) > 1]
    work = {number: min(sum(way.loads.values()) for way in shares[number].ways) for number in several}
    chosen = sorted(sorted(several, key=lambda number: -work[number])[:BRANCHED])
    for axes in product(*(sorted({way.axis for way in shares[number].ways}) for number in chosen)):
        made = list(shares)
        for number, axis in zip(chosen, axes, strict=True):
            ways = tuple(way for way in shares[number].ways if way.axis == axis)
            made[number] = replace(shares[number], ways=ways)
        yield tuple(made)


@dataclass
class _Model:
    evaluator: Evaluator
    shares: tuple[Shares, ...]
    all_reading: Readings
    most: int
    larger: dict[tuple[int, int, int, str, int], Any] = field(default_factory=dict)

    def made(self) -> Any:
        """The model of CP-SAT."""
        self.model = load_cp_model().CpModel()
        self._variables()
        self.reading = {
            (maker, reader): {
                axes: reading
                for axes, reading in found.items()
                if axes[0] in self.axis[maker] and axes[1] in self.axis[reader]
            }
            for (maker, reader), found in self.all_reading.items()
        }
        self._chains()
        self._work()
        return self.model

    # --- variables ---------------------------------------------------------------------------------------------------

    def _variables(self) -> None:
        """Of each operator: the way, with its axis and queues; first start and last end, of all and of each queue."""
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
            for queues in (self.uses, self.loads, self.starts, self.ends):
                queues.append({})
            for queue in sorted({queue for way in ways for queue in way.loads}):
                self._queue(number, queue)

    def _queue(self, number: int, queue: int) -> None:
        """What an operator does in a queue."""
        model, by_way = self.model, [(t, way.loads[queue]) for t, way in self.taken[number] if queue in way.loads]
        uses = self.uses[number][queue] = model.new_bool_var(f"u{number}_{queue}")
        model.add(sum(t for t, _ in by_way) == uses)
        load = self.loads[number][queue] = sum(t * cycles for t, cycles in by_way)
        start = self.starts[number][queue] = model.new_int_var(self._wake(queue), self.most, f"s{number}_{queue}")
        end = self.ends[number][queue] = model.new_int_var(0, self.most, f"e{number}_{queue}")
        model.add(end >= start + load - self._gap).only_enforce_if(uses)
        model.add(self.start[number] <= start).only_enforce_if(uses)
        model.add(self.end[number] >= end).only_enforce_if(uses)
        model.add(self.finish >= end + self._notify(queue)).only_enforce_if(uses)

    # --- rules -------------------------------------------------------------------------------------------------------

    @property
    def _gap(self) -> int:
        return self.evaluator.signalling.task_cycles

    def _wake(self, queue: int) -> int:
        return 0 if queue == HOST else self.evaluator.signalling.post_cycles + self.evaluator.signalling.wake_cycles

    def _notify(self, queue: int) -> int:
        return 0 if queue == HOST else self.evaluator.signalling.notify_cycles

    def _lag(self, made: int, read: int) -> int:
        """Cycles from the end of a task to the start of one that needs it, by their queues."""
        return self._gap if made == read else self._notify(made) + self._wake(read)

    def _soonest(self, shares: Shares, axis: int, tiles: int) -> int:
        """The least time in which so many tiles, or the whole operator, can be computed."""
        if axis < 0:
            return min(self.evaluator.costs.cycles(Part(offer)) for offer in shares.operator.offers)
        return max(0, shares.axes[axis].soonest(tiles) - self._gap)

    def _chains(self) -> None:
        """Readers follow their makers. What holds for all axes that may be chosen has no condition: the solver's linear
        relaxation knows it."""
        for (maker, reader), found in self.reading.items():
            made, read = self.shares[maker], self.shares[reader]
            lag = min(self._lag(q, r) for q, r in product(self.ends[maker], self.starts[reader]))
            apart, delays, rests = [], [], []
            for (one, other), reading in found.items():
                both = [self.axis[maker][one], self.axis[reader][other]]
                reads, read_by = reading.reads(1), reading.read_by(1)
                apart.append(reading.apart)
                delays.append(self._soonest(made, one, reads) + lag if reads else -self.most)
                rests.append(self._soonest(read, other, read_by) + lag if read_by else -self.most)
                if apart[-1]:
                    self._apart(maker, reader, lag, both)
                else:
                    self._heads(maker, reader, (one, other), reading)
                    self._tails(maker, reader, (one, other), reading)
                self.model.add(self.start[reader] >= self.start[maker] + delays[-1]).only_enforce_if(both)
                self.model.add(self.end[reader] >= self.end[maker] + rests[-1]).only_enforce_if(both)
            self.model.add(self.start[reader] >= self.start[maker] + min(delays))
            self.model.add(self.end[reader] >= self.end[maker] + min(rests))
            if min(delays) >= 0:  # every part reads something: it waits for a first task
                first = sum(t * _least_of(way, "head_cycles") for t, way in self.taken[maker])
                self.model.add(self.start[reader] >= self.start[maker] + first + lag)
            if min(rests) >= 0:  # something is read of every part: a last task waits for it
                last = sum(t * _least_of(way, "tail_cycles") for t, way in self.taken[reader])
                self.model.add(self.end[reader] >= self.end[maker] + last + lag)
            if all(apart):
                self.model.add(self.start[reader] >= self.end[maker] + lag)
                self.model.add(self.end[reader] >= self.end[maker] + self._after_all(maker, reader))

    def _heads(self, maker: int, reader: int, axes: tuple[int, int], reading: Reading) -> None:
        """The first task of a queue waits for all that its tiles read."""
        made, all_tiles = self.shares[maker], self._tiles(maker, axes[0])
        for queue, start in self.starts[reader].items():
            sizes = sorted({way.tasks[queue].head for _, way in self._along(reader, axes[1], queue)})
            known = reading.reads(1)
            for size in sizes:
                reads = reading.reads(size)
                if reads > known:
                    known = reads
                    larger = self._at_least(reader, axes[1], queue, "head", size)
                    both = [self.axis[maker][axes[0]], larger]
                    self._follows(maker, queue, start, both, self._soonest(made, axes[0], reads), reads == all_tiles)

    def _follows(self, maker: int, queue: int, start: Any, both: Sequence[Any], soonest: int, whole: bool) -> None:
        """A task of a queue follows so much of a maker, or all of it."""
        lag = min(self._lag(made, queue) for made in self.ends[maker])
        self.model.add(start >= self.start[maker] + soonest + lag).only_enforce_if(both)
        if whole:
            for made, end in self.ends[maker].items():
                rule = self.model.add(start >= end + self._lag(made, queue))
                rule.only_enforce_if([*both, self.uses[maker][made]])

    def _tails(self, maker: int, reader: int, axes: tuple[int, int], reading: Reading) -> None:
        """What reads tiles of the last task of a queue waits for its end."""
        read, all_tiles = self.shares[reader], self._tiles(reader, axes[1])
        for queue, end in self.ends[maker].items():
            sizes = sorted({way.tasks[queue].tail for _, way in self._along(maker, axes[0], queue)})
            lag, known = min(self._lag(queue, other) for other in self.starts[reader]), reading.read_by(1)
            for size in sizes:
                read_by = reading.read_by(size)
                if read_by > known:
                    known = read_by
                    both = [self.axis[reader][axes[1]], self._at_least(maker, axes[0], queue, "tail", size)]
                    rest = self._soonest(read, axes[1], read_by) + lag
                    self.model.add(self.end[reader] >= end + rest).only_enforce_if(both)
                    if read_by == all_tiles:
                        for other, start in self.starts[reader].items():
                            rule = self.model.add(start >= end + self._lag(queue, other))
                            rule.only_enforce_if([*both, self.uses[reader][other]])

    def _along(self, number: int, axis: int, queue: int) -> list[tuple[Any, Way]]:
        """The ways of an operator along an axis in which the queue works."""
        return [(t, way) for t, way in self.taken[number] if way.axis == axis and queue in way.tasks]

    def _at_least(self, number: int, axis: int, queue: int, what: str, size: int) -> Any:
        """Whether the first or last task of a queue has so many tiles, with this axis."""
        key = (number, axis, queue, what, size)
        if key not in self.larger:
            literal = self.larger[key] = self.model.new_bool_var("")
            of = (t for t, way in self._along(number, axis, queue) if getattr(way.tasks[queue], what) >= size)
            self.model.add(sum(of) == literal)
        return self.larger[key]

    def _tiles(self, number: int, axis: int) -> int:
        return 1 if axis < 0 else self.shares[number].axes[axis].along.tiles

    def _apart(self, maker: int, reader: int, lag: int, both: Sequence[Any]) -> None:
        """With these axes, the maker ends before the reader starts."""
        self.model.add(self.start[reader] >= self.end[maker] + lag).only_enforce_if(both)
        for q, r in product(self.ends[maker], self.starts[reader]):
            rule = self.model.add(self.starts[reader][r] >= self.ends[maker][q] + self._lag(q, r))
            rule.only_enforce_if([*both, self.uses[maker][q], self.uses[reader][r]])

    def _after_all(self, maker: int, reader: int) -> Any:
        """The least cycles of a reader from the end of its maker, which ended in some queue."""
        return sum(
            t * min(max((self._lag(q, r) + load - self._gap for r, load in way.loads.items()), default=0) for q in ends)
            for ends in [list(self.ends[maker])]
            for t, way in self.taken[reader]
        )

    def _work(self) -> None:
        """Work of a queue between the start of one operator and the end of another one."""
        after, before = self._follow()
        for queue in sorted({queue for loads in self.loads for queue in loads}):
            loads = [own.get(queue, 0) for own in self.loads]
            used = self.model.new_bool_var(f"q{queue}")
            self.model.add_max_equality(used, [uses[queue] for uses in self.uses if queue in uses])
            first_and_last = self._wake(queue) + self._notify(queue) - self._gap
            self.model.add(self.finish >= sum(loads) + first_and_last * used)
            for number, load in enumerate(loads):
                follow, precede = (sum(loads[n] for n in sorted(known[number])) for known in (after, before))
                self.model.add(self.finish >= self.start[number] + load + follow - self._gap)
                self.model.add(self.end[number] >= load + precede - self._gap)
                for last in sorted(after[number]):
                    if number in before[last]:
                        between = sum(loads[n] for n in sorted(after[number] & before[last]))
                        self.model.add(self.end[last] >= self.start[number] + load + between + loads[last] - self._gap)

    def _follow(self) -> tuple[list[set[int]], list[set[int]]]:
        """For each operator, those whose parts all start after its first start, and those that end before its end."""
        after: list[set[int]] = [set() for _ in self.shares]
        before: list[set[int]] = [set() for _ in self.shares]
        pairs = sorted(self.reading.items(), key=lambda pair: pair[0][1])
        for (maker, reader), found in pairs:
            if all(reading.read_by(1) for reading in found.values()):
                before[reader] |= before[maker] | {maker}
        for (maker, reader), found in sorted(pairs, key=lambda pair: -pair[0][0]):
            if all(reading.reads(1) for reading in found.values()):
                after[maker] |= after[reader] | {reader}
        return after, before
