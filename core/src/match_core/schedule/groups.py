"""Groups of equal steps: the steps of a nest by the copies that they have.

Steps differ by their place in the innermost loop, first, between or last, and the last ones by the loop that goes on
after them. What a group's steps load and store is named by turns of loops, which ``order_sums`` can sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from match_core.schedule.order_sums import loads_at, stores_at
from match_core.schedule.tile_kinds import Part

#: Turns of the outermost loops, as many as a buffer's depth; more of them add up.
Turns = list[list[Part]]


@dataclass(frozen=True, slots=True)
class Group:
    """Steps with the same copies. ``kind``: where they are in the innermost loop; ``level``: the loop that goes on
    after them (the number of loops at the end of the layer)."""

    kind: Literal["first", "middle", "last"]
    level: int


def groups_of(loops: int) -> list[Group]:
    """The groups of a nest, the last step of the layer at the end."""
    if loops == 0:
        return [Group("last", 0)]
    inner = [Group("first", loops - 1), Group("middle", loops - 1)]
    return [*inner, *(Group("last", level) for level in range(loops - 1)), Group("last", loops)]


def calls_in(group: Group, loops: int) -> list[Part]:
    """The turns of all loops at which the kernel calls of a group are."""
    if group.kind != "last":
        return [Part.ALL] * (loops - 1) + [Part.FIRST if group.kind == "first" else Part.MIDDLE]
    if group.level == loops:
        return [Part.LAST] * loops
    return [Part.ALL] * group.level + [Part.LEAD] + [Part.LAST] * (loops - group.level - 1)


def loads_in(group: Group, depth: int, loops: int) -> tuple[Turns, Turns]:
    """The pieces of an input that the steps of a group load for the next step: turns that count, and turns to be taken
    away again."""
    if group.kind == "last":
        level = group.level
        return ([loads_at(level, depth)] if level < depth else []), []
    if depth < loops:
        return [], []
    outer = [Part.ALL] * (loops - 1)
    if group.kind == "first":
        return [[*outer, Part.SECOND]], []
    return [[*outer, Part.REST]], [[*outer, Part.SECOND]]


def stores_in(group: Group, depth: int, loops: int) -> Turns:
    """The pieces of an output that are complete with the steps of a group."""
    if group.kind == "last":
        level = group.level
        if level == loops:
            return [[Part.LAST] * depth]
        return [stores_at(level, depth)] if level < depth else []
    if depth < loops:
        return []
    return [[Part.ALL] * (loops - 1) + [Part.FIRST if group.kind == "first" else Part.MIDDLE]]


def stores_before(group: Group, depth: int, loops: int) -> tuple[Turns, Turns]:
    """The pieces of an output that are complete with the steps before those of a group; turns that count, and turns
    to be taken away again."""
    if loops == 0:
        return [], []
    if group.kind == "first":
        return [
            [Part.ALL] * level + [Part.LEAD] + [Part.LAST] * (depth - level - 1)
            for level in range(min(depth, loops - 1))
        ], []
    if depth < loops:
        return [], []
    outer = [Part.ALL] * (loops - 1)
    if group.kind == "middle":
        return [[*outer, Part.LEAD]], [[*outer, Part.PENULTIMATE]]
    if group.level == loops:
        return [[Part.LAST] * (loops - 1) + [Part.PENULTIMATE]], []
    level = group.level
    return [[Part.ALL] * level + [Part.LEAD] + [Part.LAST] * (loops - level - 2) + [Part.PENULTIMATE]], []
