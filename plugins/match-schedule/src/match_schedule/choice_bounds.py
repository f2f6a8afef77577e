"""Tight lower bounds of single choices (a tiling, and one option for every operand) in one loop order.

Sums over the steps of a group are a bound (``bounds`` explains why). The first loads and the last step are single
events, so their waits are exact too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from match_core.schedule.steps import Issued, Queue

from match_schedule.groups import Group, Turns, calls_in, groups_of, loads_in, stores_before, stores_in
from match_schedule.order_sums import DATA, ISSUE, WAIT
from match_schedule.tile_kinds import Number, TilePart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_schedule.order_sums import OrderSums

    Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Choices to bound: positions of tilings (an array per cut), and the option of every operand."""

    tiling: tuple[Array, ...]
    chosen: tuple[Array, ...]

    def where(self, which: NDArray[np.bool_] | Array) -> Rows:
        """The selected rows."""
        return Rows(tuple(index[which] for index in self.tiling), tuple(index[which] for index in self.chosen))

    def pick(self, values: NDArray[Number], leading: int = 0) -> NDArray[Number]:
        """The elements of an array over tilings, behind the leading axes; axes of length 1 do not vary."""
        sizes = values.shape[leading:]
        picked: list[Array | int] = [index if size > 1 else 0 for index, size in zip(self.tiling, sizes, strict=True)]
        place = (*[slice(None)] * leading, *picked)
        found: NDArray[Number] = values[place]
        if max(sizes) > 1:
            return found
        return np.repeat(found[..., None], self.tiling[0].size, axis=-1)


class Chosen(NamedTuple):
    """Choices to bound, and for each operand and each of its options the numbers of the choices that have it, and
    these choices; None if there are none."""

    rows: Rows
    by_option: tuple[tuple[tuple[Array, Rows] | None, ...], ...]


class ChoiceBounds:
    """Bounds for one order."""

    def __init__(self, sums: OrderSums) -> None:
        self.sums = sums
        self.loops = len(sums.order)
        tables = [sums.tables.copies(number) for number in range(len(sums.operands))]
        # Every step that ends with a copy waits at least this long, unless a copy is done as soon as it is issued.
        lasting = all(int(table.values["data"].min()) > 0 for table in tables)
        lasting = lasting and not sums.tables.request.streamed
        self.least_wait = min(int(table.values["wait"].min()) for table in tables) if lasting else 0

    def cycles(self, rows: Rows) -> Array:
        """A lower bound of the cycles of every choice (without ``layer_cycles``)."""
        chosen = self._by_option(rows)
        if self.sums.overlap == "none":
            return self._blocking(chosen)
        zero: Array = np.zeros(rows.chosen[0].size, dtype=np.int64)
        total = self._first_loads(chosen, zero)
        for group in groups_of(self.loops):
            total = total + self._group(group, chosen, zero)
        first, every = (self._stages(chosen, part)[DATA] for part in (TilePart.FIRST, TilePart.ALL))
        bound: Array = np.maximum(total + first, every)
        return bound

    def _by_option(self, rows: Rows) -> Chosen:
        by_option = []
        for taken, options in zip(rows.chosen, self.sums.options, strict=True):
            places = (np.flatnonzero(taken == choice) for choice in range(len(options)))
            by_option.append(tuple((here, rows.where(here)) if here.size else None for here in places))
        return Chosen(rows, tuple(by_option))

    def energy(self, rows: Rows) -> NDArray[np.float64]:
        """The energy of every choice in pJ, exactly."""
        sums = self.sums
        total = rows.pick(sums.tables.calls.energy_of(dict.fromkeys(sums.order, TilePart.ALL)))
        for number, options in enumerate(sums.options):
            for choice, option in enumerate(options):
                here = rows.chosen[number] == choice
                if here.any():
                    total[here] += rows.where(here).pick(sums.energy(number, option))
        return total

    def _blocking(self, chosen: Chosen) -> Array:
        """The exact cycles if nothing overlaps."""
        every = [TilePart.ALL] * self.loops
        total: Array = chosen.rows.pick(self.sums.calls("kernel", every) + self.sums.calls("launch", every))
        total = total + self._stages(chosen, TilePart.ALL).sum(axis=0)
        for number, options in enumerate(self.sums.options):
            turns: list[Turns] = [[[TilePart.ALL] * option.depth] for option in options]
            total = total + self._copied(number, chosen, turns, ()).sum(axis=0)
        return total

    def _stages(self, chosen: Chosen, part: TilePart) -> Array:
        """Cycles of the staging copies of some turns, which all queue on one link."""
        total: Array = np.zeros((3, chosen.rows.chosen[0].size), dtype=np.int64)
        for number, options in enumerate(self.sums.options):
            for option, taken in zip(options, chosen.by_option[number], strict=True):
                if option.stage is not None and taken is not None:
                    here, rows = taken
                    total[:, here] += rows.pick(self.sums.stages(number, [part] * option.stage), 1)
        return total

    def _first_loads(self, chosen: Chosen, zero: Array) -> Array:
        queue = Queue(zero)
        copies = []
        for number, operand in enumerate(self.sums.operands):
            if operand.role != "output":
                turns: list[Turns] = [[[TilePart.FIRST] * option.depth] for option in self.sums.options[number]]
                copies.append(self._copy(number, chosen, turns, wait=True))
        queue.issue(copies)
        return queue.finished()

    def _group(self, group: Group, chosen: Chosen, zero: Array) -> Array:
        parts = calls_in(group, self.loops)
        kernel, launch = (chosen.rows.pick(self.sums.calls(quantity, parts)) for quantity in ("kernel", "launch"))
        before, after = self._before(group, chosen), self._after(group, chosen)
        queue = Queue(zero)
        if self.sums.overlap == "data":
            queue.issue(before)
            queue.now = queue.now + launch + kernel
        else:
            queue.now = queue.now + launch
            queue.issue(before)
            queue.now = np.maximum(queue.now, launch + kernel)
        queue.issue(after)
        if group.level == self.loops:
            return queue.finished()
        waits = zero > 0
        for copy in after:
            waits = waits | copy.present
        count = chosen.rows.pick(self.sums.count(parts))
        return np.maximum(queue.now, queue.ended()) + np.where(waits, count * self.least_wait, 0)

    def _before(self, group: Group, chosen: Chosen) -> list[Issued]:
        """Copies of double buffers that the steps of a group issue concurrently with their kernels."""
        loads: list[Issued] = []
        stores: list[Issued] = []
        for number, operand in enumerate(self.sums.operands):
            options, output = self.sums.options[number], operand.role == "output"
            turns = stores_before if output else loads_in
            pairs = [turns(group, o.depth, self.loops) if o.buffers == 2 else ([], []) for o in options]
            if any(more for more, _ in pairs):
                ends = output and group.level == self.loops
                copy = self._copy(number, chosen, [m for m, _ in pairs], [less for _, less in pairs], wait=ends)
                (stores if output else loads).append(copy)
        return loads + stores

    def _after(self, group: Group, chosen: Chosen) -> list[Issued]:
        """Copies that the steps of a group issue after their kernels."""
        loads: list[Issued] = []
        stores: list[Issued] = []
        ends = group.level == self.loops
        for number, operand in enumerate(self.sums.operands):
            options = self.sums.options[number]
            if operand.role == "output":
                turns = [stores_in(group, o.depth, self.loops) if o.buffers == 1 or ends else [] for o in options]
                if any(turns):
                    stores.append(self._copy(number, chosen, turns, wait=ends))
                continue
            pairs = [loads_in(group, o.depth, self.loops) if o.buffers == 1 else ([], []) for o in options]
            if any(more for more, _ in pairs):
                loads.append(self._copy(number, chosen, [m for m, _ in pairs], [less for _, less in pairs], wait=False))
        return stores + loads

    def _copy(
        self, number: int, chosen: Chosen, more: Sequence[Turns], less: Sequence[Turns] = (), *, wait: bool
    ) -> Issued:
        """The copies of one operand as one copy of summed length. Only single events have waits."""
        copied = self._copied(number, chosen, more, less)
        issue, data = copied[ISSUE], copied[DATA]
        woken = copied[WAIT] if wait else np.zeros_like(issue)
        return Issued(number, self.sums.channels[number], data + issue > 0, issue, data, woken)

    def _copied(self, number: int, chosen: Chosen, more: Sequence[Turns], less: Sequence[Turns]) -> Array:
        result: Array = np.zeros((3, chosen.rows.chosen[number].size), dtype=np.int64)
        for choice, option in enumerate(self.sums.options[number]):
            taken = chosen.by_option[number][choice]
            if taken is None:
                continue
            here, rows = taken
            total: Array | None = None
            for parts in more[choice]:
                copies = self.sums.copies(number, option, parts)
                total = copies if total is None else total + copies
            for parts in less[choice] if less else ():
                copies = self.sums.copies(number, option, parts)
                total = -copies if total is None else total - copies
            if total is not None:
                result[:, here] = rows.pick(total, 1)
        return result
