"""Operators on tensors of rows and columns, units whose costs are formulas, and a scheduler that knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import onnx_graphsurgeon as gs
from match_core.contract.candidate import Candidate
from match_core.contract.cost import Cost
from match_core.contract.hardware import Memory, Signalling, Soc, Unit
from match_core.contract.loops import LoopSchedule, ScheduleRequest
from match_core.contract.mapping import Assignment
from match_core.contract.model import Model
from match_core.contract.pattern import Pattern
from match_core.contract.scheduling import ScheduleInfeasible
from match_core.contract.structure import Any as AnyTensor
from match_core.contract.structure import Match, Op
from match_core.contract.workload import Axis, Dim, Operand, Workload
from match_core.schedule.candidates import Scheduler

SIGNALLING = Signalling("poll", post_cycles=3, wake_cycles=5, notify_cycles=4, task_cycles=2)
PATTERN = Pattern("rows", "", Op("Op", "op", (AnyTensor("in0"),)), (), lambda match: workload(1, 1))
#: The price of two units together, and the name of the pattern that occupies both.
BOTH = "both"


def workload(rows: int, columns: int, inputs: int = 1, halo: int = 0, granularity: int = 1) -> Workload:
    """Output row r reads input rows r - halo to r + halo of every input, and all columns of them."""
    taps = 2 * halo + 1
    source = (Axis("y", rows, (("OY", 1), ("FY", 1)), halo) if halo else Axis("y", rows, (("OY", 1),)),)
    columns_in = Axis("c", columns, (("C", 1),))
    operands = tuple(Operand(f"in{n}", "input", (*source, columns_in)) for n in range(inputs))
    output = Operand("out", "output", (Axis("oy", rows, (("OY", 1),)), Axis("k", columns, (("K", 1),))))
    dims = (
        Dim("OY", rows, granularity=granularity),
        Dim("K", columns),
        Dim("C", columns, tileable=False),
        *((Dim("FY", taps, tileable=False),) if halo else ()),
    )
    return Workload("rows", dims, (*operands, output), rows * columns * columns * taps)


@dataclass(frozen=True)
class Price:
    """Cycles of a task: a fixed part, and so many thousandths of a cycle for each multiply-accumulate."""

    fixed: int
    per_thousand: int
    energy_per_cycle: float = 1.0

    def cost(self, work: Workload) -> Cost:
        """The cost of a workload."""
        cycles = self.fixed + -(-work.macs * self.per_thousand // 1000)
        return Cost(compute_cycles=cycles, energy_pj=cycles * self.energy_per_cycle)


@dataclass(frozen=True, repr=False)
class Lab:
    """A model, what is offered for it, and the scheduler; ``prices`` by unit."""

    model: Model
    offered: tuple[Assignment, ...]
    scheduler: RowScheduler


@dataclass(frozen=True)
class RowScheduler(Scheduler):
    """Answers by formula, that of BOTH for two units together; ``unfit``: units on which no share has a schedule.
    ``asked`` collects requests."""

    prices: Mapping[str, Price] = field(default_factory=dict)
    unfit: frozenset[str] = frozenset()
    asked: list[Candidate] = field(default_factory=list)

    def request(self, candidate: Candidate, streamed: tuple[str, ...] = (), staging_bytes: int = 0) -> ScheduleRequest:
        return cast(ScheduleRequest, candidate)

    def price(self, candidate: Candidate) -> Price:
        """Of its unit, or of two units together."""
        return self.prices[BOTH if candidate.pattern.occupies else candidate.unit]

    def answers(self, requests: Sequence[ScheduleRequest]) -> tuple[LoopSchedule | ScheduleInfeasible, ...]:
        candidates = [cast(Candidate, request) for request in requests]
        self.asked.extend(candidates)
        return tuple(
            ScheduleInfeasible("l1", 2, 1)
            if candidate.unit in self.unfit
            else schedule_of(
                self.prices[BOTH if candidate.pattern.occupies else candidate.unit].cost(candidate.workload)
            )
            for candidate in candidates
        )


def schedule_of(cost: Cost) -> LoopSchedule:
    return LoopSchedule((), (), (), 0, 0, None, (), cost)


def lab(
    graph: Mapping[str, Sequence[str]],
    prices: Mapping[str, Price],
    *,
    rows: int = 4,
    columns: int = 4,
    halo: int = 0,
    objective: Any = "latency",
    only: Mapping[str, Sequence[str]] | None = None,
    signalling: Signalling = SIGNALLING,
    unfit: frozenset[str] = frozenset(),
    granularity: Mapping[str, int] | None = None,
    both: tuple[str, str, Price] | None = None,
) -> Lab:
    """``graph``: node names -> names of the nodes they read ("in" is the graph input). The first unit is the host;
    ``only``: units that can run a node, where not all can; ``both``: what the first of these units runs, the second one
    can run too while both are busy, at this price."""
    model = _model(graph, rows, columns)
    units = tuple(Unit(name, "", memory=None if n == 0 else "l1") for n, name in enumerate(prices))
    names = tuple(prices)
    soc = Soc(
        "soc", "", names[0], names, (Memory("home", 2, 1 << 20), Memory("l1", 1, 1 << 16)), (), "home",
        signalling=signalling, mode="concurrent",
    )  # fmt: skip
    plugins = SimpleNamespace(emit_api=lambda soc, unit: SimpleNamespace(queue=object()))
    known = {**prices, BOTH: both[2]} if both is not None else prices
    scheduler = RowScheduler(soc, units, objective, cast(Any, plugins), cast(Any, None), prices=known, unfit=unfit)
    offered: list[Assignment] = []
    for unit, price in prices.items():
        pattern = replace(PATTERN, joint=(both[1], BOTH)) if both is not None and both[0] == unit else PATTERN
        for node in model.graph.nodes:
            if only is None or unit in only.get(node.name, names):
                work = workload(rows, columns, len(node.inputs), halo, (granularity or {}).get(unit, 1))
                captures = {f"in{n}": tensor for n, tensor in enumerate(node.inputs)}
                candidate = Candidate(len(offered), unit, pattern, Match((node,), captures), work)
                offered.append(Assignment(candidate, schedule_of(price.cost(work))))
    return Lab(model, tuple(offered), scheduler)


def _model(graph: Mapping[str, Sequence[str]], rows: int, columns: int) -> Model:
    source = gs.Variable("in", np.uint8, [rows, columns])
    made = {name: gs.Variable(f"{name}_out", np.uint8, [rows, columns]) for name in graph}
    nodes = [
        gs.Node("Op", name, {}, [source if read == "in" else made[read] for read in reads], [made[name]])
        for name, reads in graph.items()
    ]
    read = {name for reads in graph.values() for name in reads}
    outputs = [made[name] for name in graph if name not in read]
    return Model("model", gs.Graph(nodes=nodes, inputs=[source], outputs=outputs), "model.onnx")
