"""Runs a schedule literally, on bytes: copies happen as late as they may, kernels see dense tiles only.

Written from docs/scheduling.md and sharing no code with the scheduler, the validator or the emitter. A workload's
result is the product of its inputs, summed over the dimensions that its output does not have, modulo the width of the
output; padding reads as 0. ``RunError`` where a schedule does something that hardware could not do; whether the result
is right is for the caller to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from match_core.contract.cost import Overlap
from match_core.contract.loops import LoopSchedule, Placement
from match_core.contract.workload import Operand, Workload
from numpy.typing import NDArray

from core.tests.schedule.literal_steps import (
    TYPES,
    Box,
    RunError,
    Values,
    box_of,
    compute,
    direct,
    far_shape,
    random_data,
    steps_of,
)

Bytes = NDArray[np.uint8]
POISON = 0xA5


@dataclass
class Result:
    """The output and how often each of its elements was stored."""

    values: Values
    stores: NDArray[np.int64]
    calls: int


@dataclass
class Buffer:
    """The buffers of one placement: which one is in use and what is in it."""

    placement: Placement
    memory: Bytes
    which: int = -1
    box: Box | None = None

    def next(self) -> int:
        return (self.which + 1) % self.placement.buffers

    def view(self, which: int, box: Box, bits: int) -> Values:
        """The tile in a buffer, dense and row-major."""
        size = int(np.prod(box.extent)) * bits // 8
        if size > self.placement.size_bytes:
            raise RunError(f"{self.placement.operand}: {size} bytes in a buffer of {self.placement.size_bytes}")
        start = self.placement.offset_bytes + which * self.placement.size_bytes
        if start < 0 or start + size > self.memory.size:
            raise RunError(f"{self.placement.operand}: beyond the working set of {self.placement.memory}")
        return self.memory[start : start + size].view(TYPES[bits]).reshape(box.extent)


@dataclass
class Queue:
    """Copies in flight: they read and write when somebody waits for them."""

    copies: list[Callable[[], None]] = field(default_factory=list)

    def wait(self) -> None:
        for copy in self.copies:
            copy()
        self.copies.clear()


def window(outer: Box, inner: Box) -> tuple[slice, ...]:
    """Where a part lies in the box that holds it."""
    places = []
    for have, held, first, extent in zip(outer.first, outer.extent, inner.first, inner.extent, strict=True):
        if first < have or first - have + extent > held:
            raise RunError(f"{inner} is not in {outer}")
        places.append(slice(first - have, first - have + extent))
    return tuple(places)


class Run:
    """One layer on one unit."""

    def __init__(
        self, workload: Workload, schedule: LoopSchedule, data: Mapping[str, Values], overlap: Overlap
    ) -> None:
        self.workload, self.schedule, self.overlap = workload, schedule, overlap
        (self.output,) = (o for o in workload.operands if o.role == "output")
        self.far = dict(data)
        self.far[self.output.name] = np.zeros(far_shape(self.output), dtype=TYPES[self.output.element_bits])
        self.stores = np.zeros(far_shape(self.output), dtype=np.int64)
        memories = {name: np.full(size, POISON, np.uint8) for name, size in schedule.working_bytes}
        self.ways: dict[str, list[Buffer]] = {}
        for placement in schedule.placements:
            self.ways.setdefault(placement.operand, []).append(Buffer(placement, memories[placement.memory]))
        self.queue, self.staging = Queue(), Queue()
        self.steps = list(steps_of(workload, schedule))
        self.loaded: dict[str, tuple[int, Box]] = {}

    def run(self) -> Result:
        """All steps, by the page's list."""
        inputs = [o for o in self.workload.operands if o.role != "output"]
        double = {o.name: self.ways[o.name][-1].placement.buffers == 2 for o in self.workload.operands}
        late = double[self.output.name]
        for operand in inputs:
            self._load(operand, 0)
        for n in range(len(self.steps)):
            for operand in inputs:
                if n > 0 and not double[operand.name]:
                    self._load(operand, n)
            self.queue.wait()

            def beside(n: int = n) -> None:
                for operand in inputs:
                    if double[operand.name] and n + 1 < len(self.steps):
                        self._load(operand, n + 1)
                if late and n > 0:
                    self._store(n - 1)

            kernel = self._prepare(n)
            if self.overlap == "none" and any(double.values()):
                raise RunError("two buffers where copies block")
            beside()
            kernel()
            if not late:
                self._store(n)
        if late:
            self._store(len(self.steps) - 1)
        self.queue.wait()
        return Result(self.far[self.output.name], self.stores, len(self.steps))

    def _goes_on(self, n: int, depth: int) -> bool:
        return n == 0 or self.steps[n].moved < depth

    def _load(self, operand: Operand, n: int) -> None:
        """Issue the load for step n, if there is one."""
        way = self.ways[operand.name]
        near = way[-1]
        if not self._goes_on(n, near.placement.depth):
            return
        if len(way) > 2:
            raise RunError("a chain of more than two memories")
        source, held = self.far[operand.name], box_of(operand, self.steps[0].pieces[0])
        staged = len(way) == 2 and self._goes_on(n, way[0].placement.depth)
        if staged:
            if n == 0:
                self._stage(operand, 0)
            self.staging.wait()
            way[0].which, way[0].box = way[0].next(), box_of(operand, self.steps[n].pieces[way[0].placement.depth])
        if len(way) == 2:
            held = way[0].box or held
            source = way[0].view(way[0].which, held, operand.element_bits)
        box = box_of(operand, self.steps[n].pieces[near.placement.depth])
        self._copy(self.queue, source[window(held, box)], near.view(near.next(), box, operand.element_bits))
        self.loaded[operand.name] = (near.next(), box)
        if staged:
            depth = way[0].placement.depth
            following = (m for m in range(n + 1, len(self.steps)) if self._goes_on(m, depth))
            for m in list(following)[:1]:
                self._stage(operand, m)

    def _stage(self, operand: Operand, n: int) -> None:
        stage = self.ways[operand.name][0]
        box = box_of(operand, self.steps[n].pieces[stage.placement.depth])
        whole = box_of(operand, self.steps[0].pieces[0])
        target = stage.view(stage.next(), box, operand.element_bits)
        self._copy(self.staging, self.far[operand.name][window(whole, box)], target)

    def _copy(self, queue: Queue, source: Values, target: Values) -> None:
        target.view(np.uint8)[...] = POISON

        def copy() -> None:
            target[...] = source

        queue.copies.append(copy)
        if self.overlap == "none":
            queue.wait()

    def _prepare(self, n: int) -> Callable[[], None]:
        """Step n's kernel with its addresses; it runs when it is called."""
        step = self.steps[n]
        sizes = {name: size for name, (_, size) in step.pieces[-1].items()}
        self._check_sizes(sizes)
        if not step.first and not self.workload.accumulates:
            raise RunError("kernels of this workload do not add to what is there")
        for name, (which, box) in self.loaded.items():
            self.ways[name][-1].which, self.ways[name][-1].box = which, box
        self.loaded.clear()
        result = self.ways[self.output.name][-1]
        if self._goes_on(n, result.placement.depth):
            result.which, result.box = result.next(), box_of(self.output, step.pieces[result.placement.depth])
        boxes = {o.name: box_of(o, step.pieces[-1]) for o in self.workload.operands}
        tiles = {o.name: self._tile(o, boxes[o.name]) for o in self.workload.operands}

        def kernel() -> None:
            out = tiles[self.output.name]
            if step.first:
                out[...] = 0
            compute(self.workload, tiles, out, boxes, sizes)

        return kernel

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        for dim in self.workload.dims:
            if sizes[dim.name] != dim.size and not dim.tileable:
                raise RunError(f"{dim.name} is cut")
        for name, size in sizes.items():
            if size > dict(self.schedule.tile)[name]:
                raise RunError(f"{name}: {size} is more than the tile")

    def _tile(self, operand: Operand, box: Box) -> Values:
        """The tile of a kernel: one block of the operand's buffer."""
        buffer = self.ways[operand.name][-1]
        if buffer.box is None:
            raise RunError(f"{operand.name} was never loaded")
        for axis, first, extent in zip(operand.axes, box.first, box.extent, strict=True):
            if first % axis.round_up or (first + extent) % axis.round_up:
                raise RunError(f"{operand.name}: a group of axis {axis.name} is cut")
        places = np.arange(int(np.prod(buffer.box.extent))).reshape(buffer.box.extent)[window(buffer.box, box)]
        flat = places.reshape(-1)
        if any(b - a != 1 for a, b in pairwise(flat.tolist())):
            raise RunError(f"{operand.name}: the tile is not one block")
        held = buffer.view(buffer.which, buffer.box, operand.element_bits)
        return held.reshape(-1)[flat[0] : flat[0] + flat.size].reshape(box.extent)

    def _store(self, n: int) -> None:
        """Issue the store after step n, if there is one."""
        buffer = self.ways[self.output.name][-1]
        last = n == len(self.steps) - 1
        if not last and not self._goes_on(n + 1, buffer.placement.depth):
            return
        # The store of a double buffer is issued while the next step, if there is one, fills the other one.
        switched = 1 if buffer.placement.buffers == 2 and not last else 0
        box = box_of(self.output, self.steps[n].pieces[buffer.placement.depth])
        which = (buffer.which - switched) % buffer.placement.buffers
        source = buffer.view(which, box, self.output.element_bits)
        place = window(box_of(self.output, self.steps[0].pieces[0]), box)
        target = self.far[self.output.name][place]
        self.stores[place] += 1

        def copy() -> None:
            target[...] = source

        self.queue.copies.append(copy)
        if self.overlap == "none":
            self.queue.wait()


def run_schedule(
    workload: Workload, schedule: LoopSchedule, data: Mapping[str, Values], overlap: Overlap = "all"
) -> Result:
    """Run all steps and return what the far memory holds in the end."""
    return Run(workload, schedule, data, overlap).run()


def is_right(workload: Workload, schedule: LoopSchedule, seed: int = 0, overlap: Overlap = "all") -> bool:
    """Whether the schedule can run, stores every element once, and the result is that of the direct computation."""
    data = random_data(workload, seed)
    try:
        result = run_schedule(workload, schedule, data, overlap)
    except RunError:
        return False
    return bool((result.stores == 1).all() and np.array_equal(result.values, direct(workload, data)))
