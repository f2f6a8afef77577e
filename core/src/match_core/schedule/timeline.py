"""The exact length of any legal schedule: every kernel call and copy at its real size, replayed by the rules of
docs/scheduling.md ("How it runs").

A step lasts from the end of one wait for all copies to the next, and does not depend on earlier steps; so all steps are
computed at once, as arrays with one element per kernel call. Only copies into staging buffers outlive a step: if an
operand is streamed, the steps that meet such a copy are replayed one after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from match_core.contract.cost import Cost
from match_core.schedule.copies import CopyCycles, Route, copy_cycles
from match_core.schedule.nest import Nest, nest_of, tile_at
from match_core.schedule.staging import StagedRun, Staging
from match_core.schedule.steps import Move, Steps, length_of_first_loads, lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from match_core.contract.hardware import Soc
    from match_core.contract.loops import Placement, ScheduleRequest, TileLoop

    Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Hop:
    """One placement with its copies, and the step that each copy is loaded for or stored after."""

    placement: Placement
    route: Route
    copies: CopyCycles
    steps: Array


def cost_of(
    request: ScheduleRequest, loops: Sequence[TileLoop], tile: Mapping[str, int], placements: Sequence[Placement]
) -> Cost:
    """The cost of a schedule. Offsets and sizes of the placements do not matter.

    ``total_cycles`` is the replayed length; compute, transfer (issue, data and wait of every copy) and launch cycles
    are plain sums, and ``overlapped_cycles`` is the difference between the sums and the length. ValueError for a
    schedule that cannot run: two buffers although copies block, depths that decrease along an operand's way, loops that
    do not end at the tile.
    """
    loops = tuple(loops)
    if {name: tile[name] for name in {loop.dim for loop in loops}} != {loop.dim: loop.tile for loop in loops}:
        raise ValueError("the loops do not end at the tile")
    return Replay(request).cost(loops, placements)


@dataclass(frozen=True, slots=True)
class Calls:
    """Cycles of every kernel call and of its launch, and the energy of all of them."""

    kernel: Array
    launch: Array
    energy_pj: float | None


class Replay:
    """Computes costs of schedules of one request, and caches intermediate results that they share."""

    def __init__(self, request: ScheduleRequest) -> None:
        self.request = request
        self._model = f"{request.cost_model.name} {request.cost_model.version}"
        self._nests: dict[tuple[TileLoop, ...], Nest] = {}
        self._calls: dict[tuple[TileLoop, ...], Calls] = {}
        self._copies: dict[object, CopyCycles] = {}

    def cost(self, loops: tuple[TileLoop, ...], placements: Sequence[Placement], limit: int | None = None) -> Cost:
        """See ``cost_of``; cycles above ``limit`` (without those of the layer) need not be exact."""
        request, model = self.request, self.request.cost_model
        calls, hops = self.calls(loops), self.hops(loops, placements)
        total = _length(request, hops, calls.kernel, calls.launch, limit)
        transfer = sum(int((c.issue + c.data + c.wait).sum()) for c in (hop.copies for hop in hops))
        compute, launched = int(calls.kernel.sum()), int(calls.launch.sum())
        energy = calls.energy_pj
        for hop in hops:
            if energy is not None and hop.copies.energy_pj is not None:
                energy += float(hop.copies.energy_pj.sum())
        return Cost(
            compute_cycles=compute,
            transfer_cycles=transfer,
            launch_cycles=launched,
            sync_cycles=model.layer_cycles(request.workload),
            overlapped_cycles=compute + launched + transfer - total,
            energy_pj=energy,
            model=self._model,
            bound=model.bound,
        )

    def nest(self, loops: tuple[TileLoop, ...]) -> Nest:
        """The pieces that the loops make."""
        if loops not in self._nests:
            self._nests[loops] = nest_of(loops)
        return self._nests[loops]

    def calls(self, loops: tuple[TileLoop, ...]) -> Calls:
        """All kernel calls."""
        if loops not in self._calls:
            workload, model, nest = self.request.workload, self.request.cost_model, self.nest(loops)
            sizes = nest.pieces[-1].sizes
            tile = {
                dim.name: sizes.get(dim.name, np.full(nest.steps, dim.size, dtype=np.int64)) for dim in workload.dims
            }
            kernel = np.asarray(model.kernel_cycles(workload, tile), dtype=np.int64)
            launch = np.asarray(model.launch_cycles(workload, tile), dtype=np.int64)
            energy = None if model.energy is None else float(model.energy.kernel_energy_pj(workload, tile).sum())
            self._calls[loops] = Calls(kernel, launch, energy)
        return self._calls[loops]

    def hops(self, loops: tuple[TileLoop, ...], placements: Sequence[Placement]) -> list[Hop]:
        """Every placement with its copies: operands in the workload's order, each from the outermost memory inwards."""
        request, workload, soc = self.request, self.request.workload, self.request.soc
        nest, whole = self.nest(loops), {dim.name: dim.size for dim in workload.dims}
        hops: list[Hop] = []
        for operand in workload.operands:
            streamed = operand.name in request.streamed
            far, out = (soc.store or soc.home if streamed else operand.far or soc.home), 0
            for placement in (placement for placement in placements if placement.operand == operand.name):
                if placement.depth < out:
                    raise ValueError(f"{operand.name}: depths decrease along the way")
                if placement.buffers == 2 and placement.memory != soc.home and request.overlap == "none":
                    raise ValueError(f"{operand.name}: two buffers, but copies block")
                tile = tile_at(loops, placement.depth, whole)
                route = Route(operand, far, placement.memory, tile_at(loops, out, whole), tile)
                key = (operand.name, placement.memory, loops[:out], loops[: placement.depth])
                if key not in self._copies:
                    pieces = nest.pieces[placement.depth]
                    self._copies[key] = copy_cycles(workload, request.cost_model, route, pieces)
                first = nest.first_steps(placement.depth)
                steps = np.append(first[1:], nest.steps) - 1 if operand.role == "output" else first
                hops.append(Hop(placement, route, self._copies[key], steps))
                far, out = placement.memory, placement.depth
        return hops


def _length(
    request: ScheduleRequest, hops: Sequence[Hop], kernel: Array, launch: Array, limit: int | None = None
) -> int:
    """Cycles from the first copy to the end of the last one."""
    near = [hop for hop in hops if hop.placement.memory != request.soc.home]
    moves = tuple(_move(hop, kernel.size, request.soc) for hop in near)
    steps = Steps(kernel, launch, moves, request.overlap)
    staged = [hop for hop in hops if hop.placement.memory == request.soc.home]
    if not staged:
        return length_of_first_loads(steps) + int(lengths(steps).sum())
    staging = tuple(
        Staging(
            next(n for n, other in enumerate(near) if other.route.operand is hop.route.operand),
            tuple(int(step) for step in hop.steps),
            tuple(zip(hop.copies.issue.tolist(), hop.copies.data.tolist(), hop.copies.wait.tolist(), strict=True)),
        )
        for hop in staged
    )
    return StagedRun(steps, staging).length(limit)


def _move(hop: Hop, steps: int, soc: Soc) -> Move:
    """The copies of a placement by step. A unit's DMA is one channel in each direction, wherever the tensors are."""

    def spread(values: Array) -> Array:
        result = np.zeros(steps, dtype=np.int64)
        result[hop.steps] = values
        return result

    present = np.zeros(steps, dtype=np.bool_)
    present[hop.steps] = True
    c, way = hop.copies, hop.route
    channel = (soc.home, way.near, way.direction)
    output = way.direction == "out"
    return Move(channel, output, hop.placement.buffers, present, spread(c.issue), spread(c.data), spread(c.wait))
