"""Evaluates a choice of divisions: tasks with dependencies, their order, the time line, and the minimised value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from match_concurrent.mapping.estimates import Estimates, Line, Needs
from match_concurrent.mapping.parts import Division
from match_concurrent.mapping.timeline import HOST, Step, Timeline, earliest_start_order, least_finish, simulate

if TYPE_CHECKING:
    from match_core.contract.hardware import Signalling
    from match_core.contract.loops import Objective
    from match_core.contract.mapping import Assignment
    from match_core.contract.workload import Operand

    from match_concurrent.mapping.costs import ShareCosts
    from match_concurrent.mapping.mapping_effort import ConcurrentOptions
    from match_concurrent.mapping.network import Network, Queues, Source
    from match_concurrent.mapping.parts import Part

#: One division for each operator.
Choice = tuple[Division, ...]
#: The minimised value, compared in order: the objective, cycles, number of tasks.
Value = tuple[int, int, int]
#: Less than any value.
NEVER: Value = (-1, -1, -1)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``starts[operator][part]`` and ``finish`` in modelled cycles; ``energy_pj`` of units that publish figures."""

    choice: Choice
    starts: tuple[tuple[int, ...], ...]
    finish: int
    energy_pj: int
    value: Value


@dataclass
class Evaluator:
    """Values of choices for one network; ``spent`` counts tasks put on a time line."""

    network: Network
    costs: ShareCosts
    queues: Queues
    signalling: Signalling
    options: ConcurrentOptions
    objective: Objective
    spent: int = 0
    _waits: dict[tuple[str, str, Division, Division], tuple[tuple[int, int], ...]] = field(default_factory=dict)
    #: Divisions are numbered, because numbers are compared faster.
    _numbers: dict[Division, int] = field(default_factory=dict)
    _needs: dict[tuple[int, ...], Needs] = field(default_factory=dict)
    _queues_of: dict[int, tuple[int, ...]] = field(default_factory=dict)
    #: Of the parts of numbered divisions, for costs that changed so often.
    _lines: dict[int, tuple[Line, ...]] = field(default_factory=dict)
    _work: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    #: By the numbers of a choice's divisions: a value that it is not better than. Several starts lead to one choice.
    _no_better: dict[tuple[int, ...], Value] = field(default_factory=dict)
    _changes: int = -1
    _base: tuple[Choice, tuple[int, ...]] = ((), ())  # compared with last, and the numbers of its divisions

    @cached_property
    def estimates(self) -> Estimates | None:
        """They tell which choices are worth a time line; None where they cannot be made."""
        return Estimates.of(self.signalling, len(self.queues.names), self.network.operators)

    def of(self, network: Network, options: ConcurrentOptions | None = None) -> Evaluator:
        """An evaluator with the same costs for another network, and with other options if they are given."""
        made = Evaluator(network, self.costs, self.queues, self.signalling, options or self.options, self.objective)
        made._waits = self._waits  # by names of tensors and by parts, which are the same in every network of a model
        return made

    def evaluate(self, choice: Choice, hints: Sequence[Sequence[int]] | None = None) -> Evaluation:
        """The choice in the order of list scheduling; with ``hints`` (starts of all parts as in ``Evaluation``), in the
        best of that order, the order of the hints, and that of the network's operators."""
        steps, places = self.steps(choice)
        orders = {tuple(earliest_start_order(steps, self.signalling)): None}
        if hints is not None:
            orders[self._hinted(steps, places, hints)] = None
            orders[tuple(range(len(steps)))] = None
        lines = [simulate(steps, order, self.signalling) for order in orders]
        self.spent += len(steps) * len(lines)
        best = min(lines, key=lambda line: line.finish)
        return self._evaluation(choice, places, best)

    def improved(self, choice: Choice, than: Evaluation) -> Evaluation | None:
        """As ``evaluate``; None if that is not better. Bounds of the finish save most time lines. These count as spent
        nevertheless, so that the result does not depend on this shortcut."""
        if self.objective != "latency" or self.options.parallel == "tiles":  # copies are work too
            evaluated = self.evaluate(choice)
            return evaluated if evaluated.value < than.value else None
        self.spent += sum(map(len, choice))
        numbers = self._numbers_near(choice, than.choice)
        self._forget_if_changed()
        if self._no_better.get(numbers, NEVER) >= than.value:
            return None
        found = self._below(choice, numbers, than) if max(self._loads(choice, numbers)) <= than.finish else None
        if found is None:
            self._no_better[numbers] = than.value
        return found

    def finish(self, choice: Choice, limit: int) -> int:
        """The finish of the choice in the order of list scheduling, or a number above the limit."""
        numbers = tuple([self._number(division) for division in choice])
        self._forget_if_changed()
        estimated = self._estimated(choice, numbers, limit)
        if estimated is not None:
            return estimated
        steps, _ = self._plain_steps(choice, numbers)
        return simulate(steps, earliest_start_order(steps, self.signalling), self.signalling, limit).finish

    def _estimated(self, choice: Choice, numbers: Sequence[int], limit: int) -> int | None:
        """The finish, or a number above the limit; None where nothing estimates it."""
        if self.estimates is None:
            return None
        return self.estimates.finish(
            numbers,
            limit,
            self.costs.changes,
            lambda place: self._line(numbers[place], choice[place]),
            lambda place: self._known_needs(place, choice, numbers),
        )

    def loads(self, choice: Choice) -> list[int]:
        """The cycles that each queue works, most first."""
        return sorted(self._loads(choice, [self._number(division) for division in choice]), reverse=True)

    def _loads(self, choice: Choice, numbers: Sequence[int]) -> list[int]:
        """The cycles that each queue works. No order of the choice can be below the most."""
        gap = self.signalling.task_cycles
        busy = [-gap] * len(self.queues.names)
        for number, division in zip(numbers, choice, strict=True):
            work = self._work.get(number)
            if work is None:
                work = self._work[number] = self._work_of(number, division)
            for queue, cycles in work:
                busy[queue] += cycles
        return busy

    def _work_of(self, number: int, division: Division) -> tuple[tuple[int, int], ...]:
        """Queues and the cycles that the parts of a division keep each busy."""
        gap, work = self.signalling.task_cycles, dict[int, int]()
        for queue, cycles, others in self._line(number, division):
            work[queue] = work.get(queue, 0) + cycles + gap
            for other in others:
                work[other] = work.get(other, 0) + cycles - gap  # as in least_finish
        return tuple(work.items())

    def _below(self, choice: Choice, numbers: Sequence[int], than: Evaluation) -> Evaluation | None:
        """The choice, whose divisions have these numbers, if it is better."""
        estimated = self._estimated(choice, numbers, than.finish)
        if estimated is not None and (estimated, estimated, sum(map(len, choice))) >= than.value:
            return None
        steps, places = self._plain_steps(choice, numbers)
        if least_finish(steps, self.signalling) > than.finish:
            return None
        line = simulate(steps, earliest_start_order(steps, self.signalling), self.signalling, than.finish)
        if line.finish > than.finish:
            return None
        found = self._evaluation(choice, places, line)
        return found if found.value < than.value else None

    def replayed(self, choice: Choice, starts: Sequence[Sequence[int]]) -> Evaluation:
        """The choice in the order of these starts. ValueError, KeyError or IndexError if it is not a valid choice."""
        steps, places = self.steps(choice)
        line = simulate(steps, self._hinted(steps, places, starts), self.signalling)
        return self._evaluation(choice, places, line)

    def steps(self, choice: Choice) -> tuple[list[Step], list[list[int]]]:
        """Steps in topological order, and for each operator the numbers of its parts' steps."""
        if self.options.parallel == "tiles":
            return self._with_copies(choice)
        return self._plain_steps(choice, [self._number(division) for division in choice])

    def _plain_steps(self, choice: Choice, numbers: Sequence[int]) -> tuple[list[Step], list[list[int]]]:
        """The steps without copies; ``numbers`` of the divisions."""
        steps: list[Step] = []
        first: list[int] = []  # of each operator's steps
        for place, division in enumerate(choice):
            needs = self._known_needs(place, choice, numbers)
            first.append(len(steps))
            for (queue, cycles, others), wanted in zip(self._line(numbers[place], division), needs, strict=True):
                steps.append(Step(queue, cycles, tuple([first[source] + maker for source, maker in wanted]), others))
        places = [list(range(start, start + len(own))) for start, own in zip(first, choice, strict=True)]
        return steps, places

    def _forget_if_changed(self) -> None:
        if self._changes != self.costs.changes:
            self._lines.clear()
            self._work.clear()
            self._no_better.clear()
            self._changes = self.costs.changes

    def _number(self, division: Division) -> int:
        return self._numbers.setdefault(division, len(self._numbers))

    def _numbers_near(self, choice: Choice, base: Choice) -> tuple[int, ...]:
        """The numbers of a choice's divisions, most of which are those of ``base``."""
        if self._base[0] is not base:
            self._base = base, tuple([self._number(division) for division in base])
        near = zip(choice, *self._base, strict=True)
        return tuple([number if own is same else self._number(own) for own, same, number in near])

    def _line(self, number: int, division: Division) -> tuple[Line, ...]:
        """Queues and cycles of the parts of a division."""
        self._forget_if_changed()
        known = self._lines.get(number)
        if known is None:
            known = tuple((self.queue_of(p.offer), self.costs.cycles(p), self.queues_of(p.offer)[1:]) for p in division)
            self._lines[number] = known
        return known

    def _known_needs(self, place: int, choice: Choice, numbers: Sequence[int]) -> Needs:
        """As ``_needs_of``, remembered by the numbers of the divisions."""
        sources = self.network.operators[place].sources
        key = (place, numbers[place], *[numbers[source.operator] for source in sources])
        needs = self._needs.get(key)
        if needs is None:
            needs = self._needs[key] = self._needs_of(place, choice)
        return needs

    def _needs_of(self, place: int, choice: Choice) -> Needs:
        """For each part of an operator, (operator, part) of those that it waits for, in order."""
        needs: list[set[tuple[int, int]]] = [set() for _ in choice[place]]
        for source in self.network.operators[place].sources:
            for reader, maker in self.waits(source, choice[source.operator], choice[place]):
                needs[reader].add((source.operator, maker))
        return tuple(tuple(sorted(wanted)) for wanted in needs)

    def _with_copies(self, choice: Choice) -> tuple[list[Step], list[list[int]]]:
        """The same where the host copies parts."""
        steps: list[Step] = []
        places: list[list[int]] = []
        ends: list[list[int]] = []  # for each operator, the steps that readers of all of it wait for
        for operator, division in zip(self.network.operators, choice, strict=True):
            needs: list[set[int]] = [set() for _ in division]
            for source in operator.sources:
                if len(ends[source.operator]) != len(choice[source.operator]):  # joined by a copy
                    for wanted in needs:
                        wanted.update(ends[source.operator])
                    continue
                for reader, maker in self.waits(source, choice[source.operator], division):
                    needs[reader].add(places[source.operator][maker])
            self._append(steps, places, ends, division, needs)
        return steps, places

    def waits(self, source: Source, made: Division, read: Division) -> tuple[tuple[int, int], ...]:
        """As for Network, remembered."""
        key = (source.made, source.read, made, read)
        if key not in self._waits:
            self._waits[key] = self.network.waits(source, made, read)
        return self._waits[key]

    def cycles_alone(self, division: Division) -> int:
        """Cycles of a division that has all queues for itself."""
        busy: dict[int, int] = {}
        for part in division:
            for queue in self.queues_of(part.offer):
                busy[queue] = busy.get(queue, 0) + self.costs.cycles(part) + self.signalling.task_cycles
        return max(busy.values())

    def queue_of(self, offer: int) -> int:
        """The queue that a candidate runs in."""
        return self.queues_of(offer)[0]

    def queues_of(self, offer: int) -> tuple[int, ...]:
        """The same, and other queues that the candidate keeps busy."""
        known = self._queues_of.get(offer)
        if known is None:
            known = self._queues_of[offer] = self.queues.of_candidate(self.network.offered[offer].candidate)
        return known

    def _append(
        self,
        steps: list[Step],
        places: list[list[int]],
        ends: list[list[int]],
        division: Division,
        needs: Sequence[set[int]],
    ) -> None:
        """The steps of one operator. Where shares are no views, the host cuts out their inputs and joins results."""
        copied = self.options.parallel == "tiles" and len(division) > 1
        numbers = []
        for part, wanted in zip(division, needs, strict=True):
            before = sorted(wanted)
            slice_bytes = self._sliced_bytes(part) if copied else 0
            if slice_bytes:
                steps.append(Step(HOST, self._copy_cycles(slice_bytes), tuple(before)))
                before = [len(steps) - 1]
            numbers.append(len(steps))
            queue, *others = self.queues_of(part.offer)
            steps.append(Step(queue, self.costs.cycles(part), tuple(before), tuple(others)))
        places.append(numbers)
        if copied:
            joined = _bytes_of(self.network.offered[division[0].offer], "output")
            steps.append(Step(HOST, self._copy_cycles(joined), tuple(numbers)))
            ends.append([len(steps) - 1])
        else:
            ends.append(numbers)

    def _sliced_bytes(self, part: Part) -> int:
        """Bytes of the inputs of which the share reads a part only."""
        whole = self.network.offered[part.offer].candidate.workload
        share = self.network.part(part).candidate.workload
        total = 0
        for operand, shown in zip(whole.operands, share.operands, strict=True):
            if operand.role == "input" and operand.axes != shown.axes:
                total += _elements(shown) * operand.element_bits // 8
        return total

    def _copy_cycles(self, size_bytes: int) -> int:
        return round(size_bytes * self.options.copy_cycles_per_byte)

    def _hinted(
        self, steps: Sequence[Step], places: Sequence[Sequence[int]], hints: Sequence[Sequence[int]]
    ) -> tuple[int, ...]:
        """Steps in the order of hinted starts, moved after their dependencies if necessary."""
        key = [0] * len(steps)
        for numbers, starts in zip(places, hints, strict=True):
            for number, start in zip(numbers, starts, strict=True):
                key[number] = start
        for number, step in enumerate(steps):
            key[number] = max([key[number], *(key[need] for need in step.needs)])
        return tuple(sorted(range(len(steps)), key=lambda number: (key[number], number)))

    def _evaluation(self, choice: Choice, places: Sequence[Sequence[int]], line: Timeline) -> Evaluation:
        starts = tuple(tuple(line.starts[number] for number in numbers) for numbers in places)
        energy = sum(round(self.costs.of(part)[1]) for division in choice for part in division)
        return Evaluation(choice, starts, line.finish, energy, self.value(line.finish, energy, starts))

    def value(self, finish: int, energy_pj: int, starts: Sequence[Sequence[int]]) -> Value:
        """What is minimised."""
        goal = {"latency": finish, "energy": energy_pj, "edp": finish * energy_pj}[self.objective]
        return goal, finish, sum(len(numbers) for numbers in starts)


def _bytes_of(assignment: Assignment, role: str) -> int:
    operands = (o for o in assignment.candidate.workload.operands if o.role == role)
    return sum(_elements(operand) * operand.element_bits // 8 for operand in operands)


def _elements(operand: Operand) -> int:
    return prod(axis.size for axis in operand.axes)
