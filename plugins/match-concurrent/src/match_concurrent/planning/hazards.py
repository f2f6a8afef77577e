"""The waits of every step: earlier steps in the order that touch the same bytes, if one of the two writes, or that keep
the same unit busy.

That covers data (write, then read) and reused memory (read or write, then write), within a buffer and across buffers
that share addresses. Counting is exact to the byte: a wait without a common byte would delay a unit for no reason, and
no test would notice if it were missing.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from match_concurrent.planning.problem import Box

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from match_concurrent.planning.draft import Layout, PlanStep
    from match_concurrent.planning.problem import Problem

Counts = tuple[int, ...]
Touch = tuple[int, Box, bool]  # address of the item, bytes of it, whether they are written


def conflicts(problem: Problem, layout: Layout) -> tuple[Counts, ...]:
    """For every step and queue, the number of tasks up to the last earlier one with conflicting bytes. The step's own
    queue has 0."""
    import numpy as np

    touches = _touches(problem, layout)
    unit = _common_unit(touches)
    span = max((base + box.end for step in touches for base, box, _ in step), default=0) // unit
    lanes = len(problem.lanes)
    wrote = np.zeros((lanes, span), np.int32)
    used = np.zeros((lanes, span), np.int32)
    done = [0] * lanes
    found: list[Counts] = []
    busy: dict[int, list[int]] = {}  # by unit and lane: the last task that kept it busy
    for step, touched in zip(layout.steps, touches, strict=True):
        held = [busy.setdefault(u, [0] * lanes) for u in (problem.jobs[step.job].units if step.kind == "job" else ())]
        most = [max(counts) for counts in zip(*held, strict=True)] or [0] * lanes
        views = [(_view(wrote, base, box, unit), _view(used, base, box, unit), new) for base, box, new in touched]
        for written, any_use, new in views:
            before = any_use if new else written
            counts = before.max(axis=tuple(range(1, before.ndim)))
            most = [max(a, int(b)) for a, b in zip(most, counts, strict=True)]
        most[step.lane] = 0
        found.append(tuple(most))
        done[step.lane] += 1
        for last in held:
            last[step.lane] = done[step.lane]
        for written, any_use, new in views:
            any_use[step.lane] = done[step.lane]
            if new:
                written[step.lane] = done[step.lane]
    return tuple(found)


def _touches(problem: Problem, layout: Layout) -> list[list[Touch]]:
    """The bytes that each step touches, in one address space: the arena, then buffers of the caller, then the store."""
    address: dict[int, int] = {}
    top = max((a + problem.size_of(item) for (item, _), a in layout.homes.items()), default=0)
    for number, item in enumerate(problem.items):
        if not item.owned:
            address[number] = top
            top += problem.size_of(number)
    return [_touched(problem, layout, step, address, top) for step in layout.steps]


def _touched(problem: Problem, layout: Layout, step: PlanStep, address: dict[int, int], store: int) -> list[Touch]:
    places = dict(step.places)
    if step.kind == "job":
        return [
            (address[a.item] if a.item in address else layout.homes[a.item, places[a.item]], a.box, a.writes)
            for a in problem.jobs[step.job].accesses
        ]
    whole = Box(0, problem.items[step.item].size_bytes)
    home = layout.homes[step.item, places[step.item]]
    return [(home, whole, step.kind == "in"), (store + layout.stores[step.item], whole, step.kind == "out")]


def _common_unit(touches: list[list[Touch]]) -> int:
    """The greatest common divisor of all addresses and sizes; tables with this unit are smaller."""
    unit = 0
    for step in touches:
        for base, box, _ in step:
            unit = gcd(unit, base, box.first, box.row_bytes, *(stride for _, stride in box.levels))
    return max(1, unit)


def _view(table: NDArray[np.int32], base: int, box: Box, unit: int) -> NDArray[np.int32]:
    """The columns of a table for the bytes of a box, without a copy."""
    import numpy as np

    start, width = (base + box.first) // unit, table.itemsize
    shape = (table.shape[0], *(count for count, _ in box.levels), box.row_bytes // unit)
    strides = (table.strides[0], *(stride // unit * width for _, stride in box.levels), width)
    # A fraction of the time of as_strided.
    view: NDArray[np.int32] = np.ndarray(shape, table.dtype, table, start * width, strides)
    return view


def reduced(
    lanes: int, steps: tuple[PlanStep, ...], counts: tuple[Counts, ...]
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The counts without implied ones: those implied by the order of the step's own queue, by waits of earlier steps of
    that queue, or by waits of the steps that the other counts refer to."""
    clocks: list[list[Counts]] = [
        [] for _ in range(lanes)
    ]  # by queue and position: the tasks that are done when this one is
    found: list[tuple[tuple[int, int], ...]] = []
    for step, wanted in zip(steps, counts, strict=True):
        own = clocks[step.lane]
        known = own[-1] if own else (0,) * lanes
        new = [(lane, count) for lane, count in enumerate(wanted) if count > known[lane]]
        behind = {lane: clocks[lane][count - 1] for lane, count in new}
        row = tuple(
            (lane, count)
            for lane, count in new
            if not any(clock[lane] >= count for other, clock in behind.items() if other != lane)
        )
        clock = [max(values) for values in zip(known, *behind.values(), strict=True)]
        clock[step.lane] = len(own) + 1
        own.append(tuple(clock))
        found.append(row)
    return tuple(found)
