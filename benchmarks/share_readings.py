"""The ways of operators, with what the tiles of each read of the tiles of its makers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import product

import numpy as np
from match_concurrent.mapping.evaluate import Evaluator
from match_concurrent.mapping.network import SharedOperator, Source
from match_concurrent.mapping.parts import Division, Part
from numpy.typing import NDArray

from benchmarks.share_costs import AxisCosts
from benchmarks.share_tasks import Tasks, Way, ways_along

#: Axes of more tiles are not compared tile by tile: a part may read any one tile.
COMPARED_MAX = 512


@dataclass(frozen=True)
class Shares:
    """An operator with the ways that no other way dominates; ``axes`` by number, as its ways name them."""

    operator: SharedOperator
    axes: tuple[AxisCosts, ...]
    ways: tuple[Way, ...]


def shares_of(operator: SharedOperator, evaluator: Evaluator, axes: tuple[AxisCosts, ...]) -> Shares:
    """``axes``: with the costs of the operator's shares along each."""
    gap, ways = evaluator.signalling.task_cycles, []
    for offer in operator.offers:
        cycles = evaluator.costs.cycles(Part(offer))
        own, *others = evaluator.queues_of(offer)
        loads = {own: cycles + gap, **dict.fromkeys(others, max(0, cycles - gap))}
        ways.append(Way(-1, loads, {own: Tasks(1, 1, cycles, cycles, single=True)}))
    for number, costs in enumerate(axes):
        ways += ways_along(number, costs, gap)
    return Shares(operator, axes, tuple(ways))


@dataclass(frozen=True)
class Reading:
    """``pairs[reader, maker]``: whether a tile of a reader along one axis reads a tile of its source along another; for
    axes of too many tiles it is None: they may read nothing."""

    pairs: NDArray[np.bool_] | None

    def reads(self, tiles: int) -> int:
        """The fewest tiles of the source that so many adjacent tiles of the reader read."""
        return 0 if self.pairs is None else _fewest(self.pairs, tiles)

    def read_by(self, tiles: int) -> int:
        """The fewest tiles of the reader that read any of so many adjacent tiles of the source."""
        return 0 if self.pairs is None else _fewest(self.pairs.T, tiles)

    @property
    def apart(self) -> bool:
        """Whether every tile of the reader reads all of the source."""
        return self.pairs is not None and bool(self.pairs.all())


def _fewest(pairs: NDArray[np.bool_], rows: int) -> int:
    """The fewest columns that so many adjacent rows have an entry in."""
    before: NDArray[np.int64] = np.vstack((np.zeros(pairs.shape[1], np.int64), np.cumsum(pairs, axis=0)))
    return int((before[rows:] > before[:-rows]).sum(axis=1).min())


#: By maker and reader, by the numbers of both axes.
Readings = dict[tuple[int, int], dict[tuple[int, int], Reading]]


def readings(source: Source, made: Shares, read: Shares, evaluator: Evaluator) -> dict[tuple[int, int], Reading]:
    """By the numbers of both axes, the maker's first (-1: whole)."""
    found: dict[tuple[int, int], Reading] = {}
    for one, other in product(range(-1, len(made.axes)), range(-1, len(read.axes))):
        makers, readers = tiles_of(made, one), tiles_of(read, other)
        if max(len(makers), len(readers)) > COMPARED_MAX:
            found[one, other] = Reading(None)
            continue
        pairs = np.zeros((len(readers), len(makers)), np.bool_)
        for reader, maker in evaluator.network.waits(source, makers, readers):
            pairs[reader, maker] = True
        found[one, other] = Reading(pairs)
    return found


def tiles_of(shares: Shares, axis: int) -> Division:
    """The operator in single tiles along an axis, or whole."""
    if axis < 0:
        return (Part(shares.operator.offers[0]),)
    along = shares.axes[axis].along
    unit = along.units[0]
    return tuple(
        Part(unit.offer, unit.dim, first, min(along.step, along.size - first))
        for first in range(0, along.size, along.step)
    )


def all_readings(shares: tuple[Shares, ...], evaluator: Evaluator) -> Readings:
    """What the tiles of every reader read of each of its makers."""
    found: Readings = {}
    for number, own in enumerate(shares):
        for source in own.operator.sources:
            made = readings(source, shares[source.operator], own, evaluator)
            known = found.setdefault((source.operator, number), made)
            for key, other in made.items():  # of several tensors of one maker, parts wait for all
                both = (pairs for pairs in (known[key].pairs, other.pairs) if pairs is not None)
                known[key] = Reading(reduce(np.logical_or, both, None))
    return found
