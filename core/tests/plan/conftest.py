"""Graphs of sized tensors with a mapping of one task per node (or as told)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import onnx_graphsurgeon as gs
import pytest
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


def model_of(
    nodes: Mapping[str, Sequence[str]],
    sizes: Mapping[str, int],
    outputs: Sequence[str] = (),
    inputs: Sequence[str] = ("in",),
) -> Model:
    """Node name -> tensors it reads; each node makes the tensor of its name. Unread tensors are graph outputs."""
    tensors = {name: gs.Variable(name, np.uint8, [sizes.get(name, 16)]) for name in (*inputs, *nodes)}
    made = [gs.Node("Op", name, {}, [tensors[r] for r in reads], [tensors[name]]) for name, reads in nodes.items()]
    read = {r for reads in nodes.values() for r in reads}
    ends = outputs or [name for name in nodes if name not in read]
    graph = gs.Graph(nodes=made, inputs=[tensors[n] for n in inputs], outputs=[tensors[name] for name in ends])
    return Model("model", graph, "model.onnx", provenance={name: (f"source/{name}",) for name in nodes})


def mapping_of(
    model: Model, views: Sequence[str] = (), groups: Sequence[Sequence[str]] | None = None, cycles=10
) -> UnitMapping:
    by_name = {node.name: node for node in model.graph.nodes}
    workload = Workload("test", (), (), 0)
    assignments = []
    for index, names in enumerate(groups or [[node.name] for node in model.graph.nodes]):
        view = names[0] in views
        pattern = Pattern("view" if view else "op", "", Op("Op", "op", (Any("x"),)), (), lambda m: workload, view=view)
        match = Match(tuple(by_name[name] for name in names), {})
        schedule = LoopSchedule((), (), (), 0, 0, None, (), Cost(compute_cycles=0 if view else cycles))
        assignments.append(Assignment(Candidate(index, "host", pattern, match, workload), schedule))
    total = sum(a.schedule.cost.total_cycles for a in assignments)
    return UnitMapping(tuple(assignments), SolverStatus("test", "optimal", total, total))


def soc_of(home_bytes=1 << 20, alignment=4) -> Soc:
    memories = (Memory("l1", 1, 1000), Memory("l2", 2, home_bytes, alignment))
    return Soc("chip", "", "host", ("host",), memories, (), "l2")


@pytest.fixture
def lab() -> SimpleNamespace:
    return SimpleNamespace(model_of=model_of, mapping_of=mapping_of, soc_of=soc_of)


# --- units side by side --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operator:
    """A node of ``SideBySide``: reads tensors, and makes one of ``shape``; along ``dim`` the share at place p of
    ``sizes`` runs on ``units[p]`` for ``cycles[p]``. Rows are read with their neighbours (a window of three). ``busy``:
    the unit that all shares on other units keep busy too."""

    reads: tuple[str, ...]
    shape: tuple[int, int]
    units: tuple[str, ...]
    cycles: tuple[int, ...]
    sizes: tuple[int, ...] = ()
    dim: str = "row"
    view: bool = False
    busy: str = ""


def window_workload(shapes: Sequence[tuple[int, int]], shape: tuple[int, int]) -> Workload:
    """Inputs of the output's shape are read by rows and columns, the others whole."""
    rows, columns = shape
    dims = (Dim("row", rows), Dim("col", columns), Dim("win", 3))
    operands = []
    for number, (high, wide) in enumerate(shapes):
        row = Axis("row", high, (("row", 1), ("win", 1)), offset=1) if high == rows else Axis("row", high)
        col = Axis("col", wide, (("col", 1),)) if wide == columns else Axis("col", wide)
        operands.append(Operand(f"x{number}", "input", (row, col)))
    operands.append(Operand("y", "output", (Axis("row", rows, (("row", 1),)), Axis("col", columns, (("col", 1),)))))
    return Workload("window", dims, tuple(operands), rows * columns * 3)


def side_by_side(
    operators: Mapping[str, Operator], inputs: Mapping[str, tuple[int, int]], outputs: Sequence[str] = ()
) -> tuple[Model, UnitMapping]:
    """The model of these operators (name -> operator, each makes the tensor of its name) and its mapping."""
    shapes = {**inputs, **{name: operator.shape for name, operator in operators.items()}}
    tensors = {name: gs.Variable(name, np.uint8, list(shape)) for name, shape in shapes.items()}
    nodes = [gs.Node("Op", name, {}, [tensors[r] for r in op.reads], [tensors[name]]) for name, op in operators.items()]
    read = {r for operator in operators.values() for r in operator.reads}
    ends = outputs or [name for name in operators if name not in read]
    graph = gs.Graph(nodes=nodes, inputs=[tensors[n] for n in inputs], outputs=[tensors[name] for name in ends])
    model = Model("model", graph, "model.onnx", provenance={name: (f"source/{name}",) for name in operators})
    assignments = []
    for node, operator in zip(nodes, operators.values(), strict=True):
        workload = window_workload([shapes[r] for r in operator.reads], operator.shape)
        kind = "view" if operator.view else "op"
        pattern = Pattern(kind, "", Op("Op", "op", (Any("x"),)), (), partial(_given, workload), view=operator.view)
        match = Match((node,), {f"x{n}": tensors[r] for n, r in enumerate(operator.reads)})
        whole = Candidate(len(assignments), operator.units[0], pattern, match, workload)
        first = 0
        for unit, cycles, size in zip(operator.units, operator.cycles, operator.sizes or (0,), strict=True):
            part = share_of(whole, operator.dim, first, size) if operator.sizes else whole
            first += size
            schedule = LoopSchedule((), (), (), 0, 0, None, (), Cost(compute_cycles=cycles))
            occupies = (operator.busy,) if operator.busy not in ("", unit) else ()
            part = replace(part, unit=unit, pattern=replace(pattern, occupies=occupies))
            assignments.append(Assignment(part, schedule))
    total = sum(a.schedule.cost.total_cycles for a in assignments)
    return model, UnitMapping(tuple(assignments), SolverStatus("test", "optimal", total, total))


def _given(workload: Workload, match: Match) -> Workload:
    return workload


def concurrent_soc(home_bytes: int = 1 << 20, store_bytes: int = 1 << 20, alignment: int = 4) -> Soc:
    """A host and two units; without a store where it has no bytes."""
    memories = [Memory("l2", 2, home_bytes, alignment)]
    links = []
    if store_bytes:
        memories.append(Memory("l3", 3, store_bytes, 8))
        links.append(Link("l2_l3", "l2", "l3", 2.0, setup_cycles=5))
    return Soc(
        name="chip",
        description="",
        host="host",
        units=("host", "npu", "cluster"),
        memories=tuple(memories),
        links=tuple(links),
        home="l2",
        store="l3" if store_bytes else None,
        signalling=Signalling("poll", 3, 4, 5, 2),
        mode="concurrent",
    )


@pytest.fixture
def side() -> SimpleNamespace:
    return SimpleNamespace(Operator=Operator, build=side_by_side, soc=concurrent_soc)
