"""A lower bound of the makespan of chains, above the strong bound: programs fall apart where an operator ends before
its reader starts.

Between two such places lies a segment, in which every reader starts before its maker ends. The times of a program's
segments add up, so the least sum over all segmentations, a shortest path, is a bound. A segment of several operators
leaves few axes: a reader whose every part reads the whole maker starts after it. That makes models of segments
(``strong_model``) much easier to solve than one of all operators.

Costs of segments are work at first. The solver replaces those on the shortest path, with more and more effort, until
the path is as long as is asked for, or every cost on it has got all effort. It proves that a segment takes more than
the others leave of that length, which is easier than to find its least time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product

import numpy as np
from match_concurrent.mapping.evaluate import Evaluator
from match_core.cp_sat import solve

from benchmarks.share_costs import AxisCosts, axis_costs
from benchmarks.share_readings import Readings, Shares, all_readings, shares_of
from benchmarks.strong_model import Model

#: Efforts for a segment, one after another, in deterministic seconds: with fine models for segments of at most so many
#: operators, and with coarse ones for longer ones, whose fine models are too large.
SHORT, FINE, COARSE = 7, (30.0, 200.0), (10.0, 60.0, 300.0)
#: Mixtures of two queues' work that are looked at.
MIXTURES = 65

#: The axis of each operator of a segment.
Axes = tuple[int, ...]
Report = Callable[[str], None]


def segment_bound(
    evaluator: Evaluator,
    most: int,
    axes: Sequence[tuple[AxisCosts, ...]] | None = None,
    fine: Sequence[float] = FINE,
    coarse: Sequence[float] = COARSE,
    report: Report = lambda _: None,
) -> int:
    """A lower bound of the makespan of all programs with the evaluator's cover, at most ``most``; 0 if its operators
    are no chain, each of whose parts reads a part of the operator before it and is read by one behind it. ``axes``:
    costs of shares, if they are known; ``report`` receives a line for each model that is solved."""
    operators = evaluator.network.operators
    axes = [axis_costs(operator, evaluator) for operator in operators] if axes is None else axes
    shares = tuple(shares_of(operator, evaluator, own) for operator, own in zip(operators, axes, strict=True))
    reading = all_readings(shares, evaluator)
    if not _is_chain(len(shares), reading):
        return 0
    return min(most, _Segments(evaluator, shares, reading, most, fine, coarse, report).bound())


def _is_chain(operators: int, reading: Readings) -> bool:
    pairs = list(pairwise(range(operators)))
    return sorted(reading) == pairs and all(
        each.reads(1) and each.read_by(1) for found in reading.values() for each in found.values()
    )


@dataclass
class _Segment:
    """Of operators from ``first`` to before ``end``: lower bounds by axes, and how many efforts each of them got."""

    first: int
    end: int
    least: dict[Axes, int]
    tried: dict[Axes, int] = field(default_factory=dict)

    @property
    def cycles(self) -> int:
        return min(self.least.values())

    @property
    def axes(self) -> Axes:
        return min(self.least, key=lambda axes: (self.least[axes], axes))


@dataclass
class _Segments:
    evaluator: Evaluator
    shares: tuple[Shares, ...]
    reading: Readings
    most: int
    fine: Sequence[float]
    coarse: Sequence[float]
    report: Report
    known: dict[Hashable, _Segment] = field(default_factory=dict)
    soonest: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def bound(self) -> int:
        """The length of the shortest path, at last."""
        self.model = Model(self.evaluator, self.shares, self.most, all_reading=self.reading)
        self.signs = [tuple(map(self.evaluator.costs.alike, own.operator.offers)) for own in self.shares]
        count = len(self.shares)
        self.at = {(i, j): self._segment(i, j) for i in range(count) for j in range(i + 1, count + 1)}
        while True:
            self._lengthen()
            path = self._shortest()
            unsolved = [pair for pair in path if self._left(self.at[pair])]
            if self.before[count] >= self.most or not unsolved:
                return self.before[count]
            self._solve(min(unsolved, key=lambda pair: (self._tried(self.at[pair]), pair[1] - pair[0], pair)))

    # --- segments ----------------------------------------------------------------------------------------------------

    def _segment(self, first: int, end: int) -> _Segment:
        """Segments of the same layers behind the same layer are one, but for those at the beginning and at the end."""
        key = first == 0, end == len(self.shares), tuple(self.signs[max(0, first - 1) : end])
        if key not in self.known:
            least = {axes: self._work(first, axes) for axes in self._axes(first, end)}
            self.known[key] = _Segment(first, end, least or {(): self.most})
        return self.known[key]

    def _axes(self, first: int, end: int) -> Iterator[Axes]:
        """Those of operators of which none has to wait for the end of the one before."""
        found: list[Axes] = [()]
        for number in range(first, end):
            own = sorted({way.axis for way in self.shares[number].ways})
            before = self.reading.get((number - 1, number), {})
            found = [(*axes, axis) for axes in found for axis in own if not axes or not before[axes[-1], axis].apart]
        yield from found

    def _along(self, first: int, axes: Axes) -> tuple[Shares, ...]:
        """The operators with their ways along these axes."""
        return tuple(
            replace(shares, ways=tuple(way for way in shares.ways if way.axis == axis))
            for shares, axis in zip(self.shares[first:], axes, strict=False)
        )

    def _work(self, first: int, axes: Axes) -> int:
        """The least of the most work of any queue, with mixtures of ways."""
        loads = [[way.loads for way in shares.ways] for shares in self._along(first, axes)]
        queues = sorted({queue for own in loads for way in own for queue in way})
        table = [np.array([[way.get(queue, 0) for queue in queues] for way in own], np.float64) for own in loads]
        weights = list(np.eye(len(queues)))
        weights += [t * a + (1 - t) * b for a, b in pairwise(weights) for t in np.linspace(0, 1, MIXTURES)]
        found = (sum(float((own @ weight).min()) for own in table) for weight in weights)
        return max(0, int(max(found, default=0.0) - 1e-6) - self.evaluator.signalling.task_cycles)

    def _lengthen(self) -> None:
        """A segment takes longer than the same one without its last operator, or without its first one."""
        count = len(self.shares)
        for first in range(count):
            for end in range(first + 1, count):
                shorter = self.at[first, end].least
                longer = self.at[first, end + 1].least
                for axes in longer:
                    rest = self._rest(end - 1, axes[-2:]) if axes else 0
                    longer[axes] = max(longer[axes], shorter.get(axes[:-1], 0) + rest)
        for first in range(count - 1, 0, -1):
            for end in range(first + 1, count + 1):
                shorter, longer = self.at[first, end].least, self.at[first - 1, end].least
                for axes in longer:
                    head = self._head(first - 1, axes[:2]) if axes else 0
                    longer[axes] = max(longer[axes], shorter.get(axes[1:], 0) + head)

    def _rest(self, maker: int, axes: Axes) -> int:
        """The least cycles from an operator's end to that of its reader."""
        reading = self.reading[maker, maker + 1][axes[0], axes[1]]
        return self._soonest(maker + 1, axes[1], reading.read_by(1)) + self._lag(maker)

    def _head(self, maker: int, axes: Axes) -> int:
        """The least cycles from an operator's start to that of its reader."""
        reading = self.reading[maker, maker + 1][axes[0], axes[1]]
        return self._soonest(maker, axes[0], reading.reads(1)) + self._lag(maker)

    def _soonest(self, number: int, axis: int, tiles: int) -> int:
        key = number, axis, tiles
        if key not in self.soonest:
            self.soonest[key] = self.model.soonest(self.shares[number], axis, tiles)
        return self.soonest[key]

    def _lag(self, maker: int) -> int:
        """The fewest cycles from a task of an operator to one of its reader."""
        made, read = (
            {queue for way in self.shares[number].ways for queue in way.loads} for number in (maker, maker + 1)
        )
        return min((self.model.lag(q, r) for q, r in product(made, read)), default=0)

    # --- paths -------------------------------------------------------------------------------------------------------

    def _shortest(self) -> list[tuple[int, int]]:
        """The segments of the shortest path; ``before`` and ``behind``: shortest ones up to and from each operator."""
        count = len(self.shares)
        cycles = {pair: segment.cycles for pair, segment in self.at.items()}
        self.before, self.behind, came = [0], [0] * (count + 1), [0]
        for end in range(1, count + 1):
            length, first = min((self.before[i] + cycles[i, end], i) for i in range(end))
            self.before.append(length)
            came.append(first)
        for first in range(count - 1, -1, -1):
            self.behind[first] = min(cycles[first, j] + self.behind[j] for j in range(first + 1, count + 1))
        path, end = [], count
        while end:
            path.append((came[end], end))
            end = came[end]
        return path[::-1]

    def _efforts(self, segment: _Segment) -> Sequence[float]:
        return self.fine if self._is_short(segment) else self.coarse

    def _is_short(self, segment: _Segment) -> bool:
        return segment.end - segment.first <= SHORT

    def _left(self, segment: _Segment) -> bool:
        """Whether there is effort left for what its cost is due to."""
        return bool(segment.axes) and self._tried(segment) < len(self._efforts(segment))

    def _tried(self, segment: _Segment) -> int:
        return segment.tried.get(segment.axes, 0)

    def _solve(self, pair: tuple[int, int]) -> None:
        """The next effort, for at most as many cycles as the others leave wherever there are the same layers."""
        segment = self.at[pair]
        axes, first, end = segment.axes, segment.first, segment.end
        places = [place for place, other in self.at.items() if other is segment]
        most = max(self.most - self.before[i] - self.behind[j] for i, j in places)
        tried = self._tried(segment)
        efforts, fine = self._efforts(segment), self._is_short(segment)
        answer = solve(self._model(segment, axes, most, fine=fine), efforts[tried], linearization_level=2)
        found = most + 1 if answer.infeasible else answer.bound
        over = answer.infeasible or answer.optimal
        segment.tried[axes] = len(efforts) if over else tried + 1
        what = f"{first}:{end} axes {axes}, {'fine' if fine else 'coarse'}: {segment.least[axes]} -> {found} of {most}"
        self.report(f"{self.before[-1]} {what}{' solved' if over else ''}")
        segment.least[axes] = max(segment.least[axes], found)

    def _model(self, segment: _Segment, axes: Axes, most: int, *, fine: bool) -> object:
        first, end = segment.first, segment.end
        reading = {
            (maker - first, reader - first): {
                (axes[maker - first], axes[reader - first]): found[axes[maker - first], axes[reader - first]]
            }
            for (maker, reader), found in self.reading.items()
            if first <= maker and reader < end
        }
        last = end == len(self.shares)
        own = self._along(first, axes)
        model = Model(self.evaluator, own, most, fine, first == 0, last, all_reading=reading)
        made = model.made()
        if first and all(r.apart for (_, axis), r in self.reading[first - 1, first].items() if axis == axes[0]):
            self._enter(model, first)
        for maker, reader in pairwise(range(end - first)):
            made.add(model.start[reader] + 1 <= model.end[maker])
        return made

    def _enter(self, model: Model, first: int) -> None:
        """Every part of the segment's first operator waits for the end of its maker, which is in some queue."""
        queues = sorted({queue for way in self.shares[first - 1].ways for queue in way.loads})
        chosen = [model.model.new_bool_var("") for _ in queues]
        model.model.add_exactly_one(chosen)
        for queue, literal in zip(queues, chosen, strict=True):
            for read, start in model.starts[0].items():
                lag = min(model.lag(queue, each) for each in model.runners(0, read))
                model.model.add(start >= lag).only_enforce_if(literal)
