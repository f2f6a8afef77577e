"""Searches for the best schedule: branch and bound over loop orders, tile sizes, depths and buffers.

Nodes are (loop order, tiling) pairs with the bound of ``bounds``; the best are expanded first. Expanding a node lists
the choices of depth and buffers that fit, bounds each (``choice_bounds``), and replays them in the order of their
bounds until no bound is below the best known cost. So the result is the optimum of the space (see docs/scheduling.md),
regardless of the order of the search. Bounds of layers that stream constants are weak, so their searches also end after
many replays that found nothing better. Among replayed choices of equal cost, fewer kernel calls win, then fewer moved
bytes, then the first; nests with fewer loops come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, permutations
from typing import TYPE_CHECKING

import numpy as np
from match_core.contract.loops import LoopSchedule, Placement, ScheduleRequest, TileLoop
from match_core.schedule.timeline import Replay

from match_schedule.bounds import HUGE, OrderBounds, Share, bytes_in
from match_schedule.choice_bounds import ChoiceBounds, Rows
from match_schedule.cut_bounds import cut_cycles
from match_schedule.layout import working_bytes_of
from match_schedule.needs import budgets_of, fitting, shortage, smallest_needs
from match_schedule.objective import check_objective, score
from match_schedule.order_sums import OrderSums
from match_schedule.space import Cut, cuts_of
from match_schedule.tables import Tables
from match_schedule.tile_kinds import TilePart

if TYPE_CHECKING:
    from match_core.contract.cost import Cost
    from match_core.contract.scheduling import ScheduleInfeasible
    from numpy.typing import NDArray

    Array = NDArray[np.int64]
    Flags = NDArray[np.bool_]

#: Nodes that are expanded together at first; the number doubles each time, because their bounds are then too weak.
BATCH = 48
#: Replays without a better choice after which a search with streamed constants ends (an estimate: ResNet8 in float16 on
#: Carfield with 60,000 bytes of L2 had searches of up to 22,410 replays, with the best choice among the first 44).
IDLE_REPLAYS = 300
#: Choices that are bounded together; limits the memory of a search.
ROWS_MAX = 1 << 18


def best_schedule(request: ScheduleRequest, memory: str) -> LoopSchedule | ScheduleInfeasible:
    """The best schedule of the request's workload on a unit with the memory ``memory``; ScheduleInfeasible if
    nothing fits. EnergyUnknownError if the objective requires energy figures that the cost model lacks."""
    check_objective(request)
    tables = Tables(request, cuts_of(request.workload))
    budgets = budgets_of(request, memory)
    found = Search(tables, memory, budgets).run()
    return found or shortage(tables, memory, smallest_needs(tables, memory, budgets), budgets)


def best_with_tile(request: ScheduleRequest, memory: str, dim: str, tile: int) -> LoopSchedule | None:
    """The best schedule with tiles of this size in the dimension; ``tile`` is a size from ``cuts_of`` (the first one is
    the whole dimension, which is not cut). None if nothing fits."""
    check_objective(request)
    every = cuts_of(request.workload)
    own = next(cut for cut in every if cut.dim.name == dim)
    whole = own.tiles[0]
    cuts = tuple(cut for cut in every if cut is not own)
    required: frozenset[int] = frozenset()
    if tile != whole:
        cuts, required = (Cut(own.dim, (whole, tile)), *cuts), frozenset((0,))
    return Search(Tables(request, cuts), memory, budgets_of(request, memory), required).run()


@dataclass(frozen=True, slots=True)
class Nodes:
    """Tilings of one order that may hold the optimum: bounds of their cost, and their positions (an array per cut)."""

    order: OrderBounds
    bounds: NDArray[np.float64]
    tilings: tuple[Array, ...]

    def where(self, which: Flags) -> Nodes:
        """The selected nodes."""
        return Nodes(self.order, self.bounds[which], tuple(index[which] for index in self.tilings))


@dataclass(frozen=True, slots=True)
class Best:
    """The best schedule so far, and its rank: cost, kernel calls, moved bytes."""

    rank: tuple[float, int, int]
    loops: tuple[TileLoop, ...]
    placements: tuple[Placement, ...]
    cost: Cost


class Search:
    """One search; ``required``: cuts that every answer must have."""

    def __init__(
        self, tables: Tables, memory: str, budgets: Mapping[str, int], required: frozenset[int] = frozenset()
    ) -> None:
        self.required = required
        self.tables = tables
        self.request = tables.request
        self.memory = memory
        self.budgets = budgets
        self.layer_cycles = self.request.cost_model.layer_cycles(self.request.workload)
        self.replay = Replay(self.request)
        self.batch = BATCH
        self.best: Best | None = None
        self.idle = 0
        self.fits = fitting(smallest_needs(tables, memory, budgets), budgets, tables)

    def run(self) -> LoopSchedule | None:
        """Search the whole space; None if nothing fits."""
        if not self.fits.any():
            return None
        waiting: list[Nodes] = []
        for count in range(len(self.tables.cuts) + 1):
            for chosen in combinations(range(len(self.tables.cuts)), count):
                if self.required.issubset(chosen) and self._may_win(chosen):
                    waiting += [self._nodes(order) for order in permutations(chosen)]
            waiting = self._open_best(waiting)
        while waiting and not self._idle():
            self.batch *= 2
            waiting = self._open_best(waiting)
        return None if self.best is None else self._answer(self.best)

    def _may_win(self, cuts: Sequence[int]) -> bool:
        """Whether tilings of exactly these dimensions may beat the best schedule, in any order."""
        sums = OrderSums(self.tables, tuple(cuts))
        energy = partial(self.tables.calls.energy_of, dict.fromkeys(cuts, TilePart.ALL))
        lower = self._score(cut_cycles(sums), energy)
        fits = np.broadcast_to(sums.windowed(self.fits), sums.shape)
        return bool((fits & (lower < self._limit())).any())

    def _nodes(self, order: tuple[int, ...]) -> Nodes:
        bounds = OrderBounds(OrderSums(self.tables, order), self.budgets)
        lower = self._score(bounds.cycles(), bounds.energy)
        tilings = np.nonzero(bounds.fits & (lower < self._limit()))
        return Nodes(bounds, lower[tilings], tilings)

    def _score(self, cycles: Array, energy: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """A bound of the objective from bounds of both parts, slightly reduced because sums are rounded."""
        total = (cycles + self.layer_cycles).astype(np.float64)
        if self.request.objective == "latency":
            return total
        return score(self.request.objective, total, energy()) * (1 - 1e-12)

    def _idle(self) -> bool:
        """Whether the search ends without a proof."""
        return bool(self.request.streamed) and self.idle >= IDLE_REPLAYS

    def _limit(self) -> float:
        """The value that a bound must be below to matter."""
        return float(HUGE) if self.best is None else self.best.rank[0]

    def _open_best(self, waiting: Sequence[Nodes]) -> list[Nodes]:
        """Expand the nodes with the least bounds; returns the other nodes that still matter."""
        kept = [nodes.where(nodes.bounds < self._limit()) for nodes in waiting]
        kept = [nodes for nodes in kept if nodes.bounds.size]
        if not kept:
            return []
        every = np.concatenate([nodes.bounds for nodes in kept])
        last = np.partition(every, self.batch - 1)[self.batch - 1] if every.size > self.batch else every.max()
        self._open([nodes.where(nodes.bounds <= last) for nodes in kept])
        return [nodes.where(nodes.bounds > last) for nodes in kept]

    def _open(self, batch: Sequence[Nodes]) -> None:
        """Replay the choices of some nodes, least bounds first, until no bound is below the best cost."""
        found = [choices for nodes in batch if nodes.bounds.size for choices in self.choices(nodes)]
        if not found:
            return
        every = np.concatenate([bounds for _, _, bounds in found])
        source = np.repeat(np.arange(len(found)), [bounds.size for _, _, bounds in found])
        place = np.concatenate([np.arange(bounds.size) for _, _, bounds in found])
        for number in np.lexsort((place, source, every)):
            if every[number] >= self._limit() or self._idle():
                break
            sums, rows, _ = found[source[number]]
            self.replay_row(sums, rows, int(place[number]))

    def choices(self, nodes: Nodes) -> Iterator[tuple[OrderSums, Rows, NDArray[np.float64]]]:
        """Fitting options of all operands for some nodes of an order, with their bounds."""
        order, groups = nodes.order, ChoiceBounds(nodes.order.sums)
        counts = [len(choices) for choices in order.choices]
        options = np.indices(counts).reshape(len(counts), -1)
        share = max(1, ROWS_MAX // options.shape[1])
        for start in range(0, nodes.bounds.size, share):
            tilings = Rows(tuple(index[start : start + share] for index in nodes.tilings), ())
            node, combination = np.nonzero(self._possible(order, tilings, options))
            if node.size:
                chosen = tuple(operand[combination] for operand in options)
                rows = Rows(tuple(index[node] for index in tilings.tiling), chosen)
                bounds = self._score(groups.cycles(rows), partial(groups.energy, rows))
                kept = bounds < self._limit()
                yield order.sums, rows.where(kept), bounds[kept]

    def _possible(self, order: OrderBounds, tilings: Rows, options: Array) -> Flags:
        """The combinations of options (tilings, combinations) that fit the memories and may still win by the core's
        busy cycles."""
        possible: Flags = np.ones((tilings.tiling[0].size, options.shape[1]), dtype=np.bool_)
        for memory, budget in self.budgets.items():
            used = np.zeros(tilings.tiling[0].size, dtype=np.int64)
            if memory == self.memory:
                alignment = self.request.soc.memory(memory).alignment_bytes
                used = used - (-tilings.pick(order.sums.scratch) // alignment) * alignment
            left = budget - used[:, None]
            for number, choices in enumerate(order.choices):
                size = np.stack([tilings.pick(bytes_in(c, memory, order.sums, number)) for c in choices], axis=1)
                left = left - size[:, options[number]]
            possible &= left >= 0
        if self.request.objective == "latency":
            busy = tilings.pick(order.kernel + order.launch)[:, None] + self.layer_cycles
            for number, choices in enumerate(order.choices):
                issue = np.stack([tilings.pick(c.share[Share.ISSUE]) for c in choices], axis=1)
                busy = busy + issue[:, options[number]]
            possible &= busy < self._limit()
        return possible

    def replay_row(self, sums: OrderSums, rows: Rows, row: int) -> None:
        """Compute the exact cost of one choice, and store it if it is the best."""
        cuts, soc = self.tables.cuts, self.request.soc
        loops = tuple(
            TileLoop(cuts[cut].dim.name, cuts[cut].dim.size, cuts[cut].tiles[int(rows.tiling[cut][row]) + 1])
            for cut in sums.order
        )
        placements: list[Placement] = []
        for number, operand in enumerate(sums.operands):
            option = sums.options[number][int(rows.chosen[number][row])]
            if option.stage is not None:
                size = self._piece_bytes(number, option.stage_cuts, rows, row)
                placements.append(Placement(operand.name, soc.home, option.stage, 0, size, option.stage_buffers))
            size = self._piece_bytes(number, option.cuts, rows, row)
            placements.append(Placement(operand.name, sums.near[number], option.depth, 0, size, option.buffers))
        counts = self.best is not None and self.request.objective == "latency"
        cost = self.replay.cost(loops, placements, int(self._limit()) - self.layer_cycles if counts else None)
        value = score(self.request.objective, float(cost.total_cycles), cost.energy_pj or 0.0)
        self.idle += 1
        if value > self._limit():
            return
        moved = sum(int(hop.copies.bytes.sum()) for hop in self.replay.hops(loops, placements))
        rank = (value, self.replay.nest(loops).steps, moved)
        if self.best is None or rank < self.best.rank:
            self.best, self.idle = Best(rank, loops, tuple(placements), cost), 0

    def _piece_bytes(self, number: int, cuts: Sequence[int], rows: Rows, row: int) -> int:
        """Bytes of an operand's largest piece in a buffer that is cut by ``cuts``."""
        sizes = self.tables.sizes[number]
        place = (int(rows.tiling[cut][row]) + 1 if cut in cuts else 0 for cut in range(sizes.ndim))
        return int(sizes[tuple(index if size > 1 else 0 for index, size in zip(place, sizes.shape, strict=True))])

    def _answer(self, best: Best) -> LoopSchedule:
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
