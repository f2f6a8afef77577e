"""Improves a choice by local changes on the exact time line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from match_concurrent.mapping.parts import Division

if TYPE_CHECKING:
    from match_concurrent.mapping.evaluate import Evaluation, Evaluator
    from match_concurrent.mapping.network import DivisibleAxis
    from match_concurrent.mapping.share_options import Entry, ShareOptions


def improve(
    best: Evaluation,
    share_options: Sequence[ShareOptions],
    evaluator: Evaluator,
    spend: int,
    *,
    only_known: bool = False,
) -> Evaluation:
    """Change one operator, or two neighbours together, while that helps and at most ``spend`` tasks were evaluated on
    time lines; with ``only_known`` without parts whose cost is an estimate."""
    limit = evaluator.spent + spend
    pairs = sorted({(s.operator, n) for n, o in enumerate(evaluator.network.operators) for s in o.sources})
    while True:
        before = best.value
        for number, own_options in enumerate(share_options):
            for division in _moves(best.choice[number], own_options):
                if evaluator.spent >= limit:
                    return best
                if not only_known or all(evaluator.costs.is_known(part) for part in division):
                    best = _better(best, {number: division}, evaluator)
        for maker, reader in pairs:
            for first, second in _joint(share_options[maker], share_options[reader], evaluator):
                if evaluator.spent >= limit:
                    return best
                best = _better(best, {maker: first, reader: second}, evaluator)
        if best.value == before:
            return best


def _better(best: Evaluation, changes: dict[int, Division], evaluator: Evaluator) -> Evaluation:
    choice = tuple(changes.get(number, division) for number, division in enumerate(best.choice))
    if choice == best.choice:
        return best
    return evaluator.improved(choice, best) or best


def _moves(division: Division, own_options: ShareOptions) -> Iterator[Division]:
    yield from (entry.division for entry in own_options.entries)
    along = next((a for a in own_options.alongs if any(u[:2] == division[0][:2] for u in a.units)), None)
    if along is not None:
        yield from shifted(division, along)


def shifted(division: Division, along: DivisibleAxis, tiles_max: int = sys.maxsize) -> Iterator[Division]:
    """Divisions with one border moved by one, two, four, ... tiles in either direction, up to ``tiles_max``."""
    for place in range(len(division) - 1):
        left, right = division[place], division[place + 1]
        tiles = 1
        while tiles <= tiles_max and tiles * along.step < max(left.size, right.size):
            for moved in (tiles * along.step, -tiles * along.step):
                if -left.size < moved < right.size:
                    grown = left._replace(size=left.size + moved)
                    shrunk = right._replace(first=right.first + moved, size=right.size - moved)
                    yield (*division[:place], grown, shrunk, *division[place + 2 :])
            tiles *= 2


def _joint(first: ShareOptions, second: ShareOptions, evaluator: Evaluator) -> Iterator[tuple[Division, Division]]:
    """Pairs of divisions along one axis with the same number of tasks per unit: on the same queues, or on one queue
    each, so that the second operator follows the first row by row."""
    for one in first.entries:
        seen: set[tuple[tuple[int, ...], ...]] = set()
        for other in second.entries:
            if one.axis < 0 or (one.axis, one.pieces) != (other.axis, other.pieces):
                continue
            mine, theirs = _queues(one, evaluator), _queues(other, evaluator)
            if theirs not in seen and (mine == theirs or len(mine) == len(theirs) == 1):
                seen.add(theirs)
                yield one.division, other.division


def _queues(entry: Entry, evaluator: Evaluator) -> tuple[tuple[int, ...], ...]:
    return tuple(evaluator.queues_of(offer) for offer in entry.units)
