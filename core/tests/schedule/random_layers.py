"""Random workloads, chips, cost models and hand-made schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from hypothesis import strategies as st
from match_concurrent.share import divisible, restricted
from match_core.contract.cost import Bound, Cost, EnergyModel, Overlap, TransferCycles, TransferShape
from match_core.contract.hardware import Link, Memory, Soc, Unit
from match_core.contract.loops import LoopSchedule, Placement, TileLoop
from match_core.contract.workload import Axis, Dim, Operand, Workload
from numpy.typing import NDArray

from core.tests.schedule.literal_steps import RunError, box_of, steps_of

Cycles = NDArray[np.int64]
Tile = Mapping[str, Cycles]
ALIGNMENT = 4


def axes(*sizes: tuple[str, int]) -> tuple[Axis, ...]:
    """Axes that each follow one dimension."""
    return tuple(Axis(name.lower(), size, ((name, 1),)) for name, size in sizes)


@st.composite
def convolutions(draw: st.DrawFn) -> Workload:
    """Standard and depthwise, with stride, padding, dilation, packed weights; some add up cut reductions."""
    depthwise, accumulates = draw(st.booleans()), draw(st.booleans())
    channels, outputs = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    fy, fx = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    stride, dilation = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    oy, ox = draw(st.integers(1, 7)), draw(st.integers(1, 7))

    def spatial(name: str, out: int, taps: int) -> Axis:
        window = (out - 1) * stride + (taps - 1) * dilation + 1
        before = draw(st.integers(0, min(taps - 1, window - 1)))
        after = draw(st.integers(0, min(taps - 1, window - 1 - before)))
        terms = ((f"O{name}", stride), (f"F{name}", dilation))
        return Axis(name.lower(), window - before - after, terms, before)

    window = (spatial("Y", oy, fy), spatial("X", ox, fx))
    group = draw(st.sampled_from([1, 1, 2, 4]))
    k = Axis("k", outputs, (("K", 1),), round_up=group)
    taps = axes(("FY", fy), ("FX", fx))
    dims = [Dim("K", outputs, granularity=group), Dim("OY", oy), Dim("OX", ox)]
    dims += [Dim("FY", fy, tileable=accumulates), Dim("FX", fx, tileable=accumulates)]
    if depthwise:
        plane = axes(("K", outputs))
        source, weight = draw(st.sampled_from([(*window, *plane), (*plane, *window)])), (k, *taps)
    else:
        dims.append(Dim("C", channels, tileable=accumulates))
        source, weight = (*window, *axes(("C", channels))), (k, *taps, *axes(("C", channels)))
    operands = (
        Operand("x", "input", source, draw(st.sampled_from([8, 16]))),
        Operand("w", "constant", weight),
        Operand("y", "output", axes(("OY", oy), ("OX", ox), ("K", outputs)), 32),
    )
    scratch = draw(st.sampled_from([(), (((), 12),), ((("OX",), 3),), ((("K", "OX"), 1), ((), 5))]))
    return Workload("conv", tuple(dims), operands, 0, scratch=scratch, accumulates=accumulates)


@st.composite
def products(draw: st.DrawFn) -> Workload:
    """Products of matrices; some add up cut reductions."""
    n, k, c = (draw(st.integers(1, 12)) for _ in range(3))
    transposed = draw(st.booleans())
    operands = (
        Operand("x", "input", axes(("N", n), ("C", c))),
        Operand("w", "constant", axes(("C", c), ("K", k)) if transposed else axes(("K", k), ("C", c)), 16),
        Operand("y", "output", axes(("N", n), ("K", k)), 32),
    )
    accumulates = draw(st.booleans())
    dims = (Dim("N", n), Dim("K", k), Dim("C", c, tileable=accumulates))
    return Workload("product", dims, operands, 0, accumulates=accumulates)


@st.composite
def elementwise(draw: st.DrawFn) -> Workload:
    """Two inputs of one shape; the result's axes in any order."""
    sizes = [(name, draw(st.integers(1, 8))) for name in "YXC"]
    order = draw(st.permutations(sizes))
    dims = tuple(Dim(name, size) for name, size in sizes)
    return Workload(
        "elementwise",
        dims,
        (
            Operand("a", "input", axes(*sizes)),
            Operand("b", "input", axes(*sizes), 16),
            Operand("y", "output", axes(*order), 32),
        ),
        0,
    )


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    """Layers of every kind, some of them shares of a layer."""
    workload = draw(st.one_of(convolutions(), products(), elementwise()))
    kinds = divisible(workload)
    if not kinds or draw(st.integers(0, 2)):
        return workload
    kind = draw(st.sampled_from(kinds))
    first = draw(st.sampled_from(range(0, kind.size, kind.granularity)))
    size = draw(st.integers(1, kind.size - first))
    return restricted(workload, kind.dim, first, size)


@dataclass(frozen=True)
class RandomModel:
    """Kernels work in blocks of lanes; copies pay per command, plane, row and byte."""

    lanes: tuple[int, ...] = (4, 2, 3)
    launch: int = 20
    command: int = 15
    row: int = 2
    bytes_per_cycle: int = 4
    blocks: bool = False
    overlap: Overlap = "all"
    name: str = "random"
    version: str = "1"
    bound: Bound = "fitted"
    energy: EnergyModel | None = None

    def kernel_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        cycles = np.full_like(tile[workload.dims[0].name], 3)
        for position, dim in enumerate(workload.dims):
            cycles = cycles * -(-tile[dim.name] // self.lanes[position % len(self.lanes)])
        return cycles

    def launch_cycles(self, workload: Workload, tile: Tile) -> Cycles:
        return np.full_like(tile[workload.dims[0].name], self.launch)

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        data = transfer.planes * (3 + transfer.rows * (self.row - (-transfer.row_bytes // self.bytes_per_cycle)))
        wait = np.full_like(data, 4 if transfer.direction == "out" else 6)
        return TransferCycles(np.full_like(data, self.command), data, wait)

    def layer_cycles(self, workload: Workload) -> int:
        return 50


@st.composite
def models(draw: st.DrawFn) -> RandomModel:
    """Fast and slow units, cheap and dear copies."""
    return RandomModel(
        lanes=tuple(draw(st.lists(st.sampled_from([1, 2, 3, 4, 8]), min_size=1, max_size=6))),
        launch=draw(st.sampled_from([0, 5, 100])),
        command=draw(st.sampled_from([0, 10, 200])),
        row=draw(st.integers(0, 8)),
        bytes_per_cycle=draw(st.sampled_from([1, 4, 8])),
        overlap=draw(st.sampled_from(["all", "data", "none"])),
    )


def chip(private_weights: bool, store: bool, near_bytes: int = 1 << 20, home_bytes: int = 1 << 24) -> tuple[Soc, Unit]:
    """A unit with memory ``near``, with weights in a memory of their own or not, and maybe a store behind home."""
    memories = [Memory("near", 1, near_bytes, ALIGNMENT), Memory("home", 2, home_bytes, ALIGNMENT)]
    links = [Link("dma", "near", "home", 8.0)]
    if private_weights:
        memories.append(Memory("weights", 1, near_bytes, ALIGNMENT))
        links.append(Link("weight_dma", "weights", "home", 4.0))
    if store:
        memories.append(Memory("store", 3, 1 << 28, ALIGNMENT))
        links.append(Link("slow", "home", "store", 1.0))
    unit = Unit("array", "", "near", private=(("constant", "weights"),) if private_weights else ())
    soc = Soc("chip", "", "host", ("host", "array"), tuple(memories), tuple(links), "home")
    return (soc if not store else _with_store(soc)), unit


def _with_store(soc: Soc) -> Soc:
    return Soc(soc.name, "", soc.host, soc.units, soc.memories, soc.links, soc.home, store="store")


def up(value: int, multiple: int = ALIGNMENT) -> int:
    """Rounded up to a multiple."""
    return -(-value // multiple) * multiple


@st.composite
def hand_made(draw: st.DrawFn, workload: Workload, soc: Soc, unit: Unit, overlap: Overlap) -> LoopSchedule:
    """Loops, depths and buffers drawn at random, sizes and places as they have to be. Not all of them can run."""
    loops: list[TileLoop] = []
    left = {dim.name: dim.size for dim in workload.dims}
    for _ in range(draw(st.integers(0, 5))):
        open_dims = [
            dim for dim in workload.dims if left[dim.name] > 1 and (dim.tileable or draw(st.integers(0, 9)) == 0)
        ]
        if not open_dims:
            break
        dim = draw(st.sampled_from(open_dims))
        size = left[dim.name]
        grains = (size - 1) // dim.granularity
        if grains == 0:
            continue
        step = draw(st.integers(1, grains)) * dim.granularity
        loops.append(TileLoop(dim.name, size, step))
        left[dim.name] = step
    placements: list[tuple[Operand, str, int, Literal[1, 2]]] = []
    for operand in workload.operands:
        buffers: Literal[1, 2] = 2 if overlap != "none" and draw(st.booleans()) else 1
        depth = draw(st.integers(0, len(loops)))
        memory = unit.memory_of(operand.name, operand.role)
        assert memory is not None
        if soc.store is not None and operand.role == "constant":
            outer = draw(st.integers(0, depth))
            placements.append((operand, soc.home, outer, 2 if outer else 1))
        placements.append((operand, memory, depth, buffers))
    return assemble(workload, soc, unit, loops, placements)


def assemble(
    workload: Workload,
    soc: Soc,
    unit: Unit,
    loops: Sequence[TileLoop],
    placements: Sequence[tuple[Operand, str, int, Literal[1, 2]]],
) -> LoopSchedule:
    """A schedule with buffers as large as their pieces, one behind the other."""
    left = {dim.name: dim.size for dim in workload.dims}
    left.update({loop.dim: loop.tile for loop in loops})
    draft = LoopSchedule(tuple(loops), tuple(left.items()), (), 0, 0, unit.memory, (), Cost())
    used = {unit.memory or "": 0}
    placed = []
    steps = list(steps_of(workload, draft))
    for operand, memory, depth, buffers in placements:
        size = 1
        for step in steps:
            try:
                extent = int(np.prod(box_of(operand, step.pieces[depth]).extent))
            except RunError:
                continue
            size = max(size, extent * operand.element_bits // 8)
        offset, size = used.get(memory, 0), up(size)
        placed.append(Placement(operand.name, memory, depth, offset, size, buffers))
        used[memory] = offset + size * buffers
    scratch = sum(c * int(np.prod([left[name] for name in names])) for names, c in workload.scratch)
    start = used[unit.memory or ""]
    used[unit.memory or ""] = up(start + scratch)
    return LoopSchedule(
        tuple(loops), tuple(left.items()), tuple(placed), start, scratch, unit.memory, tuple(used.items()), Cost()
    )
