"""A slow replay of a schedule, straight from docs/scheduling.md: one kernel call after the other, one copy at a time,
every event with its time from the start of the layer. Shares only the geometry of single tiles with the scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from match_core.contract.cost import TransferShape
from match_core.contract.loops import Placement, ScheduleRequest, TileLoop
from match_core.contract.workload import Operand

from core.tests.schedule import tile_copies


@dataclass(frozen=True)
class Turn:
    """One kernel call: first index and size of every dimension at each depth, and the outermost loop that goes on."""

    spans: tuple[Mapping[str, tuple[int, int]], ...]
    level: int


def turns(request: ScheduleRequest, loops: Sequence[TileLoop]) -> list[Turn]:
    """All kernel calls in order."""
    whole = {dim.name: (0, dim.size) for dim in request.workload.dims}

    def inside(spans: tuple[Mapping[str, tuple[int, int]], ...], level: int) -> Iterator[Turn]:
        depth = len(spans) - 1
        if depth == len(loops):
            yield Turn(spans, level)
            return
        loop = loops[depth]
        start, size = spans[-1][loop.dim]
        for first in range(start, start + size, loop.tile):
            span = (first, min(loop.tile, start + size - first))
            yield from inside((*spans, {**spans[-1], loop.dim: span}), level if first == start else depth)

    return list(inside((whole,), -1))


@dataclass
class Engine:
    """The core that starts kernels, and the channels that copies queue in."""

    now: int = 0
    flights: list[tuple[object, int, int]] = field(default_factory=list)  # (channel, end, wait)
    idle_at: dict[object, int] = field(default_factory=dict)

    def copy(self, channel: object, cycles: tuple[int, int, int]) -> None:
        """Issue one copy."""
        issue, data, wait = cycles
        self.now += issue
        end = max(self.idle_at.get(channel, 0), self.now) + data
        self.idle_at[channel] = end
        self.flights.append((channel, end, wait))

    def wait_for(self, store: bool) -> None:
        """Wait for all copies in flight from the store, or for all others."""
        mine = [flight for flight in self.flights if (flight[0] == "store") == store]
        self.flights = [flight for flight in self.flights if (flight[0] == "store") != store]
        last = max((end for _, end, _ in mine), default=0)
        if last > self.now:
            self.now = last + max(wait for _, end, wait in mine if end == last)


class Simulation:
    """One run of one schedule."""

    def __init__(self, request: ScheduleRequest, loops: Sequence[TileLoop], placements: Sequence[Placement]) -> None:
        self.request = request
        self.loops = tuple(loops)
        self.placements = placements
        self.turns = turns(request, loops)
        self.engine = Engine()
        self.compute = self.launch = self.transfer = 0
        self.energy = 0.0
        self.moved = 0
        self.near = {
            operand.name: [p for p in placements if p.operand == operand.name][-1]
            for operand in request.workload.operands
        }
        self.staged = {p.operand: p for p in placements if p.memory == request.soc.home}

    def run(self) -> int:
        """Cycles from start to end."""
        blocking = self.request.cost_model.overlap == "none"
        steps = len(self.turns)
        for name in self._inputs():
            if name in self.staged:
                self._stage(name, 0)
        self._load(self._inputs(), 0)
        for n in range(steps):
            self._wait()
            early = self._inputs(2) if not blocking else []
            if self.request.cost_model.overlap == "data":
                self._early(n, early)
            kernel, launch = self._kernel(n)
            self.engine.now += launch
            ends = self.engine.now + kernel
            if self.request.cost_model.overlap == "all":
                self._early(n, early)
            self.engine.now = max(self.engine.now, ends)
            self._store(n, 1)
            if n + 1 == steps:
                self._store(n, 2)
            else:
                self._load(self._inputs(1), n + 1)
        self._wait()
        return self.engine.now

    def _early(self, n: int, names: list[str]) -> None:
        if n + 1 < len(self.turns):
            self._load(names, n + 1)
        if n > 0:
            self._store(n - 1, 2)

    def _inputs(self, buffers: int = 0) -> list[str]:
        return [
            o.name
            for o in self.request.workload.operands
            if o.role != "output" and buffers in (0, self.near[o.name].buffers)
        ]

    def _wait(self) -> None:
        self.engine.wait_for(store=False)

    def _changes(self, placement: Placement, n: int) -> bool:
        return n == 0 or self.turns[n].level < placement.depth

    def _load(self, names: list[str], n: int) -> None:
        due = [name for name in names if self._changes(self.near[name], n)]
        fresh = [name for name in due if name in self.staged and self._changes(self.staged[name], n)]
        if fresh:
            self.engine.wait_for(store=True)
        for name in due:
            way = [p for p in self.placements if p.operand == name]
            far, depth = (self.request.soc.home, way[0].depth if name in self.staged else 0)
            self._copy(name, far, depth, self.near[name], n)
        for other in fresh:
            later = [m for m in range(n + 1, len(self.turns)) if self._changes(self.staged[other], m)]
            if later:
                self._stage(other, later[0])

    def _stage(self, name: str, n: int) -> None:
        self._copy(name, self.request.soc.store or "", 0, self.staged[name], n)

    def _store(self, n: int, buffers: int) -> None:
        for operand in self.request.workload.operands:
            placement = self.near[operand.name]
            if operand.role == "output" and placement.buffers == buffers:
                last = n + 1 == len(self.turns) or self.turns[n + 1].level < placement.depth
                if last:
                    self._copy(operand.name, self.request.soc.home, 0, placement, n)

    def _kernel(self, n: int) -> tuple[int, int]:
        workload, model = self.request.workload, self.request.cost_model
        tile = {name: np.array([size]) for name, (_, size) in self.turns[n].spans[-1].items()}
        kernel, launch = int(model.kernel_cycles(workload, tile)[0]), int(model.launch_cycles(workload, tile)[0])
        self.compute += kernel
        self.launch += launch
        if model.energy is not None:
            self.energy += float(model.energy.kernel_energy_pj(workload, tile)[0])
        return kernel, launch

    def _copy(self, name: str, far: str, far_depth: int, placement: Placement, n: int) -> None:
        operand = self.request.workload.operand(name)
        shape, repeats = self._shape(operand, far, far_depth, placement, n)
        model = self.request.cost_model
        parts = model.transfer_cycles(self.request.workload, shape)
        cycles = (int(parts.issue[0]) * repeats, int(parts.data[0]) * repeats, int(parts.wait[0]))
        self.transfer += sum(cycles)
        self.moved += int(shape.row_bytes[0] * shape.rows[0] * shape.planes[0]) * repeats
        if model.energy is not None:
            self.energy += float(model.energy.transfer_energy_pj(self.request.workload, shape)[0]) * repeats
        if model.overlap == "none":
            self.engine.now += sum(cycles)
            return
        channel = "store" if placement.memory == self.request.soc.home else (far, placement.memory, shape.direction)
        self.engine.copy(channel, cycles)

    def _shape(
        self, operand: Operand, far: str, far_depth: int, placement: Placement, n: int
    ) -> tuple[TransferShape, int]:
        spans = self.turns[n].spans[placement.depth]
        starts = {name: start for name, (start, _) in spans.items()}
        sizes = {name: size for name, (_, size) in spans.items()}
        extents = tile_copies.tile_extents(operand, starts, sizes)
        moved = tile_copies.transfer_of(operand, extents, self._full(placement.depth), self._full(far_depth))
        repeats = 1
        for count, _ in moved.repeats:
            repeats *= count
        counts = (np.array([value]) for value in (moved.row_bytes, moved.rows, moved.planes))
        direction = "out" if operand.role == "output" else "in"
        return TransferShape(direction, *counts, far, placement.memory), repeats

    def _full(self, depth: int) -> dict[str, int]:
        whole = {dim.name: dim.size for dim in self.request.workload.dims}
        return {**whole, **{loop.dim: loop.tile for loop in self.loops[:depth]}}
