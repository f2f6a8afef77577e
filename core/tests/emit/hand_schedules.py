"""Schedules made by hand or by chance: loops and depths as told, buffers one behind the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from match_core.contract.cost import Cost
from match_core.contract.geometry import axis_tile, round_up, scratch_bytes
from match_core.contract.hardware import Link, Memory, Soc, Unit
from match_core.contract.loops import LoopSchedule, Placement, TileLoop
from match_core.contract.workload import Operand, Workload
from match_core.validate.schedule import schedule_faults

from core.tests.emit.layer_program import Case
from core.tests.emit.workloads import Problem

ALIGNMENT_BYTES = 16
#: Kernels read from ``near``; on the second unit weights have a memory of their own.
UNIT = Unit("array", "test unit", memory="near")
PRIVATE_UNIT = Unit("private", "test unit with a memory for weights", memory="near", private=(("weight", "own"),))
SOC = Soc(
    "chip",
    "test chip",
    "array",
    ("array", "private"),
    tuple(Memory(name, level, 1 << 20, ALIGNMENT_BYTES) for level, name in enumerate(("own", "near", "home", "store"))),
    (Link("dma", "near", "home", 8.0), Link("weights", "own", "home", 8.0), Link("flash", "home", "store", 1.0)),
    "home",
    store="store",
)
#: (depth, buffers) of an operand in one memory.
Where = tuple[int, Literal[1, 2]]


def loops_of(workload: Workload, cuts: Sequence[tuple[str, int]]) -> tuple[TileLoop, ...]:
    """Loops from (dimension, tile) pairs, outermost first."""
    left = {dim.name: dim.size for dim in workload.dims}
    loops = []
    for dim, tile in cuts:
        loops.append(TileLoop(dim, left[dim], tile))
        left[dim] = tile
    return tuple(loops)


def box_bytes(workload: Workload, operand: Operand, loops: Sequence[TileLoop]) -> int:
    """The most bytes that an operand's box has inside of these loops."""
    sizes = {dim.name: dim.size for dim in workload.dims}
    for loop in loops:
        sizes[loop.dim] = loop.tile
    elements = 1
    for axis in operand.axes:
        part = axis_tile(axis, {}, sizes)
        window = min(axis.size, part.extent + part.pad_before + part.pad_after)
        elements *= round_up(window, axis.round_up)
    return round_up(-(-elements * operand.element_bits // 8), ALIGNMENT_BYTES)


def hand_schedule(
    workload: Workload,
    cuts: Sequence[tuple[str, int]],
    near: Mapping[str, Where],
    stage: Mapping[str, Where] | None = None,
    private: Mapping[str, str] | None = None,
) -> LoopSchedule:
    """A schedule in memory ``near``; ``near`` and ``stage``: operand -> (depth, buffers) there and in memory ``home``.
    Operands that are not told are loaded for each kernel call into one buffer. ``private``: operand -> memory."""
    loops = loops_of(workload, cuts)
    placements: list[Placement] = []
    used: dict[str, int] = {}

    def place(operand: Operand, memory: str, where: Where) -> None:
        depth, buffers = where
        size = box_bytes(workload, operand, loops[:depth])
        placements.append(Placement(operand.name, memory, depth, used.get(memory, 0), size, buffers))
        used[memory] = used.get(memory, 0) + size * buffers

    for operand in workload.operands:
        if stage and operand.name in stage:
            place(operand, "home", stage[operand.name])
        place(operand, (private or {}).get(operand.name, "near"), near.get(operand.name, (len(loops), 1)))
    tile = {dim.name: dim.size for dim in workload.dims} | {loop.dim: loop.tile for loop in loops}
    scratch, offset = scratch_bytes(workload, tile), used.get("near", 0)
    used["near"] = offset + round_up(scratch, ALIGNMENT_BYTES)
    return LoopSchedule(
        loops, tuple(tile.items()), tuple(placements), offset, scratch, "near", tuple(used.items()), Cost()
    )


def faults(workload: Workload, schedule: LoopSchedule) -> tuple[str, ...]:
    """What the validator says."""
    private = any(placement.memory == "own" for placement in schedule.placements)
    unit = PRIVATE_UNIT if private else UNIT
    return schedule_faults(workload, schedule, unit, SOC, streamed=schedule.streamed("home"))


def random_cuts(random: np.random.Generator, workload: Workload, most_steps: int) -> list[tuple[str, int]]:
    """Loops by chance, over one dimension perhaps several times, with remainders."""
    made = {
        name for operand in workload.operands if operand.role == "output" for a in operand.axes for name, _ in a.terms
    }
    left = {dim.name: dim.size for dim in workload.dims}
    cuts, steps = [], 1
    for _ in range(int(random.integers(0, 6))):
        free = [
            dim
            for dim in workload.dims
            if dim.tileable and left[dim.name] > dim.granularity and (dim.name in made or workload.accumulates)
        ]
        if not free:
            break
        dim = free[int(random.integers(len(free)))]
        tile = int(random.integers(1, -(-left[dim.name] // dim.granularity))) * dim.granularity
        steps *= -(-left[dim.name] // tile)
        if steps > most_steps:
            break
        cuts.append((dim.name, tile))
        left[dim.name] = tile
    return cuts


def random_case(random: np.random.Generator, problem: Problem, most_steps: int = 60) -> Case | None:
    """A legal schedule by chance; None where a few tries find none."""
    workload = problem.workload
    asynchronous, blocking = bool(random.integers(4)), not random.integers(8)
    private = {"weight": "own"} if "weight" in problem.operands and not random.integers(4) else {}
    for _ in range(20):
        cuts = random_cuts(random, workload, most_steps)
        near: dict[str, Where] = {}
        stage: dict[str, Where] = {}
        for operand in workload.operands:
            depth = int(random.integers(0, len(cuts) + 1))
            near[operand.name] = (depth, 2 if depth and not blocking and random.integers(3) else 1)
            if operand.role == "constant" and not random.integers(3):
                stage_depth = int(random.integers(0, depth + 1))
                stage[operand.name] = (stage_depth, 2 if stage_depth else 1)
        schedule = hand_schedule(workload, cuts, near, stage, private)
        for fault in faults(workload, schedule):  # a buffer that is no block becomes that of one kernel call
            name = fault.split(":")[0]
            if name in near:
                near[name] = (len(cuts), near[name][1])
        schedule = hand_schedule(workload, cuts, near, stage, private)
        if not faults(workload, schedule):
            return Case(problem, schedule, asynchronous, blocking)
    return None
