"""The order of tasks: ends of axes first, then halves, then quarters, so that early rows sketch the front."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from match_explore.points import Point


def sketching(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points by how fine a grid they belong to; within one, models and targets take turns."""
    lengths = [1 + max(places) for places in zip(*(point.places for point in points), strict=True)]
    levels = [_levels(length) for length in lengths]
    groups: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for point in points:
        groups[point.model, point.target].append(point)
    turns: list[tuple[int, int, int, Point]] = []
    for number, group in enumerate(groups.values()):
        ranked = sorted(group, key=lambda point: (_level(point, levels), point.index))
        turns += [(_level(point, levels), turn, number, point) for turn, point in enumerate(ranked)]
    return tuple(point for *_, point in sorted(turns, key=lambda turn: turn[:3]))


def _level(point: Point, levels: Sequence[Sequence[int]]) -> int:
    return max((level[place] for level, place in zip(levels, point.places, strict=True)), default=0)


def _levels(length: int) -> list[int]:
    """For each position: after how many halvings of the axis it is met."""
    found = [0] * length
    gaps: Iterable[tuple[int, int]] = [(0, length - 1)]
    level = 0
    while gaps:
        level, following = level + 1, []
        for low, high in gaps:
            if high - low > 1:
                middle = (low + high) // 2
                found[middle] = level
                following += [(low, middle), (middle, high)]
        gaps = following
    return found
