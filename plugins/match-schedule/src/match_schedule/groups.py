"""Groups the steps of a loop nest by their copies.

Steps differ by their position in the innermost loop (first, middle or last), and the last ones by the loop that
advances after them. The loads and stores of a group are described by turns of loops, which ``order_sums`` can sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from match_schedule.order_sums import loads_at, stores_at
from match_schedule.tile_kinds import TilePart

#: Turns of the outermost loops, one per level of a buffer's depth; several entries are added.
Turns = list[list[TilePart]]


@dataclass(frozen=True, slots=True)
class Group:
    """Steps with the same copies. ``kind``: position in the innermost loop; ``level``: the loop that advances
    after them (the number of loops at the end of the layer)."""

    kind: Literal["first", "middle", "last"]
    level: int


def groups_of(loops: int) -> list[Group]:
    """The groups of a nest, the last step of the layer at the end."""
    if loops == 0:
        return [Group("last", 0)]
    inner = [Group("first", loops - 1), Group("middle", loops - 1)]
    return [*inner, *(Group("last", level) for level in range(loops - 1)), Group("last", loops)]


def calls_in(group: Group, loops: int) -> list[TilePart]:
    """The turns of all loops for the kernel calls of a group."""
    if group.kind != "last":
        return [TilePart.ALL] * (loops - 1) + [TilePart.FIRST if group.kind == "first" else TilePart.MIDDLE]
    if group.level == loops:
        return [TilePart.LAST] * loops
    return [TilePart.ALL] * group.level + [TilePart.LEAD] + [TilePart.LAST] * (loops - group.level - 1)


def loads_in(group: Group, depth: int, loops: int) -> tuple[Turns, Turns]:
    """The pieces of an input that the steps of a group load for the next step: turns to add, and turns to subtract."""
    if group.kind == "last":
        level = group.level
        return ([loads_at(level, depth)] if level < depth else []), []
    if depth < loops:
        return [], []
    outer = [TilePart.ALL] * (loops - 1)
    if group.kind == "first":
        return [[*outer, TilePart.SECOND]], []
    return [[*outer, TilePart.REST]], [[*outer, TilePart.SECOND]]


def stores_in(group: Group, depth: int, loops: int) -> Turns:
    """The pieces of an output that the steps of a group complete."""
    if group.kind == "last":
        level = group.level
        if level == loops:
            return [[TilePart.LAST] * depth]
        return [stores_at(level, depth)] if level < depth else []
    if depth < loops:
        return []
    return [[TilePart.ALL] * (loops - 1) + [TilePart.FIRST if group.kind == "first" else TilePart.MIDDLE]]


def stores_before(group: Group, depth: int, loops: int) -> tuple[Turns, Turns]:
    """The pieces of an output that the steps before those of a group complete: turns to add, and turns to subtract."""
    if loops == 0:
        return [], []
    if group.kind == "first":
        return [
            [TilePart.ALL] * level + [TilePart.LEAD] + [TilePart.LAST] * (depth - level - 1)
            for level in range(min(depth, loops - 1))
        ], []
    if depth < loops:
        return [], []
    outer = [TilePart.ALL] * (loops - 1)
    if group.kind == "middle":
        return [[*outer, TilePart.LEAD]], [[*outer, TilePart.PENULTIMATE]]
    if group.level == loops:
        return [[TilePart.LAST] * (loops - 1) + [TilePart.PENULTIMATE]], []
    level = group.level
    return [
        [TilePart.ALL] * level + [TilePart.LEAD] + [TilePart.LAST] * (loops - level - 2) + [TilePart.PENULTIMATE]
    ], []
