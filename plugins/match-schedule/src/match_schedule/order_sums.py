"""Sums over the steps of one loop order, for all its tilings together.

Arrays have one axis per cut: over the tile sizes smaller than the dimension for cuts with a loop, of length 1 for
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from match_core.schedule.steps import Channel

from match_schedule.operand_options import Option, options_of
from match_schedule.tile_kinds import TilePart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_schedule.tables import Tables

    Array = NDArray[np.int64]

#: Rows of the sums over copies.
ISSUE, DATA, WAIT = range(3)

Element = TypeVar("Element", np.int64, np.bool_)


class OrderSums:
    """One order of loops: ``order`` lists the cuts that have a loop, outermost first."""

    def __init__(self, tables: Tables, order: tuple[int, ...]) -> None:
        self.tables = tables
        self.order = order
        request = tables.request
        self.overlap = request.overlap
        self.operands = request.workload.operands
        self.window = tuple(slice(1, None) if cut in order else slice(0, 1) for cut in range(tables.dimensions))
        self.steps = [self.windowed(values) for values in tables.steps]
        self.tiles = [self.windowed(values) for values in tables.tiles]
        self.scratch = self.windowed(tables.scratch)
        self.shape = tuple(size - 1 if cut in order else 1 for cut, size in enumerate(tables.shape))
        self.near = [request.unit.memory_of(o.name, o.role) or "" for o in self.operands]
        self.channels: list[Channel] = [
            (request.soc.home, near, "out" if o.role == "output" else "in")
            for near, o in zip(self.near, self.operands, strict=True)
        ]
        self._repeated: dict[tuple[object, ...], Array] = {}

    @cached_property
    def options(self) -> list[list[Option]]:
        """The options of every operand."""
        order, tables, request = self.order, self.tables, self.tables.request
        outputs = [own for own, o in zip(tables.own, self.operands, strict=True) if o.role == "output"]
        reductions = [cut for cut in order if any(cut not in own for own in outputs)]
        return [
            options_of(
                tables.own[number],
                order,
                reductions if operand.role == "output" else (),
                self.overlap,
                streamed=operand.name in request.streamed,
            )
            for number, operand in enumerate(self.operands)
        ]

    def windowed(self, values: NDArray[Element]) -> NDArray[Element]:
        """The entries of an array over all tilings that belong to this order; axes of length 1 stay."""
        pairs = zip(self.window, values.shape, strict=True)
        return values[tuple(part if size > 1 else slice(None) for part, size in pairs)]

    def calls(self, quantity: Literal["kernel", "launch"], parts: Sequence[TilePart]) -> Array:
        """Sum over kernel calls; ``parts``: the turns of each loop that count."""
        return self.tables.calls.of(quantity, dict(zip(self.order, parts, strict=True)))

    def count(self, parts: Sequence[TilePart]) -> Array:
        """The number of kernel calls in these parts."""
        total: Array = np.ones((1,) * self.tables.dimensions, dtype=np.int64)
        for cut, part in zip(self.order, parts, strict=True):
            total = total * _turns(self.steps[cut], part)
        return total

    def copies(self, number: int, option: Option, parts: Sequence[TilePart]) -> Array:
        """Sums over the copies of an operand into (or out of) the memory of its kernels, in rows: cycles to issue them,
        of data, and of waits (``ISSUE``, ``DATA``, ``WAIT``); ``parts`` for the loops within the option's depth. Loops
        that are not the operand's repeat its pieces."""
        # Many options differ in their buffers only, and many orders in the loops inside the depth or in their order.
        key = (number, option.stage_cuts, frozenset(zip(self.order, parts, strict=False)))
        known = self.tables.shared.get(key)
        if known is None:
            sums = self.tables.copies(number, option.stage_cuts)
            known = sums.together(self._own(number, parts)) * self._repeats(number, parts)
            self.tables.shared[key] = known
        return known

    def stages(self, number: int, parts: Sequence[TilePart]) -> Array:
        """The same for staging copies; ``parts`` for the loops within the staging depth."""
        return self.tables.stages(number).together(self._own(number, parts)) * self._repeats(number, parts)

    def energy(self, number: int, option: Option) -> NDArray[np.float64]:
        """Energy of all copies of an operand, in pJ."""
        every = [TilePart.ALL] * option.depth
        sums = self.tables.copies(number, option.stage_cuts)
        total = sums.energy_of(self._own(number, every)) * self._repeats(number, every)
        if option.stage is not None:
            every = [TilePart.ALL] * option.stage
            stages = self.tables.stages(number).energy_of(self._own(number, every))
            total = total + stages * self._repeats(number, every)
        return total

    def buffer_bytes(self, number: int, cuts: Sequence[int], buffers: int, memory: str) -> Array:
        """Bytes of an operand's buffers in a memory, aligned; ``cuts`` are those that cut the buffer."""
        sizes = self.tables.sizes[number]
        held = (slice(1, None) if cut in cuts else slice(0, 1) for cut in range(sizes.ndim))
        size = sizes[tuple(part if n > 1 else slice(None) for part, n in zip(held, sizes.shape, strict=True))]
        alignment = self.tables.request.soc.memory(memory).alignment_bytes
        return buffers * (-(-size // alignment) * alignment)

    def _own(self, number: int, parts: Sequence[TilePart]) -> dict[int, TilePart]:
        own = self.tables.own[number]
        return {cut: part for cut, part in zip(self.order, parts, strict=False) if cut in own}

    def _repeats(self, number: int, parts: Sequence[TilePart]) -> Array:
        own = self.tables.own[number]
        others = tuple((cut, part) for cut, part in zip(self.order, parts, strict=False) if cut not in own)
        if others not in self._repeated:
            total: Array = np.ones((1,) * self.tables.dimensions, dtype=np.int64)
            for cut, part in others:
                total = total * _turns(self.steps[cut], part)
            self._repeated[others] = total
        return self._repeated[others]


def loads_at(level: int, depth: int) -> list[TilePart]:
    """The turns of the first ``depth`` loops whose pieces are loaded when loop ``level`` advances."""
    return [TilePart.ALL] * level + [TilePart.REST] + [TilePart.FIRST] * (depth - level - 1)


def stores_at(level: int, depth: int) -> list[TilePart]:
    """The turns of the first ``depth`` loops whose pieces are stored when loop ``level`` advances."""
    return [TilePart.ALL] * level + [TilePart.LEAD] + [TilePart.LAST] * (depth - level - 1)


def _turns(steps: Array, part: TilePart) -> Array:
    """The number of a loop's turns in a part; loops have at least two turns."""
    match part:
        case TilePart.ALL:
            return steps
        case TilePart.REST | TilePart.LEAD:
            return steps - 1
        case TilePart.MIDDLE:
            return steps - 2
    return np.ones_like(steps)
