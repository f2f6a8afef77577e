"""A lower bound of the makespan of every program that the mapper may make with one cover: with exact costs of shares.

The space: every operator is whole on a unit, or divided along one axis into any parts of whole tiles, in any number of
tasks, on any of the units, in any order. CP-SAT chooses for each operator the axis and the tiles of every queue, each
at the fewest cycles of any tasks that compute so many (``share_costs``), and times between which an operator runs. It
demands less than a program has to fulfil:

- Between the first start of an operator and the last end of another, a queue does all work of operators that lie
  between them on every path.
- The first part of a reader follows the fewest tiles that any of its parts reads, at the speed of all queues together;
  the last end of a maker is followed by the fewest tiles that read any part of it.
- A reader whose every part reads the whole maker starts after its end, with the signal if another queue made it.

So the optimum of the model, and every lower bound of it that the solver proves, is at most the makespan of every
program. Memory, the host's posts between tasks, and contention on links cost nothing in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from match_concurrent.mapping.costs import IMPOSSIBLE
from match_concurrent.mapping.evaluate import Evaluator
from match_concurrent.mapping.network import SharedOperator, Source
from match_concurrent.mapping.parts import Division, Part
from match_concurrent.mapping.stages import bounds_of
from match_concurrent.mapping.timeline import HOST
from match_core.cp_sat import load_cp_model, solve

from benchmarks.share_costs import AxisCosts, axis_costs

#: Axes of more tiles are not compared tile by tile: a part may read any one tile.
COMPARED_MAX = 64
#: The most combinations of tiles per queue that are listed.
COMBINATIONS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Way:
    """One way to divide an operator: the axis (-1: whole), and cycles with gaps of each queue."""

    axis: int
    loads: dict[int, int]


@dataclass(frozen=True)
class Shares:
    """An operator with the ways that no other way dominates; ``axes`` by number, as its ways name them."""

    operator: SharedOperator
    axes: tuple[AxisCosts, ...]
    ways: tuple[Way, ...]


def shares_of(operator: SharedOperator, evaluator: Evaluator, axes: tuple[AxisCosts, ...]) -> Shares:
    """``axes``: with the costs of the operator's shares along each."""
    gap, ways = evaluator.signalling.task_cycles, []
    for offer in operator.offers:
        cycles = evaluator.costs.cycles(Part(offer))
        own, *others = evaluator.queues_of(offer)
        ways.append(Way(-1, {own: cycles + gap, **dict.fromkeys(others, max(0, cycles - gap))}))
    for number, costs in enumerate(axes):
        ways += _not_dominated([Way(number, loads) for loads in _combinations(costs)])
    return Shares(operator, axes, tuple(ways))


def _combinations(costs: AxisCosts) -> Iterator[dict[int, int]]:
    """Loads of the queues for every number of tiles that each gets."""
    kinds, tiles = list(costs.least), costs.along.tiles
    if (tiles + 1) ** (len(kinds) - 1) > COMBINATIONS_MAX:
        yield {}
        return
    for counts in product(range(tiles + 1), repeat=len(kinds) - 1):
        rest = tiles - sum(counts)
        if rest < 0:
            continue
        loads: dict[int, int] = {}
        for kind, count in zip(kinds, (*counts, rest), strict=True):
            for place, queue in enumerate(kind if count else ()):
                table = costs.beside if place else costs.least
                loads[queue] = loads.get(queue, 0) + int(table[kind][count])
        if max(loads.values()) < IMPOSSIBLE:
            yield loads


def _not_dominated(ways: Sequence[Way]) -> list[Way]:
    """Without ways that take no less of any queue than another with the same queues."""
    kept: list[Way] = []
    for way in sorted(ways, key=lambda way: (sum(way.loads.values()), sorted(way.loads.items()))):
        if not any(_is_least(other, way) for other in kept):
            kept.append(way)
    return kept


def _is_least(one: Way, other: Way) -> bool:
    return all(cycles <= other.loads.get(queue, -1) for queue, cycles in one.loads.items())


@dataclass(frozen=True, slots=True)
class Reading:
    """How parts of a reader along one axis wait for parts of its source along another: the fewest tiles that any tile
    reads, and the fewest tiles that read any tile."""

    reads: int
    read_by: int


def readings(source: Source, made: Shares, read: Shares, evaluator: Evaluator) -> dict[tuple[int, int], Reading]:
    """By the numbers of both axes, the maker's first (-1: whole)."""
    found: dict[tuple[int, int], Reading] = {}
    for one, other in product(range(-1, len(made.axes)), range(-1, len(read.axes))):
        makers, readers = tiles_of(made, one), tiles_of(read, other)
        if max(len(makers), len(readers)) > COMPARED_MAX:
            found[one, other] = Reading(0, 0)
            continue
        pairs = evaluator.network.waits(source, makers, readers)
        per_reader, per_maker = [0] * len(readers), [0] * len(makers)
        for reader, maker in pairs:
            per_reader[reader] += 1
            per_maker[maker] += 1
        found[one, other] = Reading(min(per_reader), min(per_maker))
    return found


def tiles_of(shares: Shares, axis: int) -> Division:
    """The operator in single tiles along an axis, or whole."""
    if axis < 0:
        return (Part(shares.operator.offers[0]),)
    along = shares.axes[axis].along
    unit = along.units[0]
    return tuple(
        Part(unit.offer, unit.dim, first, min(along.step, along.size - first))
        for first in range(0, along.size, along.step)
    )


def strong_bound(
    evaluator: Evaluator, most: int, seconds: float, axes: Sequence[tuple[AxisCosts, ...]] | None = None
) -> tuple[int, bool]:
    """A lower bound of the makespan of all programs with the evaluator's cover, and whether it is the model's optimum;
    at most ``most``, the makespan of a program that is known. ``seconds``: deterministic ones of the solver; ``axes``:
    costs of shares, if they are known. Where the solver does not end, the sum over stages may be higher
    (docs/mapping.md)."""
    operators = evaluator.network.operators
    axes = [axis_costs(operator, evaluator) for operator in operators] if axes is None else axes
    shares = tuple(shares_of(operator, evaluator, own) for operator, own in zip(operators, axes, strict=True))
    model = _Model(evaluator, shares, most)
    answer = solve(model.made(), seconds, linearization_level=2)
    if answer.infeasible:  # no program with this cover takes at most so many cycles
        return most, True
    # Costs of all shares are known now, so this is higher than that of the mapping.
    return min(most, max(answer.bound, bounds_of([evaluator]).cycles)), answer.optimal


@dataclass
class _Model:
    evaluator: Evaluator
    shares: tuple[Shares, ...]
    most: int

    @cached_property
    def reading(self) -> dict[tuple[int, int], dict[tuple[int, int], Reading]]:
        """By maker and reader."""
        found: dict[tuple[int, int], dict[tuple[int, int], Reading]] = {}
        for number, own in enumerate(self.shares):
            for source in own.operator.sources:
                made = readings(source, self.shares[source.operator], own, self.evaluator)
                known = found.setdefault((source.operator, number), made)
                for key, other in made.items():  # of several tensors of one maker, parts wait for all
                    known[key] = Reading(max(known[key].reads, other.reads), max(known[key].read_by, other.read_by))
        return found

    def made(self) -> Any:
        """The model of CP-SAT."""
        self.model = load_cp_model().CpModel()
        self._variables()
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
                if one not in self.axis[maker] or other not in self.axis[reader]:
                    continue
                both = [self.axis[maker][one], self.axis[reader][other]]
                apart.append(reading.reads >= (1 if one < 0 else made.axes[one].along.tiles))
                delays.append(self._soonest(made, one, reading.reads) + lag if reading.reads else -self.most)
                rests.append(self._soonest(read, other, reading.read_by) + lag if reading.read_by else -self.most)
                if apart[-1]:
                    self._apart(maker, reader, lag, both)
                self.model.add(self.start[reader] >= self.start[maker] + delays[-1]).only_enforce_if(both)
                self.model.add(self.end[reader] >= self.end[maker] + rests[-1]).only_enforce_if(both)
            self.model.add(self.start[reader] >= self.start[maker] + min(delays))
            self.model.add(self.end[reader] >= self.end[maker] + min(rests))
            if all(apart):
                self.model.add(self.start[reader] >= self.end[maker] + lag)
                self.model.add(self.end[reader] >= self.end[maker] + self._after_all(maker, reader))

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
            if all(reading.read_by for reading in found.values()):
                before[reader] |= before[maker] | {maker}
        for (maker, reader), found in sorted(pairs, key=lambda pair: -pair[0][0]):
            if all(reading.reads for reading in found.values()):
                after[maker] |= after[reader] | {reader}
        return after, before
