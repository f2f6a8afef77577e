"""The model of CP-SAT behind the strong bound (``strong_bound``): ways of operators, and times between which they run.

``fine`` models also know that the first and the last task of an operator in a queue run alone there, and which queue
begins and ends what. They are much closer to programs, and much dearer to solve: they are for a few operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from match_concurrent.mapping.parts import Part

from benchmarks.share_readings import Reading, Readings, Shares
from benchmarks.share_tasks import Way
from benchmarks.strong_times import Times


def least_of(way: Way, what: str) -> int:
    """The least of what is known of the first and last tasks of a way's queues."""
    return min((getattr(tasks, what) for tasks in way.tasks.values()), default=0)


@dataclass
class Model(Times):
    """With what the operators' ``reading`` of each other demands."""

    all_reading: Readings = field(kw_only=True)
    larger: dict[tuple[int, int, int, str, int], Any] = field(default_factory=dict)

    def made(self) -> Any:
        """The model of CP-SAT."""
        self.add_variables()
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
        for tasks in self.alone.values():
            self.model.add_no_overlap(tasks)
        return self.model

    def _lag(self, maker: int, made: int, reader: int, read: int) -> int:
        """The same for the queues in which two operators run, or which they keep busy."""
        return min(self.lag(q, r) for q, r in product(self.runners(maker, made), self.runners(reader, read)))

    def runners(self, number: int, queue: int) -> set[int]:
        """The queues of the tasks that may keep a queue busy."""
        return {
            q
            for _, way in self.taken[number]
            if queue in way.loads
            for q in ((queue,) if queue in way.tasks else way.tasks)
        }

    def soonest(self, shares: Shares, axis: int, tiles: int) -> int:
        """The least time in which so many tiles, or the whole operator, can be computed."""
        if axis < 0:
            return min(self.evaluator.costs.cycles(Part(offer)) for offer in shares.operator.offers)
        return max(0, shares.axes[axis].soonest(tiles) - self._gap)

    def _chains(self) -> None:
        """Readers follow their makers. What holds for all axes that may be chosen has no condition: the solver's linear
        relaxation knows it."""
        for (maker, reader), found in self.reading.items():
            made, read = self.shares[maker], self.shares[reader]
            lag = min((self.lag(q, r) for q, r in product(self.ends[maker], self.starts[reader])), default=0)
            apart, delays, rests = [], [], []
            for (one, other), reading in found.items():
                both = [self.axis[maker][one], self.axis[reader][other]]
                reads, read_by = reading.reads(1), reading.read_by(1)
                apart.append(reading.apart)
                delays.append(self.soonest(made, one, reads) + lag if reads else -self.most)
                rests.append(self.soonest(read, other, read_by) + lag if read_by else -self.most)
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
                first = sum(t * least_of(way, "head_cycles") for t, way in self.taken[maker])
                self.model.add(self.start[reader] >= self.start[maker] + first + lag)
                if self.fine:
                    self._first(maker, reader)
            if min(rests) >= 0:  # something is read of every part: a last task waits for it
                last = sum(t * least_of(way, "tail_cycles") for t, way in self.taken[reader])
                self.model.add(self.end[reader] >= self.end[maker] + last + lag)
                if self.fine:
                    self._last(maker, reader)
            if all(apart):
                self.model.add(self.start[reader] >= self.end[maker] + lag)
                self.model.add(self.end[reader] >= self.end[maker] + self._after_all(maker, reader))

    def _first(self, maker: int, reader: int) -> None:
        """The first task of each queue of the reader follows the first task of some queue of the maker."""
        for read, start in self.starts[reader].items():
            after = []
            for made, cycles in self.head[maker].items():
                after.append(self.model.new_bool_var(""))
                self.model.add_implication(after[-1], self.uses[maker][made])
                rule = self.model.add(start >= self.starts[maker][made] + cycles + self._lag(maker, made, reader, read))
                rule.only_enforce_if(after[-1])
            self.model.add(sum(after) + self._nowhere(maker) >= self.uses[reader][read])

    def _last(self, maker: int, reader: int) -> None:
        """The last task of each queue of the maker is followed by the last task of some queue of the reader."""
        for made, end in self.ends[maker].items():
            before = []
            for read, cycles in self.tail[reader].items():
                before.append(self.model.new_bool_var(""))
                self.model.add_implication(before[-1], self.uses[reader][read])
                rule = self.model.add(self.ends[reader][read] >= end + cycles + self._lag(maker, made, reader, read))
                rule.only_enforce_if(before[-1])
            self.model.add(sum(before) + self._nowhere(reader) >= self.uses[maker][made])

    def _heads(self, maker: int, reader: int, axes: tuple[int, int], reading: Reading) -> None:
        """The first task of a queue waits for all that its tiles read."""
        made, all_tiles = self.shares[maker], self._tiles(maker, axes[0])
        for queue in self.starts[reader]:
            sizes = sorted({way.tasks[queue].head for _, way in self._along(reader, axes[1], queue)})
            known = reading.reads(1)
            for size in sizes:
                reads = reading.reads(size)
                if reads > known:
                    known = reads
                    larger = self._at_least(reader, axes[1], queue, "head", size)
                    both = [self.axis[maker][axes[0]], larger]
                    self._follows(maker, (reader, queue), both, self.soonest(made, axes[0], reads), reads == all_tiles)

    def _follows(self, maker: int, reader: tuple[int, int], both: Sequence[Any], soonest: int, whole: bool) -> None:
        """A task of a queue of the reader follows so much of a maker, or all of it."""
        start = self.starts[reader[0]][reader[1]]
        lags = {made: self._lag(maker, made, *reader) for made in self.ends[maker]}
        self.model.add(start >= self.start[maker] + soonest + min(lags.values())).only_enforce_if(both)
        if whole:
            for made, end in self.ends[maker].items():
                self.model.add(start >= end + lags[made]).only_enforce_if([*both, self.uses[maker][made]])

    def _tails(self, maker: int, reader: int, axes: tuple[int, int], reading: Reading) -> None:
        """What reads tiles of the last task of a queue waits for its end."""
        read, all_tiles = self.shares[reader], self._tiles(reader, axes[1])
        for queue, end in self.ends[maker].items():
            sizes = sorted({way.tasks[queue].tail for _, way in self._along(maker, axes[0], queue)})
            lags = {other: self._lag(maker, queue, reader, other) for other in self.starts[reader]}
            known = reading.read_by(1)
            for size in sizes:
                read_by = reading.read_by(size)
                if read_by > known:
                    known = read_by
                    both = [self.axis[reader][axes[1]], self._at_least(maker, axes[0], queue, "tail", size)]
                    rest = self.soonest(read, axes[1], read_by) + min(lags.values())
                    self.model.add(self.end[reader] >= end + rest).only_enforce_if(both)
                    if read_by == all_tiles:
                        for other, start in self.starts[reader].items():
                            rule = self.model.add(start >= end + lags[other])
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
            rule = self.model.add(self.starts[reader][r] >= self.ends[maker][q] + self._lag(maker, q, reader, r))
            rule.only_enforce_if([*both, self.uses[maker][q], self.uses[reader][r]])

    def _after_all(self, maker: int, reader: int) -> Any:
        """The least cycles of a reader from the end of its maker, which ended in some queue."""
        return sum(
            t
            * min(
                max((self._lag(maker, q, reader, r) + load - self._gap for r, load in way.loads.items()), default=0)
                for q in ends
            )
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
            first_and_last = self._begin(queue) + self._told(queue) - self._gap
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
