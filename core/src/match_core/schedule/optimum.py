"""The search for the best schedule: branch and bound over loop orders, tile sizes, depths and buffers.

Nodes are (loop order, tiling) pairs with the bound of ``bounds``; the best are opened first. Opening a node lists the
choices of depth and buffers that fit, bounds each (``groups``), and replays them in the order of their bounds until no
bound is below the best cost known. So the result is the optimum of the space (see docs/scheduling.md), whatever the
order of the search; ties go to fewer kernel calls, then to fewer bytes moved, then to what was found first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np

from match_core.schedule.bounds import HUGE, OrderBounds
from match_core.schedule.groups import GroupBounds, Rows
from match_core.schedule.infeasible import ScheduleInfeasible
from match_core.schedule.layout import working_bytes_of
from match_core.schedule.loops import LoopSchedule, Placement, ScheduleRequest, TileLoop
from match_core.schedule.space import cuts_of
from match_core.schedule.tables import Tables
from match_core.schedule.timeline import Replay

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.cost import Cost

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]

#: Nodes that are opened together.
BATCH = 48
#: Choices that are bounded together; limits the memory that a search needs.
ROWS_MAX = 1 << 18


def best_schedule(request: ScheduleRequest, memory: str) -> LoopSchedule | ScheduleInfeasible:
    """The best schedule of the request's workload on a unit with the memory ``memory``; ScheduleInfeasible where
    nothing fits."""
    tables = Tables(request, cuts_of(request.workload))
    budgets = budgets_of(request, memory)
    shortage = _shortage(tables, memory, budgets)
    if shortage is not None:
        return shortage
    search = Search(tables, memory, budgets)
    return search.run()


def budgets_of(request: ScheduleRequest, memory: str) -> dict[str, int]:
    """Bytes that the layer may use in every memory that kernels read or write."""
    budgets = {memory: min(request.memory_bytes, request.soc.memory(memory).size_bytes)}
    for operand in request.workload.operands:
        name = request.unit.memory_of(operand.name, operand.role)
        if name is not None and name not in budgets:
            budgets[name] = request.soc.memory(name).size_bytes
    return budgets


def _shortage(tables: Tables, memory: str, budgets: Mapping[str, int]) -> ScheduleInfeasible | None:
    """What the smallest working set lacks: every operand's smallest buffer, whatever the loops."""
    request = tables.request
    fits: Flags = np.ones(tables.shape, dtype=np.bool_)
    needs: dict[str, Array] = {}
    for name, budget in budgets.items():
        alignment = request.soc.memory(name).alignment_bytes
        need = -(-tables.scratch // alignment) * alignment if name == memory else 0 * tables.scratch
        for operand, size in zip(request.workload.operands, tables.sizes, strict=True):
            if request.unit.memory_of(operand.name, operand.role) == name:
                need = need + -(-size // alignment) * alignment
        needs[name] = np.broadcast_to(need, tables.shape)
        fits = fits & (needs[name] <= budget)
    if fits.any():
        return None
    scarce = [name for name, need in needs.items() if int(need.min()) > budgets[name]]
    name = scarce[0] if scarce else memory
    others = np.ones(tables.shape, dtype=np.bool_)
    if not scarce:
        for other, need in needs.items():
            others = others & ((need <= budgets[other]) | (other == name))
    need = np.where(others, needs[name], HUGE)
    place = np.unravel_index(int(need.argmin()), tables.shape)
    tile = {cut.dim.name: cut.tiles[int(index)] for cut, index in zip(tables.cuts, place, strict=False)}
    sizes = tuple((dim.name, tile.get(dim.name, dim.size)) for dim in request.workload.dims)
    return ScheduleInfeasible(name, int(need[place]), budgets[name], sizes)


@dataclass(frozen=True, slots=True)
class _Nodes:
    """Tilings of one order that may hold the optimum: their bounds, and their positions (an array per cut)."""

    order: int
    bounds: Array
    tilings: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Best:
    """The best schedule so far, and its rank: cost, kernel calls, bytes moved."""

    rank: tuple[float, int, int]
    loops: tuple[TileLoop, ...]
    placements: tuple[Placement, ...]
    cost: Cost


class Search:
    """One search."""

    def __init__(self, tables: Tables, memory: str, budgets: Mapping[str, int]) -> None:
        self.tables = tables
        self.request = tables.request
        self.memory = memory
        self.budgets = budgets
        self.replay = Replay(self.request)
        self.orders: list[OrderBounds] = []
        self.best: Best | None = None
        waits = [sums.values["wait"] for sums in tables.operands]
        self.least_wait = min((int(values.min()) for values in waits if values.size), default=0)

    def run(self) -> LoopSchedule | ScheduleInfeasible:
        """Search the whole space."""
        waiting: list[_Nodes] = []
        for count in range(len(self.tables.cuts) + 1):
            for chosen in combinations(range(len(self.tables.cuts)), count):
                waiting += [self._nodes(order) for order in permutations(chosen)]
            waiting = self._open_best(waiting)
        while any(nodes.bounds.size for nodes in waiting):
            waiting = self._open_best(waiting)
        return self._answer()

    def _nodes(self, order: tuple[int, ...]) -> _Nodes:
        bounds = OrderBounds(self.tables, order, self.budgets)
        self.orders.append(bounds)
        lower, fits = bounds.lower()
        tilings = np.nonzero(fits & (lower < min(self._limit(), HUGE)))
        return _Nodes(len(self.orders) - 1, lower[tilings], tuple(tilings))

    def _limit(self) -> int:
        """What a bound must be below to matter."""
        return HUGE if self.best is None else int(self.best.rank[0])

    def _open_best(self, waiting: Sequence[_Nodes]) -> list[_Nodes]:
        """Open the nodes with the least bounds; the others that still matter remain."""
        kept = [_take(nodes, nodes.bounds < self._limit()) for nodes in waiting]
        kept = [nodes for nodes in kept if nodes.bounds.size]
        if not kept:
            return []
        every = np.concatenate([nodes.bounds for nodes in kept])
        cut = np.partition(every, BATCH - 1)[BATCH - 1] if every.size > BATCH else every.max()
        self._open([_take(nodes, nodes.bounds <= cut) for nodes in kept])
        return [_take(nodes, nodes.bounds > cut) for nodes in kept]

    def _open(self, batch: Sequence[_Nodes]) -> None:
        rows = [found for nodes in batch if nodes.bounds.size for found in self._choices(nodes)]
        if not rows:
            return
        every = np.concatenate([bounds for _, _, bounds in rows])
        source = np.concatenate([np.full(bounds.size, n) for n, (_, _, bounds) in enumerate(rows)])
        place = np.concatenate([np.arange(bounds.size) for _, _, bounds in rows])
        for number in np.lexsort((place, source, every)):
            if every[number] >= self._limit():
                break
            order, choices, _ = rows[source[number]]
            self._replay(self.orders[order], choices, int(place[number]))

    def _choices(self, nodes: _Nodes) -> Iterator[tuple[int, Rows, Array]]:
        """Options of all operands that fit, for some nodes of an order, with their bounds."""
        order = self.orders[nodes.order]
        counts = [len(options) for options in order.options]
        combos = np.indices(counts).reshape(len(counts), -1)
        share = max(1, ROWS_MAX // combos.shape[1])
        for start in range(0, nodes.bounds.size, share):
            tilings = tuple(index[start : start + share] for index in nodes.tilings)
            node, combo = np.nonzero(self._possible(order, tilings, combos))
            if node.size:
                rows = Rows(tuple(index[node] for index in tilings), tuple(options[combo] for options in combos))
                yield nodes.order, rows, GroupBounds(order, self.least_wait).lower(rows)

    def _possible(self, order: OrderBounds, tilings: tuple[Array, ...], combos: Array) -> Flags:
        """Which choices fit into the memories and have exposed cycles that may still win; (nodes, choices)."""
        unit, operands = self.request.unit, self.request.workload.operands
        room = {
            name: np.full((tilings[0].size, combos.shape[1]), budget, dtype=np.int64)
            for name, budget in self.budgets.items()
        }
        alignment = self.request.soc.memory(self.memory).alignment_bytes
        scratch = _gather(order.scratch, tilings)
        room[self.memory] = room[self.memory] - (-(-scratch // alignment) * alignment)[:, None]
        busy = _gather(order.kernel + order.launch, tilings)[:, None]
        issue = busy
        for number, operand in enumerate(operands):
            exposures = order.exposures[number]
            name = unit.memory_of(operand.name, operand.role) or ""
            size = np.stack([_gather(e.bytes, tilings) for e in exposures], axis=1)
            room[name] = room[name] - size[:, combos[number]]
            issue = issue + np.stack([_gather(e.issue, tilings) for e in exposures], axis=1)[:, combos[number]]
        possible: Flags = issue < self._limit()
        for left in room.values():
            possible = possible & (left >= 0)
        return possible

    def _replay(self, order: OrderBounds, rows: Rows, row: int) -> None:
        cuts, tables = self.tables.cuts, self.tables
        sizes = {cut: int(order.tiles_of(cut)[rows.tiling[cut][row]]) for cut in order.order}
        loops = tuple(TileLoop(cuts[cut].dim.name, cuts[cut].dim.size, sizes[cut]) for cut in order.order)
        placements: list[Placement] = []
        for number, operand in enumerate(self.request.workload.operands):
            option = order.options[number][rows.chosen[number][row]]
            place = tuple(
                int(rows.tiling[cut][row]) + 1 if cut in option.cuts else 0 for cut in range(tables.dimensions)
            )
            values = tables.sizes[number]
            size = int(values[tuple(p if n > 1 else 0 for p, n in zip(place, values.shape, strict=True))])
            name = self.request.unit.memory_of(operand.name, operand.role) or ""
            placements.append(Placement(operand.name, name, option.depth, 0, size, option.buffers))
        cost = self.replay.cost(loops, placements)
        score = float(cost.total_cycles - cost.sync_cycles)
        calls = self.replay.nest(loops).steps
        moved = sum(int(hop.copies.bytes.sum()) for hop in self.replay.hops(loops, placements))
        rank = (score, calls, moved)
        if self.best is None or rank < self.best.rank:
            self.best = Best(rank, loops, tuple(placements), cost)

    def _answer(self) -> LoopSchedule:
        best = self.best
        assert best is not None
        workload = self.request.workload
        looped = {loop.dim: loop.tile for loop in best.loops}
        tile = {dim.name: looped.get(dim.name, dim.size) for dim in workload.dims}
        layout = working_bytes_of(self.request.soc, self.memory, workload, tile, best.placements)
        return LoopSchedule(
            loops=best.loops,
            tile=tuple(tile.items()),
            placements=layout.placements,
            scratch_offset_bytes=layout.scratch_offset_bytes,
            scratch_bytes=layout.scratch_bytes,
            memory=self.memory,
            working_bytes=layout.working_bytes,
            cost=best.cost,
        )


def _take(nodes: _Nodes, which: Flags) -> _Nodes:
    return _Nodes(nodes.order, nodes.bounds[which], tuple(index[which] for index in nodes.tilings))


def _gather(values: Array, tilings: tuple[Array, ...]) -> Array:
    """Values at some tilings; axes of length 1 do not vary."""
    place = tuple(
        index if size > 1 else np.zeros_like(index) for index, size in zip(tilings, values.shape, strict=True)
    )
    return values[place]
