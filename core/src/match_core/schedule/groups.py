"""Tight lower bounds for single choices (a tiling, and one option for every operand) in one loop order.

The steps of a layer fall into groups with the same copies (see ``bounds`` for why sums over a group are a bound): by
their place in the innermost loop, first, between or last, and the last ones by the loop that goes on after them. The
first loads and the last step are single events, so their waits are exact too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from match_core.schedule.steps import Channel, Issued, Queue
from match_core.schedule.tile_kinds import Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.schedule.bounds import OrderBounds
    from match_core.schedule.options import Option
    from match_core.schedule.tables import Quantity

    Array = NDArray[np.int64]

#: Turns of the outermost loops, as many as a buffer's depth; more of them add up.
_Turns = list[list[Part]]


@dataclass(frozen=True, slots=True)
class Group:
    """Steps with the same copies. ``kind``: where they are in the innermost loop; ``level``: the loop that goes on
    after them (the number of loops at the end of the layer)."""

    kind: Literal["first", "middle", "last"]
    level: int


def groups_of(loops: int) -> list[Group]:
    """The groups of a nest, the last step of the layer at the end."""
    if loops == 0:
        return [Group("last", 0)]
    inner = [Group("first", loops - 1), Group("middle", loops - 1)]
    return [*inner, *(Group("last", level) for level in range(loops - 1)), Group("last", loops)]


def calls_in(group: Group, loops: int) -> list[Part]:
    """The turns of all loops at which the kernel calls of a group are."""
    if group.kind != "last":
        return [Part.ALL] * (loops - 1) + [Part.FIRST if group.kind == "first" else Part.MIDDLE]
    if group.level == loops:
        return [Part.LAST] * loops
    return [Part.ALL] * group.level + [Part.LEAD] + [Part.LAST] * (loops - group.level - 1)


def loads_in(group: Group, depth: int, loops: int) -> tuple[_Turns, _Turns]:
    """The pieces of an input that the steps of a group load for the next step: turns that count, and turns to be taken
    away again."""
    if group.kind == "last":
        level = group.level
        return ([[Part.ALL] * level + [Part.REST] + [Part.FIRST] * (depth - level - 1)] if level < depth else []), []
    if depth < loops:
        return [], []
    outer = [Part.ALL] * (loops - 1)
    if group.kind == "first":
        return [[*outer, Part.SECOND]], []
    return [[*outer, Part.REST]], [[*outer, Part.SECOND]]


def stores_in(group: Group, depth: int, loops: int) -> _Turns:
    """The pieces of an output that are complete with the steps of a group."""
    if group.kind == "last":
        level = group.level
        if level == loops:
            return [[Part.LAST] * depth]
        return [[Part.ALL] * level + [Part.LEAD] + [Part.LAST] * (depth - level - 1)] if level < depth else []
    if depth < loops:
        return []
    return [[Part.ALL] * (loops - 1) + [Part.FIRST if group.kind == "first" else Part.MIDDLE]]


def stores_before(group: Group, depth: int, loops: int) -> tuple[_Turns, _Turns]:
    """The pieces of an output that are complete with the steps before those of a group; turns that count, and turns
    to be taken away again."""
    if loops == 0:
        return [], []
    if group.kind == "first":
        return [
            [Part.ALL] * level + [Part.LEAD] + [Part.LAST] * (depth - level - 1)
            for level in range(min(depth, loops - 1))
        ], []
    if depth < loops:
        return [], []
    outer = [Part.ALL] * (loops - 1)
    if group.kind == "middle":
        return [[*outer, Part.LEAD]], [[*outer, Part.PENULTIMATE]]
    if group.level == loops:
        return [[Part.LAST] * (loops - 1) + [Part.PENULTIMATE]], []
    level = group.level
    return [[Part.ALL] * level + [Part.LEAD] + [Part.LAST] * (loops - level - 2) + [Part.PENULTIMATE]], []


@dataclass(frozen=True, slots=True)
class Rows:
    """Choices to be bounded: positions of tilings (an array per cut), and the option of every operand."""

    tiling: tuple[Array, ...]
    chosen: tuple[Array, ...]


class GroupBounds:
    """Bounds for one order. ``least_wait``: no copy waits less."""

    def __init__(self, order: OrderBounds, least_wait: int) -> None:
        self.order = order
        self.least_wait = least_wait
        self.loops = len(order.order)
        self.operands = order.tables.request.workload.operands

    def lower(self, rows: Rows) -> Array:
        """A lower bound of the cycles of every choice (without ``layer_cycles``)."""
        zero: Array = np.zeros(rows.chosen[0].size, dtype=np.int64)
        total = self._first_loads(rows, zero)
        for group in groups_of(self.loops):
            total = total + self._group(group, rows, zero)
        return total

    def _at(self, values: Array, rows: Rows) -> Array:
        place = tuple(
            index if size > 1 else np.zeros_like(index) for index, size in zip(rows.tiling, values.shape, strict=True)
        )
        return values[place]

    def _first_loads(self, rows: Rows, zero: Array) -> Array:
        queue = Queue(zero)
        copies = []
        for number, operand in enumerate(self.operands):
            if operand.role != "output":
                turns = [[[Part.FIRST] * option.depth] for option in self.order.options[number]]
                copies.append(self._copy(number, rows, turns, wait=True))
        if self.order.overlap == "none":
            queue.issue_blocking(copies)
            return queue.now
        queue.issue(copies)
        return queue.finished()

    def _group(self, group: Group, rows: Rows, zero: Array) -> Array:
        parts = calls_in(group, self.loops)
        kernel = self._at(self.order.call_sum("kernel", parts), rows)
        launch = self._at(self.order.call_sum("launch", parts), rows)
        ends = group.level == self.loops
        overlap = self.order.overlap
        before, after = self._before(group, rows), self._after(group, rows)
        if overlap == "none":
            queue = Queue(kernel + launch)
            queue.issue_blocking([*before, *after])
            return queue.now
        queue = Queue(zero)
        if overlap == "data":
            queue.issue(before)
            queue.now = queue.now + launch + kernel
        else:
            queue.now = queue.now + launch
            queue.issue(before)
            queue.now = np.maximum(queue.now, launch + kernel)
        queue.issue(after)
        if ends:
            return queue.finished()
        # Each step with a copy behind its kernel waits for it.
        waits = zero > 0
        for copy in after:
            waits = waits | (copy.data > 0)
        count = self._at(self.order.count(parts), rows)
        end = np.maximum(queue.now, queue.ended())
        return end + np.where(waits, count * self.least_wait, 0)

    def _before(self, group: Group, rows: Rows) -> list[Issued]:
        loads, stores = [], []
        for number, operand in enumerate(self.operands):
            options = self.order.options[number]
            if operand.role == "output":
                turns = [stores_before(group, o.depth, self.loops) for o in options]
                found = self._double(number, rows, options, turns, wait=group.level == self.loops)
                stores += [found] if found is not None else []
            else:
                turns = [loads_in(group, o.depth, self.loops) for o in options]
                found = self._double(number, rows, options, turns, wait=False)
                loads += [found] if found is not None else []
        return loads + stores

    def _double(
        self, number: int, rows: Rows, options: Sequence[Option], turns: Sequence[tuple[_Turns, _Turns]], wait: bool
    ) -> Issued | None:
        kept = [pair if option.buffers == 2 else ([], []) for option, pair in zip(options, turns, strict=True)]
        if not any(more or less for more, less in kept):
            return None
        return self._copy(number, rows, [more for more, _ in kept], [less for _, less in kept], wait=wait)

    def _after(self, group: Group, rows: Rows) -> list[Issued]:
        loads, stores = [], []
        ends = group.level == self.loops
        for number, operand in enumerate(self.operands):
            options = self.order.options[number]
            if operand.role == "output":
                turns = [stores_in(group, o.depth, self.loops) if o.buffers == 1 or ends else [] for o in options]
                if any(turns):
                    stores.append(self._copy(number, rows, turns, wait=ends))
                continue
            pairs = [loads_in(group, o.depth, self.loops) if o.buffers == 1 else ([], []) for o in options]
            if any(more for more, _ in pairs):
                loads.append(self._copy(number, rows, [m for m, _ in pairs], [less for _, less in pairs], wait=False))
        return stores + loads

    def _copy(
        self, number: int, rows: Rows, more: Sequence[_Turns], less: Sequence[_Turns] = (), *, wait: bool
    ) -> Issued:
        """The copies of one operand as one of summed length. Waits only of single events."""
        issue, data = (self._chosen(number, rows, quantity, more, less) for quantity in ("issue", "data"))
        woken = self._chosen(number, rows, "wait", more, less) if wait else np.zeros_like(issue)
        return Issued(number, self.channel(number), data + issue > 0, issue, data, woken)

    def channel(self, number: int) -> Channel:
        """The channel of an operand's copies."""
        return self.order.channel(number)

    def _chosen(
        self, number: int, rows: Rows, quantity: Quantity, more: Sequence[_Turns], less: Sequence[_Turns]
    ) -> Array:
        result: Array = np.zeros(rows.chosen[number].size, dtype=np.int64)
        for choice, option in enumerate(self.order.options[number]):
            here = rows.chosen[number] == choice
            taken = [(parts, 1) for parts in more[choice]] + [(parts, -1) for parts in (less[choice] if less else [])]
            if not taken or not here.any():
                continue
            subset = Rows(tuple(index[here] for index in rows.tiling), ())
            for parts, sign in taken:
                values = self.order.operand_sum(number, quantity, option.depth, parts)
                result[here] += sign * self._at(values, subset)
        return result
