"""Workloads, a cost model with all its terms, and a plain replay of a schedule's cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import strategies as st
from match_core.contract.cost import TransferCycles, TransferShape
from match_core.contract.hardware import Link, Memory, Soc, Unit
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.contract.workload import Axis, Dim, Operand, Workload

from core.tests.schedule import tile_copies


def conv2d(k=8, c=4, oy=8, ox=8, f=3, stride=1, pad=1, dilation=1, after=None, scratch=((), 0)) -> Workload:
    """NHWC convolution; ``after`` is the padding at the ends (as ``pad`` if None)."""
    after = pad if after is None else after

    def size(out: int) -> int:
        return (out - 1) * stride + (f - 1) * dilation + 1 - pad - after

    dims = (
        Dim("K", k),
        Dim("OY", oy),
        Dim("OX", ox),
        Dim("C", c, tileable=False),
        Dim("FY", f, tileable=False),
        Dim("FX", f, tileable=False),
    )
    operands = (
        Operand(
            "x",
            "input",
            (
                Axis("y", size(oy), (("OY", stride), ("FY", dilation)), pad),
                Axis("x", size(ox), (("OX", stride), ("FX", dilation)), pad),
                Axis("c", c, (("C", 1),)),
            ),
        ),
        Operand(
            "w",
            "constant",
            tuple(Axis(n.lower(), s, ((n, 1),)) for n, s in (("K", k), ("FY", f), ("FX", f), ("C", c))),
        ),
        Operand("bias", "constant", (Axis("k", k, (("K", 1),)),), 32),
        Operand("y", "output", tuple(Axis(n.lower(), s, ((n, 1),)) for n, s in (("OY", oy), ("OX", ox), ("K", k)))),
    )
    return Workload("conv2d", dims, operands, k * c * oy * ox * f * f, scratch=(scratch,))


def depthwise(c=16, oy=8, ox=8, f=3, stride=1, pad=1) -> Workload:
    """NCHW input, NHWC output, weights packed in groups of eight channels."""

    def size(out: int) -> int:
        return (out - 1) * stride + f - 2 * pad

    operands = (
        Operand(
            "x",
            "input",
            (
                Axis("c", c, (("C", 1),)),
                Axis("y", size(oy), (("OY", stride), ("FY", 1)), pad),
                Axis("x", size(ox), (("OX", stride), ("FX", 1)), pad),
            ),
        ),
        Operand("w", "constant", (Axis("c", c, (("C", 1),), round_up=8), Axis("f", f * f))),
        Operand("y", "output", tuple(Axis(n.lower(), s, ((n, 1),)) for n, s in (("OY", oy), ("OX", ox), ("C", c)))),
    )
    dims = (
        Dim("C", c, granularity=8),
        Dim("OY", oy),
        Dim("OX", ox),
        Dim("FY", f, tileable=False),
        Dim("FX", f, tileable=False),
    )
    return Workload("depthwise", dims, operands, c * oy * ox * f * f, scratch=((("C",), 2),))


def linear(k=10, c=64, bits=8) -> Workload:
    """Dense layer, whose reduction is declared tileable to see that it is not cut."""
    operands = (
        Operand("x", "input", (Axis("c", c, (("C", 1),)),)),
        Operand("w", "constant", (Axis("k", k, (("K", 1),)), Axis("c", c, (("C", 1),))), bits),
        Operand("y", "output", (Axis("k", k, (("K", 1),)),)),
    )
    return Workload("linear", (Dim("K", k), Dim("C", c)), operands, k * c)


def add(c=8, y=6, x=5) -> Workload:
    """Elementwise sum."""
    axes = tuple(Axis(n.lower(), s, ((n, 1),)) for n, s in (("Y", y), ("X", x), ("C", c)))
    operands = (Operand("a", "input", axes), Operand("b", "input", axes), Operand("o", "output", axes))
    return Workload("add", (Dim("Y", y), Dim("X", x), Dim("C", c)), operands, 0)


@dataclass(frozen=True)
class TestModel:
    """Kernels work on 4 x 2 x 3 blocks; copies pay per command, plane, row and byte; nothing is linear."""

    __test__ = False
    name: str = "test"
    version: str = "1"
    bound: str = "fitted"
    overlap: str = "all"
    energy: object = None
    setup: int = 40

    def kernel_cycles(self, workload: Workload, tile: Mapping[str, np.ndarray]) -> np.ndarray:
        cycles = np.full_like(tile[workload.dims[0].name], 3)
        for block, dim in zip((4, 2, 3, 1, 1, 1), workload.dims, strict=False):
            cycles = cycles * -(-tile[dim.name] // block)
        return cycles

    def launch_cycles(self, workload: Workload, tile: Mapping[str, np.ndarray]) -> np.ndarray:
        return 10 + tile[workload.dims[0].name] // 5

    def transfer_cycles(self, workload: Workload, transfer: TransferShape) -> TransferCycles:
        words = -(-transfer.row_bytes // 8)
        out = 7 if transfer.direction == "out" else 0
        data = transfer.planes * (9 + transfer.rows * (2 + words))
        return TransferCycles(np.full_like(data, self.setup), data, np.full_like(data, out))

    def layer_cycles(self, workload: Workload) -> int:
        return 100


def request_for(workload: Workload, memory_bytes: int, alignment=4, model=None, unit_memory="l1") -> ScheduleRequest:
    soc = Soc(
        name="chip",
        description="",
        host="host",
        units=("host", "acc"),
        memories=(Memory("l1", 1, 1 << 17, alignment), Memory("l2", 2, 1 << 20)),
        links=(Link("dma", "l1", "l2", 8),),
        home="l2",
    )
    unit = Unit("acc", "", unit_memory)
    return ScheduleRequest(soc, unit, "pattern", workload, model or TestModel(), memory_bytes)


def tiles_of(schedule: LoopSchedule):
    """(starts, sizes, counters) of every tile in loop order."""
    whole = dict(schedule.tile)
    for counters in product(*(range(loop.steps) for loop in schedule.loops)):
        starts, sizes = dict.fromkeys(whole, 0), dict(whole)
        for loop, counter in zip(schedule.loops, counters, strict=True):
            starts[loop.dim] = counter * loop.tile
            sizes[loop.dim] = min(loop.tile, loop.size - starts[loop.dim])
        yield starts, sizes, counters


def replay_cost(request: ScheduleRequest, schedule: LoopSchedule) -> tuple[int, int, int]:
    """(compute, launch, transfer) cycles by walking the loops and asking the model about one tile at a time."""
    workload, model = request.workload, request.cost_model
    whole = {dim.name: dim.size for dim in workload.dims}
    compute = launch = transfer = 0
    held: dict[str, tuple[int, ...]] = {}
    for starts, sizes, counters in tiles_of(schedule):
        one = {name: np.array([size]) for name, size in sizes.items()}
        compute += int(model.kernel_cycles(workload, one)[0])
        launch += int(model.launch_cycles(workload, one)[0])
        for placement in schedule.placements:
            if held.get(placement.operand) == counters[: placement.depth]:
                continue
            held[placement.operand] = counters[: placement.depth]
            operand = workload.operand(placement.operand)
            extents = tile_copies.tile_extents(operand, starts, sizes)
            moved = tile_copies.transfer_of(operand, extents, dict(schedule.tile), whole)
            times = 1
            for count, _ in moved.repeats:
                times *= count
            shape = TransferShape(
                "out" if operand.role == "output" else "in",
                np.array([moved.row_bytes]),
                np.array([moved.rows]),
                np.array([moved.planes]),
            )
            parts = model.transfer_cycles(workload, shape)
            transfer += times * int(parts.issue[0] + parts.data[0] + parts.wait[0])
    return compute, launch, transfer


@st.composite
def workloads(draw) -> Workload:
    """Small workloads of every kind, with strides, padding, dilation and remainders."""
    kind = draw(st.sampled_from(["conv", "depthwise", "linear", "add", "pool"]))
    small = st.integers(1, 9)
    if kind == "linear":
        return linear(draw(st.integers(1, 40)), draw(st.integers(1, 40)))
    if kind == "add":
        return add(draw(small), draw(small), draw(small))
    f = draw(st.integers(1, 4))
    stride = draw(st.integers(1, 3))
    pad = draw(st.integers(0, f))
    oy, ox = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    if (min(oy, ox) - 1) * stride + f - 2 * pad < 1:
        pad = 0
    if kind in ("depthwise", "pool"):
        return depthwise(draw(st.integers(1, 33)), oy, ox, f, stride, pad)
    dilation = draw(st.integers(1, 2))
    after = draw(st.integers(0, pad))
    scratch = draw(st.sampled_from([((), 0), ((), 24), (("OX",), 3), (("K", "OX"), 1)]))
    return conv2d(draw(small), draw(small), oy, ox, f, stride, pad, dilation, after, scratch)


@pytest.fixture
def lab() -> SimpleNamespace:
    """Everything above, for the tests of this folder."""
    return SimpleNamespace(
        conv2d=conv2d,
        depthwise=depthwise,
        linear=linear,
        add=add,
        model=TestModel,
        request_for=request_for,
        replay_cost=replay_cost,
        tiles_of=tiles_of,
        workloads=workloads,
    )
