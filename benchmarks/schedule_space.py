"""The schedules of a layer that a brute-force search looks at.

A point is an ordered nest of loops, and for every operand a depth and one or two buffers. Left out are points that
cannot be cheaper than one that is there: a depth whose last loop does not move along the operand (the same piece
would be copied again), and two buffers at depth 0 (there is no next piece to copy).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations, product
from math import prod
from typing import Literal

from match_core.contract.loops import Placement, ScheduleRequest, TileLoop
from match_core.contract.workload import Dim, Operand
from match_schedule.space import cuts_of

Buffers = Literal[1, 2]
#: Tile sizes of one dimension from the outermost loop to the kernel; () if it has no loop.
Chain = tuple[int, ...]
#: (depth, buffers) of one operand.
Choice = tuple[int, Buffers]


@dataclass(frozen=True, slots=True)
class Point:
    """One schedule: loops, and (depth, buffers) of every operand."""

    loops: tuple[TileLoop, ...]
    choices: tuple[tuple[int, Buffers], ...]
    cycles: int


def placements_of(request: ScheduleRequest, point: Point) -> tuple[Placement, ...]:
    """A point's placements without offsets and sizes."""
    memory = request.unit.memory or ""
    pairs = zip(request.workload.operands, point.choices, strict=True)
    return tuple(Placement(operand.name, memory, depth, 0, 0, buffers) for operand, (depth, buffers) in pairs)


def divisors(size: int) -> set[int]:
    """All products of prime factors."""
    return {n for n in range(1, size + 1) if size % n == 0}


def tile_sizes(request: ScheduleRequest, extra: bool) -> dict[str, list[int]]:
    """Sizes below the whole of every dimension that may be cut: divisors, and with ``extra`` what the engine tries."""
    sizes: dict[str, list[int]] = {}
    for dim in request.workload.dims:
        if dim.tileable and dim.size > 1 and (request.workload.accumulates or not is_sum(request, dim)):
            sizes[dim.name] = sorted(n for n in divisors(dim.size) if n < dim.size and n % dim.granularity == 0)
    if extra:
        for cut in cuts_of(request.workload):
            known = sizes.setdefault(cut.dim.name, [])
            sizes[cut.dim.name] = sorted({*known, *(tile for tile in cut.tiles if tile < cut.dim.size)})
    return {name: tiles for name, tiles in sizes.items() if tiles}


def is_sum(request: ScheduleRequest, dim: Dim) -> bool:
    """Whether results are sums over the dimension."""
    outputs = [operand for operand in request.workload.operands if operand.role == "output"]
    return any(dim.name not in dims_of(operand) for operand in outputs)


def dims_of(operand: Operand) -> set[str]:
    """Dimensions that the operand's index depends on."""
    return {name for axis in operand.axes for name, _ in axis.terms}


class Space:
    """Nests of loops: every dimension not cut, cut once, or with ``splits`` cut twice by loops that are not
    neighbours."""

    def __init__(self, request: ScheduleRequest, extra: bool, splits: bool) -> None:
        self.request = request
        self.sizes = tile_sizes(request, extra)
        self.splits = splits
        self.whole = {dim.name: dim.size for dim in request.workload.dims}

    def nests(self) -> Iterator[tuple[TileLoop, ...]]:
        """Each nest once."""
        chains = [self._chains(name) for name in self.sizes]
        for chosen in product(*chains):
            cut = {name: chain for name, chain in zip(self.sizes, chosen, strict=True) if chain}
            for order in _orders(tuple((name, len(chain)) for name, chain in cut.items())):
                yield self._nest(order, cut)

    def _chains(self, name: str) -> list[Chain]:
        once: list[Chain] = [(), *((tile,) for tile in self.sizes[name])]
        if self.splits:
            once += [(outer, inner) for outer in self.sizes[name] for inner in self.sizes[name] if inner < outer]
        return once

    def _nest(self, order: Sequence[str], cut: Mapping[str, Chain]) -> tuple[TileLoop, ...]:
        left, used, loops = dict(self.whole), dict.fromkeys(cut, 0), []
        for name in order:
            tile = cut[name][used[name]]
            loops.append(TileLoop(name, left[name], tile))
            left[name], used[name] = tile, used[name] + 1
        return tuple(loops)

    def choices(self, operand: Operand, loops: Sequence[TileLoop]) -> list[tuple[int, Buffers]]:
        """Depths and buffers of an operand, whether they fit or not."""
        moves = dims_of(operand)
        depths = [place + 1 for place, loop in enumerate(loops) if loop.dim in moves]
        if operand.role == "output":
            sums = [place for place, loop in enumerate(loops) if loop.dim not in moves]
            depths = [depth for depth in depths if not sums or depth <= sums[0]]
        buffers: tuple[Buffers, ...] = (1,) if self.request.cost_model.overlap == "none" else (1, 2)
        return [(0, 1), *((depth, count) for depth in depths for count in buffers)]

    def points(self) -> int:
        """Points of the space, before capacity."""
        total = 0
        operands = self.request.workload.operands
        for chosen in product(*((0, 1, 2) if self.splits else (0, 1) for _ in self.sizes)):
            counts = [
                len([c for c in self._chains(name) if len(c) == n]) for name, n in zip(self.sizes, chosen, strict=True)
            ]
            if not prod(counts):
                continue
            pairs = tuple((name, n) for name, n in zip(self.sizes, chosen, strict=True) if n)
            for order in _orders(pairs):
                loops = [TileLoop(name, 2, 1) for name in order]
                total += prod(counts) * prod(len(self.choices(operand, loops)) for operand in operands)
        return total


@cache
def _orders(pairs: tuple[tuple[str, int], ...]) -> tuple[tuple[str, ...], ...]:
    """All orders of loops; two loops of one dimension are not neighbours (they would be one loop)."""
    names = [name for name, count in pairs for _ in range(count)]
    found = sorted(set(permutations(names)))
    return tuple(order for order in found if all(a != b for a, b in pairwise(order)))
