"""Lower bounds of a layer's cycles for all tilings of the same dimensions, for any order of their loops and any options
of the operands: weaker than ``bounds``, and much cheaper than those of every order."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from match_schedule.order_sums import DATA, ISSUE
from match_schedule.tile_kinds import TilePart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_schedule.order_sums import OrderSums

    Array = NDArray[np.int64]


def cut_cycles(sums: OrderSums) -> Array:
    """A bound without ``layer_cycles``. ``sums``: of any order of the dimensions.

    An operand's buffer is cut by some of its own dimensions that have loops, and each of its pieces is copied at least
    once: the cheapest such choice bounds its copies. No kernel overlaps the loads of the first pieces and the store of
    the last one.
    """
    every = [TilePart.ALL] * len(sums.order)
    kernel, launch = sums.calls("kernel", every), sums.calls("launch", every)
    busy = kernel + launch
    copies = [_least(sums, number, TilePart.ALL) for number in range(len(sums.operands))]
    if sums.overlap == "none":
        return busy + _total([rows.sum(axis=0) for rows in copies])
    issue = _total([rows[ISSUE] for rows in copies])
    first: Array = np.zeros(1, dtype=np.int64)
    last = first
    channels = sorted(set(sums.channels))
    launch = launch if sums.overlap == "all" else 0 * launch
    bound = launch + issue
    for channel in channels:
        group = [number for number, own in enumerate(sums.channels) if own == channel]
        bound = np.maximum(bound, launch + _total([copies[number][DATA] for number in group]))
        part = TilePart.FIRST if channel[2] == "in" else TilePart.LAST
        edge = _total([_least(sums, number, part)[DATA] for number in group])
        if channel[2] == "in":
            first = np.maximum(first, edge)
        else:
            last = np.maximum(last, edge)
    alone = np.maximum(first + last, issue) if sums.overlap == "data" else first + last
    found: Array = np.maximum(bound, busy + alone)
    return found


def _least(sums: OrderSums, number: int, part: TilePart) -> Array:
    """The least rows of copies of an operand over the cuts of its buffer, each piece copied once."""
    if sums.operands[number].name in sums.tables.request.streamed:  # the cost depends on the staging buffer
        return np.zeros((3, 1), dtype=np.int64)
    own = [cut for cut in sums.order if cut in sums.tables.own[number]]
    tables, least = sums.tables.copies(number), None
    for count in range(len(own) + 1):
        for cuts in combinations(own, count):
            rows = tables.together(dict.fromkeys(cuts, part))
            least = rows if least is None else np.minimum(least, rows)
    assert least is not None
    return least


def _total(values: list[Array]) -> Array:
    return sum(values, np.zeros(1, dtype=np.int64))
