"""Networks of any size for the planner: layers of branches, each operator in shares of rows on units side by side."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import onnx_graphsurgeon as gs
from match_concurrent.share import share_of
from match_core.contract.candidate import Candidate
from match_core.contract.cost import Cost
from match_core.contract.hardware import Link, Memory, Signalling, Soc
from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment, SolverStatus
from match_core.contract.mapping import Mapping as UnitMapping
from match_core.contract.model import Model
from match_core.contract.pattern import Pattern
from match_core.contract.structure import Any, Match, Op
from match_core.contract.workload import Axis, Dim, Operand, Workload

ROWS = 32
UNITS = ("npu", "cluster", "vector")
#: So many tensors wait for a reader at most: branches side by side.
BRANCHES = 3


def network(tasks: int, seed: int = 1) -> tuple[Model, UnitMapping]:
    """About so many tasks: operators read one or two of the last tensors, and now and then one from long before (a skip
    connection). Each is whole or in two or three shares of rows, read with their neighbours; cycles follow the
    bytes."""
    chance = random.Random(seed)
    tensors = {"in": gs.Variable("in", np.uint8, [ROWS, 64])}
    nodes: list[gs.Node] = []
    assignments: list[Assignment] = []
    unread: list[str] = []
    while len(assignments) < tasks:
        name = f"t{len(nodes)}"
        reads = [unread.pop(0) if len(unread) >= BRANCHES else chance.choice(list(tensors)[-BRANCHES:])]
        if chance.random() < 0.3:
            reads.append(chance.choice(list(tensors)[-BRANCHES:]))
        if chance.random() < 0.15:
            reads.append(list(tensors)[max(0, len(tensors) - chance.randint(5, 30))])
        unread = [*(other for other in unread if other not in reads), name]
        inputs = [tensors[other] for other in dict.fromkeys(reads)]
        output = gs.Variable(name, np.uint8, [ROWS, chance.choice((32, 64, 96, 128))])
        node = gs.Node("Op", name, {}, inputs, [output])
        assignments += _tasks(node, chance)
        tensors[name] = output
        nodes.append(node)
    ends = [node.outputs[0] for node in nodes if not node.outputs[0].outputs]
    model = Model("network", gs.Graph(nodes=nodes, inputs=[tensors["in"]], outputs=ends), "network.onnx")
    total = sum(a.schedule.cost.total_cycles for a in assignments)
    return model, UnitMapping(tuple(assignments), SolverStatus("benchmark", "feasible", total, 0))


def _tasks(node: gs.Node, chance: random.Random) -> list[Assignment]:
    shapes = [(int(t.shape[0]), int(t.shape[1])) for t in node.inputs]
    workload = _workload(shapes, (ROWS, int(node.outputs[0].shape[1])))
    pattern = Pattern("op", "", Op("Op", "op", (Any("x"),)), (), lambda match: workload)
    match = Match((node,), {f"x{number}": tensor for number, tensor in enumerate(node.inputs)})
    whole = Candidate(0, UNITS[0], pattern, match, workload)
    cuts = sorted(chance.sample(range(4, ROWS - 3), chance.choice((0, 1, 1, 2))))
    edges = [0, *cuts, ROWS]
    units = chance.sample(UNITS, len(edges) - 1) if chance.random() < 0.95 else ["host"] * (len(edges) - 1)
    work = sum(high * wide for high, wide in shapes) + workload.macs
    found = []
    for unit, first, end in zip(units, edges, edges[1:], strict=False):
        part = share_of(whole, "row", first, end - first)
        cycles = max(50, work * (end - first) // ROWS // chance.randint(6, 10))
        found.append(Assignment(_on(part, unit), LoopSchedule((), (), (), 0, 0, None, (), Cost(cycles))))
    return found


def _on(candidate: Candidate, unit: str) -> Candidate:
    return Candidate(
        candidate.index, unit, candidate.pattern, candidate.match, candidate.workload, share=candidate.share
    )


def _workload(shapes: Sequence[tuple[int, int]], shape: tuple[int, int]) -> Workload:
    rows, columns = shape
    operands = [
        Operand(
            f"x{number}",
            "input",
            (Axis("row", high, (("row", 1), ("win", 1)), offset=1), Axis("in", wide)),
        )
        for number, (high, wide) in enumerate(shapes)
    ]
    operands.append(Operand("y", "output", (Axis("row", rows, (("row", 1),)), Axis("col", columns, (("col", 1),)))))
    dims = (Dim("row", rows), Dim("col", columns), Dim("win", 3))
    return Workload("window", dims, tuple(operands), rows * columns * 3)


def soc(home_bytes: int, store_bytes: int = 64 << 20) -> Soc:
    """Three units with dispatch loops beside a host, and a store behind the home memory."""
    return Soc(
        name="benchmark",
        description="",
        host="host",
        units=("host", *UNITS),
        memories=(Memory("l2", 2, home_bytes, 4), Memory("l3", 3, store_bytes, 4)),
        links=(Link("l2_l3", "l2", "l3", 4.0, setup_cycles=100),),
        home="l2",
        store="l3",
        signalling=Signalling("poll", 60, 40, 50, 30),
        mode="concurrent",
    )
