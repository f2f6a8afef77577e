"""A plan in the making: a total order of steps, where every item lies during which steps, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Step:
    """A job (``job`` is its number), or a copy of an item between the home memory and the store. ``places``: for every
    item that the step touches, in which of the item's residences (0: the first one)."""

    kind: Literal["job", "out", "in"]
    lane: int
    cycles: int
    job: int = -1
    item: int = -1
    places: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """Steps in an order in which they could run one after another. ``homes``: (item, residence) -> address in the arena
    of the home memory; ``stores``: item -> address in the store, for items that are swapped."""

    steps: tuple[Step, ...]
    homes: dict[tuple[int, int], int]
    stores: dict[int, int]


@dataclass(frozen=True, slots=True)
class Draft:
    """A layout with the needs of its steps and their modelled start times. ``needs``: for each step (lane, count)
    pairs, only those that nothing else implies; ``cycles``: the makespan. ``origin`` says how it was found."""

    layout: Layout
    needs: tuple[tuple[tuple[int, int], ...], ...]
    starts: tuple[int, ...]
    cycles: int
    origin: str
