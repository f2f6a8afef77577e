"""Lower bounds of a layer's cost for all tilings of one loop order together, for any options of its operands.

The length of a step is a (max, +) expression of the cycles of its kernel and copies, hence convex and homogeneous:
the sum over steps is at least the expression of the sums. Here it is divided further, into the least cycles of the
kernels and of one channel (or the issuing core), so that each operand's share is bounded by its best option.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from match_schedule.operand_options import Choice, Option, is_dense
from match_schedule.order_sums import DATA, ISSUE, WAIT, OrderSums, loads_at
from match_schedule.tile_kinds import TilePart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]

#: More than any cost, and small enough to add a few of them.
HUGE = 1 << 56


class Share(IntEnum):
    """The rows of an option's share: its least contributions, per tiling. ``DATA`` and ``ISSUE``: cycles that no kernel
    hides; ``EDGE_DATA`` and ``EDGE_ISSUE``: those of the first load or the last store; ``ALL_DATA`` and ``ALL_ISSUE``:
    totals; ``STAGE``: cycles of all staging copies, ``FIRST_STAGE`` of the first. HUGE if the option is not
    possible."""

    DATA = 0
    ISSUE = 1
    EDGE_DATA = 2
    EDGE_ISSUE = 3
    ALL_DATA = 4
    ALL_ISSUE = 5
    STAGE = 6
    FIRST_STAGE = 7


class OrderBounds:
    """Bounds of one order. ``budgets``: bytes that the layer may use of each memory."""

    def __init__(self, sums: OrderSums, budgets: Mapping[str, int]) -> None:
        self.sums = sums
        self.budgets = budgets
        every = [TilePart.ALL] * len(sums.order)
        self.kernel = sums.calls("kernel", every)
        self.launch = sums.calls("launch", every)
        self.hiding = self._longest_call()
        self.choices = [
            [self._choice(number, option) for option in sums.options[number]] for number in range(len(sums.operands))
        ]
        self.fits = self._strike_what_does_not_fit()

    def cycles(self) -> Array:
        """A lower bound of the cycles, without ``layer_cycles``."""
        sums = self.sums
        least = [_least([choice.share for choice in choices]) for choices in self.choices]
        every = range(len(least))

        def total(row: Share, operands: Iterable[int] = every) -> Array:
            return _total([least[number][row] for number in operands])

        busy = self.kernel + self.launch
        if sums.overlap == "none":
            return np.broadcast_to(busy + total(Share.DATA) + total(Share.STAGE), sums.shape)
        launch = self.launch if sums.overlap == "all" else 0 * self.launch
        channels = sorted(set(sums.channels))
        groups = [[n for n, channel in enumerate(sums.channels) if channel == name] for name in channels]
        # No kernel overlaps the loads before the first kernel and the store after the last.
        first = _largest([total(Share.EDGE_DATA, group) for group in groups if self._is_in(group[0])])
        last = _largest([total(Share.EDGE_DATA, group) for group in groups if not self._is_in(group[0])])
        last = last + total(Share.EDGE_ISSUE, (n for group in groups for n in group if not self._is_in(n)))
        bound = np.maximum(busy + total(Share.ISSUE), launch + total(Share.ALL_ISSUE))
        for group in groups:
            edge = last if self._is_in(group[0]) else first
            bound = np.maximum(bound, busy + total(Share.DATA, group) + edge)
            bound = np.maximum(bound, launch + total(Share.ALL_DATA, group))
        bound = np.maximum(bound + total(Share.FIRST_STAGE), total(Share.STAGE))
        return np.broadcast_to(bound, sums.shape)

    def energy(self) -> NDArray[np.float64]:
        """A lower bound of the energy in pJ."""
        sums = self.sums
        total = sums.tables.calls.energy_of(dict.fromkeys(sums.order, TilePart.ALL))
        for number, choices in enumerate(self.choices):
            total = total + np.minimum.reduce([sums.energy(number, choice.option) + 0 * total for choice in choices])
        return np.broadcast_to(total, sums.shape)

    def _is_in(self, number: int) -> bool:
        return self.sums.channels[number][2] == "in"

    def _longest_call(self) -> Array:
        sums = self.sums
        longest = sums.windowed(sums.tables.calls.largest("kernel"))
        if sums.overlap == "data":
            longest = longest + sums.windowed(sums.tables.calls.largest("launch"))
        return longest

    def _choice(self, number: int, option: Option) -> Choice:
        """The choice; orders whose outer loops are the same share it. The order of these loops matters only to loads
        that kernels hide."""
        sums, home = self.sums, self.sums.tables.request.soc.home
        outer = sums.order[: option.depth]
        hides = option.buffers == 2 and self._is_in(number)
        stage = None if option.stage is None else frozenset(outer[: option.stage])
        loops = (outer if hides else frozenset(outer), frozenset(sums.order))
        key = (number, option.buffers, stage, loops)
        known = sums.tables.choices.get(key)
        if known is None:
            size = sums.buffer_bytes(number, option.cuts, option.buffers, sums.near[number])
            dense = is_dense(sums.operands[number], option, sums.order, sums.tables.cuts, sums.tiles)
            staged = np.zeros(1, dtype=np.int64)
            if option.stage is not None:
                staged = sums.buffer_bytes(number, option.stage_cuts, option.stage_buffers, home)
            known = Choice(option, np.where(dense, size, HUGE), staged, self._share(number, option))
            sums.tables.choices[key] = known
        return known

    def _share(self, number: int, option: Option) -> Array:
        sums = self.sums
        every = sums.copies(number, option, [TilePart.ALL] * option.depth)
        edge = sums.copies(number, option, [TilePart.FIRST if self._is_in(number) else TilePart.LAST] * option.depth)
        if sums.overlap == "none":
            data: Array = every[DATA] + every[ISSUE] + every[WAIT]
            issue = every[ISSUE]
        elif option.buffers == 1:
            data, issue = every[DATA], every[ISSUE]
        else:
            data = edge[DATA] + (self._unhidden(number, option) if self._is_in(number) else 0)
            issue = edge[ISSUE] if sums.overlap == "all" else every[ISSUE]
        stage = first_stage = np.zeros(1, dtype=np.int64)
        if option.stage is not None:
            stages = sums.stages(number, [TilePart.ALL] * option.stage)
            stage = stages[DATA]
            first_stage = sums.stages(number, [TilePart.FIRST] * option.stage)[DATA]
            if sums.overlap == "none":
                stage = stage + stages[ISSUE] + stages[WAIT]
        rows = (data, issue, edge[DATA], edge[ISSUE], every[DATA], every[ISSUE], stage, first_stage)
        shape = np.broadcast_shapes(data.shape, stage.shape, first_stage.shape)
        share: Array = np.empty((len(rows), *shape), dtype=np.int64)
        for number, row in enumerate(rows):
            share[number] = row
        return share

    def _unhidden(self, number: int, option: Option) -> Array:
        """Cycles of the loads into a double buffer that even the longest concurrent kernels cannot hide."""
        sums = self.sums
        total: Array = np.zeros((1,) * sums.tables.dimensions, dtype=np.int64)
        for level in range(option.depth):
            moved = sums.copies(number, option, loads_at(level, option.depth))[DATA]
            turns = sums.count([*loads_at(level, level + 1), *[TilePart.FIRST] * (len(sums.order) - level - 1)])
            total = total + np.maximum(0, moved - turns * self.hiding)
        return total

    def _strike_what_does_not_fit(self) -> Flags:
        """Give HUGE shares to options that do not fit with any options of the other operands."""
        sums, request = self.sums, self.sums.tables.request
        fits: Flags = np.ones(sums.shape, dtype=np.bool_)
        for memory, budget in self.budgets.items():
            sizes = [[bytes_in(choice, memory, sums, n) for choice in own] for n, own in enumerate(self.choices)]
            smallest = [_least(own) for own in sizes]
            need = _total(smallest)
            if memory == request.unit.memory:
                alignment = request.soc.memory(memory).alignment_bytes
                need = need - (-sums.scratch // alignment) * alignment
            fits = fits & (need <= budget)
            for number, own in enumerate(sizes):
                spare = budget - need + smallest[number]
                self.choices[number] = [
                    _struck(choice, size <= spare) for choice, size in zip(self.choices[number], own, strict=True)
                ]
        return fits


def bytes_in(choice: Choice, memory: str, sums: OrderSums, number: int) -> Array:
    """Bytes of a memory that an operand's choice takes."""
    size: Array = np.zeros((1,) * sums.tables.dimensions, dtype=np.int64)
    if sums.near[number] == memory:
        size = size + choice.bytes
    if choice.option.stage is not None and sums.tables.request.soc.home == memory:
        size = size + choice.stage_bytes
    return size


def _struck(choice: Choice, possible: Flags) -> Choice:
    return choice if possible.all() else replace(choice, share=np.where(possible, choice.share, HUGE))


def _total(values: Sequence[Array]) -> Array:
    return sum(values, np.zeros(1, dtype=np.int64))


def _largest(values: Sequence[Array]) -> Array:
    largest: Array = np.zeros(1, dtype=np.int64)
    for other in values:
        largest = np.maximum(largest, other)
    return largest


def _least(choices: Sequence[Array]) -> Array:
    least = choices[0]
    for values in choices[1:]:
        least = np.minimum(least, values)
    return least
