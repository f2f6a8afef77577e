"""Promising divisions of an operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from match_concurrent.mapping.parts import Cuttable, Division, Part, counts_that_end_together, cut, division_of

if TYPE_CHECKING:
    from match_concurrent.mapping.costs import ShareCosts
    from match_concurrent.mapping.evaluate import Evaluator
    from match_concurrent.mapping.network import DivisibleAxis, SharedOperator

#: Sizes whose costs are requested first, relative to the dimension.
SAMPLES = (0.25, 0.5, 0.75)
#: Shifts of the border of a balanced division, relative to the dimension.
SHIFTS = (0.0, 0.125, -0.125, 0.25, -0.25)
#: The number of tiles on either side of a chosen border for which costs are also requested.
NEAR = 2
#: The numbers of tasks that a unit's part is cut into.
CUTS = (2, 4)
#: How many times slower than the fastest a division may be alone: on one unit, which leaves other units free, and
#: shared.
SLOW_WHOLE, SLOW_SHARED = 8, 2
#: With more units than this, only pairs and the set of all units are tried, not every subset.
SUBSETS_MAX_UNITS = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """A division; ``axis``: the axis of the output that it divides (-1: none); ``units``: offers of the participating
    units; ``pieces``: number of tasks of each."""

    division: Division
    axis: int
    units: tuple[int, ...]
    pieces: int


@dataclass(frozen=True, slots=True)
class ShareOptions:
    """The options of an operator: the axes along which it can be divided, and the divisions."""

    alongs: tuple[DivisibleAxis, ...]
    entries: tuple[Entry, ...]


def samples(alongs: Sequence[DivisibleAxis]) -> Iterator[Part]:
    """The parts whose costs determine the first estimates."""
    for along in alongs:
        for fraction in SAMPLES:
            size = max(1, round(along.coarse.tiles * fraction)) * along.coarse.step
            if size < along.size:
                yield from (Part(unit.offer, unit.dim, 0, size) for unit in along.units)


def is_shared(along: DivisibleAxis, evaluator: Evaluator) -> bool:
    """Whether several queues may share the operator along this axis: none is much slower than the others."""
    alone = [(evaluator.cycles_alone((Part(unit.offer),)), evaluator.queues_of(unit.offer)) for unit in along.units]
    limit = SLOW_WHOLE * min(cycles for cycles, _ in alone)
    return len({queues for cycles, queues in alone if cycles <= limit}) > 1


def near(division: Division, along: DivisibleAxis, halvings: int) -> Iterator[Part]:
    """For each border between two parts, both parts with the border moved by up to NEAR tiles in either direction.
    Tiles are the axis' coarse tiles, halved ``halvings`` times."""
    step = max(along.step, along.coarse.step >> halvings)
    for left, right in pairwise(division):
        for tiles in range(-NEAR, NEAR + 1):
            border = (round(right.first / step) + tiles) * step
            if left.first < border < right.first + right.size:
                yield left._replace(size=border - left.first)
                yield right._replace(first=border, size=right.first + right.size - border)


def share_options_of(
    operator: SharedOperator, alongs: tuple[DivisibleAxis, ...], evaluator: Evaluator, *, cuts: bool, only_known: bool
) -> ShareOptions:
    """Divisions of an operator: whole on each unit; with shares, balanced over every set of queues and with moved
    borders; with ``cuts``, these and whole ones cut into several tasks. No duplicates; with ``only_known``, none with a
    size whose cost is an estimate."""
    found = [Entry((Part(offer),), -1, (offer,), 1) for offer in operator.offers]
    if evaluator.options.parallel != "whole":
        for along in alongs:
            for units in _sets(along.units, evaluator):
                found += _shared(along, units, evaluator.costs)
    if cuts:
        found += [more for entry in tuple(found) for along in alongs for more in _cut(entry, along)]
    distinct = tuple({entry.division: entry for entry in reversed(found)}.values())[::-1]
    if only_known:
        distinct = tuple(e for e in distinct if all(evaluator.costs.is_known(part) for part in e.division))
    return ShareOptions(alongs, distinct if evaluator.objective == "energy" else _quick(distinct, evaluator))


def _quick(found: Sequence[Entry], evaluator: Evaluator) -> tuple[Entry, ...]:
    """The divisions without those that take much longer alone than the fastest one, even if other operators overlap."""
    alone = [evaluator.cycles_alone(entry.division) for entry in found]
    limits = {True: SLOW_WHOLE * min(alone), False: SLOW_SHARED * min(alone)}
    return tuple(e for e, cycles in zip(found, alone, strict=True) if cycles <= limits[len(e.units) == 1])


def _sets(units: Sequence[Cuttable], evaluator: Evaluator) -> Iterator[tuple[Cuttable, ...]]:
    """Sets of two and more units in different queues, of which none keeps another's busy."""
    sizes = range(2, len(units) + 1) if len(units) <= SUBSETS_MAX_UNITS else (2, len(units))
    for size in sizes:
        for chosen in combinations(units, size):
            queues = [queue for unit in chosen for queue in evaluator.queues_of(unit.offer)]
            if len(set(queues)) == len(queues):
                yield chosen


def _shared(along: DivisibleAxis, units: tuple[Cuttable, ...], costs: ShareCosts) -> Iterator[Entry]:
    along = along.coarse
    counts = counts_that_end_together([partial(_cost, costs, unit, along) for unit in units], along.tiles)
    offers = tuple(unit.offer for unit in units)
    for shift in SHIFTS:
        moved = list(counts)
        given = max(-moved[0], min(moved[1], round(shift * along.tiles)))
        moved[0], moved[1] = moved[0] + given, moved[1] - given
        if sum(1 for count in moved if count) == len(units):
            yield Entry(division_of(units, moved, along.step, along.size), along.axis, offers, 1)


def _cost(costs: ShareCosts, unit: Cuttable, along: DivisibleAxis, tiles: int) -> int:
    size = min(tiles * along.step, along.size)
    if size == 0:
        return 0
    return costs.cycles(Part(unit.offer) if size == along.size else Part(unit.offer, unit.dim, 0, size))


def _cut(entry: Entry, along: DivisibleAxis) -> Iterator[Entry]:
    """The same shares in several tasks each, along the axis of the division, or along any axis for a single unit."""
    division = entry.division
    if entry.axis == -1:
        unit = next((unit for unit in along.units if unit.offer == division[0].offer), None)
        if unit is None:
            return
        division = (Part(unit.offer, unit.dim, 0, along.size),)
    elif entry.axis != along.axis:
        return
    for pieces in CUTS:
        parts = tuple(piece for part in division for piece in cut(part, pieces, along.coarse.step))
        if len(parts) > len(division):
            yield Entry(parts, along.axis, entry.units, pieces)
