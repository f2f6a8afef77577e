"""Lower bounds of a schedule's cost, for all tilings of one loop order at once.

The length of a step is a (max, +) expression of the cycles of its kernel and copies, hence convex and homogeneous:
the sum over steps is at least the expression of the sums. So any group of steps may be replaced by the sums over it,
and the finer the groups, the tighter the bound; it is exact where the steps of a group are equal. Waits after copies,
which jump, are counted where they are certain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from match_core.schedule.options import Option, is_dense, options_of
from match_core.schedule.tile_kinds import Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.schedule.tables import Quantity, Tables

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]

#: More than any cost; some of them can be added.
HUGE = 1 << 56


@dataclass(frozen=True, slots=True)
class Exposure:
    """What one option of an operand adds at least, per tiling. ``bytes``: of its buffers, aligned. ``data`` and
    ``issue``: cycles that no kernel hides; ``edge``: data cycles of the first load or the last store; ``all_data`` and
    ``all_issue``: cycles in all. HUGE where the option is not possible."""

    bytes: Array
    data: Array
    issue: Array
    edge: Array
    all_data: Array
    all_issue: Array


class OrderBounds:
    """One order of loops. Arrays have one axis per cut: over the tile sizes below the whole for cuts in ``order``, of
    length 1 for others."""

    def __init__(self, tables: Tables, order: tuple[int, ...], budgets: Mapping[str, int]) -> None:
        self.tables = tables
        self.order = order
        request = tables.request
        self.overlap = request.cost_model.overlap
        self.window = tuple(slice(1, None) if cut in order else slice(0, 1) for cut in range(tables.dimensions))
        self.steps = [self._cut(values) for values in tables.steps]
        self.tiles = [self._cut(values) for values in tables.tiles]
        self.shape = tuple(size - 1 if cut in order else 1 for cut, size in enumerate(tables.shape))
        outputs = [own for own, o in zip(tables.own, request.workload.operands, strict=True) if o.role == "output"]
        self.reductions = tuple(cut for cut in order if any(cut not in own for own in outputs))
        self.options: list[list[Option]] = []
        for number, operand in enumerate(request.workload.operands):
            inside = self.reductions if operand.role == "output" else ()
            self.options.append(options_of(tables.own[number], order, inside, self.overlap))
        self.exposures: list[list[Exposure]] = []
        self.budgets = budgets
        parts = dict.fromkeys(order, Part.ALL)
        self.kernel = tables.calls.of("kernel", parts)
        self.launch = tables.calls.of("launch", parts)
        self.scratch = self._cut(tables.scratch)

    def _cut(self, values: Array) -> Array:
        pairs = zip(self.window, values.shape, strict=True)
        return values[tuple(w if size > 1 else slice(None) for w, size in pairs)]

    def tiles_of(self, cut: int) -> Array:
        """The tile sizes of a cut that has a loop, as a vector."""
        return self.tiles[cut].reshape(-1)

    def operand_sum(self, number: int, quantity: Quantity, depth: int, parts: Sequence[Part]) -> Array:
        """Sum over the pieces of an operand at some depth: ``parts`` says which turns of each of the first ``depth``
        loops count. Loops that are not the operand's repeat its pieces."""
        own = self.tables.own[number]
        mine = {cut: part for cut, part in zip(self.order[:depth], parts, strict=True) if cut in own}
        total = self.tables.operands[number].of(quantity, mine)
        for cut, part in zip(self.order[:depth], parts, strict=True):
            if cut not in own:
                total = total * _turns(self.steps[cut], part)
        return total

    def call_sum(self, quantity: Literal["kernel", "launch"], parts: Sequence[Part]) -> Array:
        """Sum over kernel calls, ``parts`` as above for all loops."""
        return self.tables.calls.of(quantity, dict(zip(self.order, parts, strict=True)))

    def count(self, parts: Sequence[Part]) -> Array:
        """How many kernel calls there are in these parts."""
        total: Array = np.ones((1,) * self.tables.dimensions, dtype=np.int64)
        for cut, part in zip(self.order, parts, strict=True):
            total = total * _turns(self.steps[cut], part)
        return total

    def moves(self, level: int, depth: int) -> list[Part]:
        """The turns of the first ``depth`` loops whose pieces are loaded when loop ``level`` goes on."""
        return [Part.ALL] * level + [Part.REST] + [Part.FIRST] * (depth - level - 1)

    def stores(self, level: int, depth: int) -> list[Part]:
        """The turns whose pieces are stored when loop ``level`` goes on."""
        return [Part.ALL] * level + [Part.LEAD] + [Part.LAST] * (depth - level - 1)

    def lower(self) -> tuple[Array, Flags]:
        """A lower bound of the layer's cycles (without ``layer_cycles``) for every tiling, whatever the operands
        choose on their own, and where the smallest buffers fit."""
        workload = self.tables.request.workload
        for number in range(len(workload.operands)):
            self.exposures.append([self._exposure(number, option) for option in self.options[number]])
        fits = self._strike_what_does_not_fit()
        busy = self.kernel + self.launch
        least = {
            name: [_least([getattr(e, name) for e in exposures]) for exposures in self.exposures]
            for name in ("data", "issue", "edge", "all_data", "all_issue")
        }
        if self.overlap == "none":
            return np.broadcast_to(busy + _total(least["data"]), self.shape), fits
        launch = self.launch if self.overlap == "all" else 0 * self.launch
        inputs = [n for n, operand in enumerate(workload.operands) if operand.role != "output"]
        outputs = [n for n, operand in enumerate(workload.operands) if operand.role == "output"]
        groups = [[n for n in range(len(self.options)) if self.channel(n) == name] for name in self._channels()]
        # The loads before the first kernel and the store after the last run beside no kernel.
        first = _largest([_total([least["edge"][n] for n in group if n in inputs]) for group in groups])
        last = _largest([_total([least["edge"][n] for n in group if n in outputs]) for group in groups])
        bound = np.maximum(busy + _total(least["issue"]) + last, launch + _total(least["all_issue"]))
        for group in groups:
            exposed = _total([least["data"][n] for n in group])
            if group[0] in outputs:
                exposed = exposed + first
            else:
                exposed = exposed + last + _total([least["issue"][n] for n in outputs])
            bound = np.maximum(bound, busy + exposed)
            bound = np.maximum(bound, launch + _total([least["all_data"][n] for n in group]))
        return np.broadcast_to(bound, self.shape), fits

    def channel(self, number: int) -> tuple[str, str, str]:
        """The channel of an operand's copies."""
        request = self.tables.request
        operand = request.workload.operands[number]
        near = request.unit.memory_of(operand.name, operand.role) or ""
        return request.soc.home, near, "out" if operand.role == "output" else "in"

    def _channels(self) -> list[tuple[str, str, str]]:
        return sorted({self.channel(n) for n in range(len(self.options))})

    def _exposure(self, number: int, option: Option) -> Exposure:
        tables = self.tables
        operand = tables.request.workload.operands[number]
        output = operand.role == "output"
        every = [Part.ALL] * option.depth
        end = [Part.LAST if output else Part.FIRST] * option.depth
        all_data = self.operand_sum(number, "data", option.depth, every)
        all_issue = self.operand_sum(number, "issue", option.depth, every)
        edge = self.operand_sum(number, "data", option.depth, end)
        if self.overlap == "none":
            data, issue = all_data + all_issue + self.operand_sum(number, "wait", option.depth, every), all_issue
        elif option.buffers == 1:
            data, issue = all_data, all_issue
        else:
            data = edge if output else edge + self._unhidden(number, "data", option.depth)
            hidden = self.overlap == "all"
            issue = self.operand_sum(number, "issue", option.depth, end) if hidden else all_issue
        memory = tables.request.unit.memory_of(operand.name, operand.role) or ""
        alignment = tables.request.soc.memory(memory).alignment_bytes
        held = tuple(
            (slice(1, None) if cut in option.cuts else slice(0, 1)) if size > 1 else slice(None)
            for cut, size in enumerate(tables.sizes[number].shape)
        )
        size = tables.sizes[number][held]
        size = option.buffers * (-(-size // alignment) * alignment)
        dense = is_dense(operand, option, self.order, tables.cuts, self.tiles)
        return Exposure(np.where(dense, size, HUGE), data, issue, edge, all_data, all_issue)

    def _unhidden(self, number: int, quantity: Literal["data", "issue"], depth: int) -> Array:
        """Cycles of the loads of a double buffer that the kernels beside them cannot hide, however long those are."""
        longest = self._longest_call()
        total: Array = np.zeros((1,) * self.tables.dimensions, dtype=np.int64)
        for level in range(depth):
            moved = self.operand_sum(number, quantity, depth, self.moves(level, depth))
            turns = self.count([*self.moves(level, level + 1), *[Part.FIRST] * (len(self.order) - level - 1)])
            total = total + np.maximum(0, moved - turns * longest)
        return total

    def _longest_call(self) -> Array:
        calls = self.tables.calls
        longest = self._cut(calls.largest("kernel"))
        return longest + self._cut(calls.largest("launch")) if self.overlap == "data" else longest

    def _strike_what_does_not_fit(self) -> Flags:
        """Give HUGE exposures to options that no choice of the others makes room for."""
        request = self.tables.request
        fits: Flags = np.ones(self.shape, dtype=np.bool_)
        for memory, budget in self.budgets.items():
            users = [
                n for n, o in enumerate(request.workload.operands) if request.unit.memory_of(o.name, o.role) == memory
            ]
            smallest = {n: _least([e.bytes for e in self.exposures[n]]) for n in users}
            need = sum(smallest.values(), np.int64(0))
            if memory == request.unit.memory:
                alignment = request.soc.memory(memory).alignment_bytes
                need = need - (-self.scratch // alignment) * alignment
            fits = fits & (need <= budget)
            for n in users:
                spare = budget - need + smallest[n]
                self.exposures[n] = [_struck(e, e.bytes <= spare) for e in self.exposures[n]]
        return fits


def _struck(exposure: Exposure, possible: Flags) -> Exposure:
    e = exposure
    cycles = (np.where(possible, values, HUGE) for values in (e.data, e.issue, e.edge, e.all_data, e.all_issue))
    return Exposure(e.bytes, *cycles)


def _total(values: Sequence[Array]) -> Array:
    return sum(values, np.zeros(1, dtype=np.int64))


def _largest(values: Sequence[Array]) -> Array:
    largest = values[0]
    for other in values[1:]:
        largest = np.maximum(largest, other)
    return largest


def _least(choices: Sequence[Array]) -> Array:
    least = choices[0]
    for values in choices[1:]:
        least = np.minimum(least, values)
    return least


def _turns(steps: Array, part: Part) -> Array:
    """How many of a loop's turns a part has; loops have two turns at least."""
    match part:
        case Part.ALL:
            return steps
        case Part.REST | Part.LEAD:
            return steps - 1
        case Part.MIDDLE:
            return steps - 2
    return np.ones_like(steps)
