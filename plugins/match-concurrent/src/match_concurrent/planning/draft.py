"""Drafts of plans: a total order of steps, addresses of items during steps, and derived times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A job (``job`` is its number), or a copy of an item between the home memory and the store. ``places``: for every
    item that the step touches, the number of the residence (0: the first one)."""

    kind: Literal["job", "out", "in"]
    lane: int
    cycles: int
    job: int = -1
    item: int = -1
    places: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """Steps in a valid sequential order. ``homes``: (item, residence) -> address in the arena
    of the home memory; ``stores``: item -> address in the store, for items that are swapped."""

    steps: tuple[PlanStep, ...]
    homes: dict[tuple[int, int], int]
    stores: dict[int, int]


@dataclass(frozen=True, slots=True)
class Draft:
    """A layout with the dependencies of its steps and their modelled start times. ``needs``: for each step (lane,
    count) pairs, without implied ones; ``cycles``: the makespan. ``origin`` names the method that found it."""

    layout: Layout
    needs: tuple[tuple[tuple[int, int], ...], ...]
    starts: tuple[int, ...]
    cycles: int
    origin: str
