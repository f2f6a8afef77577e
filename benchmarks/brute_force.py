"""The cheapest schedule of a space: every point that fits is priced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from match_core.contract.loops import ScheduleRequest, TileLoop

from benchmarks.pricing import Pricer
from benchmarks.schedule_space import Choice, Point, Space


@dataclass(frozen=True, slots=True)
class Found:
    """The best point of a space and the number of points that were priced; ``samples`` were drawn from these at
    random. ``best`` None: nothing fits."""

    best: Point | None
    points: int
    samples: tuple[Point, ...]


def search(request: ScheduleRequest, space: Space, samples: int, seed: int) -> Found:
    """Price every point. ``samples`` points are drawn for a check by other means."""
    pricer = Pricer(request, space)
    random = np.random.default_rng(seed)
    best: Point | None = None
    points, drawn = 0, []
    for loops in space.nests():
        priced = pricer.price(loops)
        if priced is None:
            continue
        choices, cycles = priced
        fitting = np.flatnonzero(cycles.reshape(-1) >= 0)
        points += fitting.size
        flat = cycles.reshape(-1)[fitting]
        place = int(flat.argmin())
        if best is None or flat[place] < best.cycles:
            best = _point(loops, choices, cycles.shape, int(fitting[place]), int(flat[place]))
        pick = int(random.integers(fitting.size))
        drawn.append(_point(loops, choices, cycles.shape, int(fitting[pick]), int(flat[pick])))
        if len(drawn) > 4 * samples:
            drawn = [drawn[n] for n in sorted(random.choice(len(drawn), samples, replace=False))]
    if len(drawn) > samples:
        drawn = [drawn[n] for n in sorted(random.choice(len(drawn), samples, replace=False))]
    return Found(best, points, tuple(drawn))


def _point(
    loops: tuple[TileLoop, ...],
    choices: Sequence[Sequence[Choice]],
    shape: tuple[int, ...],
    flat: int,
    cycles: int,
) -> Point:
    places = np.unravel_index(flat, shape)
    chosen = tuple(options[int(place)] for options, place in zip(choices, places, strict=True))
    return Point(loops, chosen, cycles)
