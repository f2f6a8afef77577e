"""Graphs of sized tensors with a mapping of one task per node (or as told)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.cost import Cost
from match_core.hardware import Memory, Soc
from match_core.ir.model import Model
from match_core.mapping.result import Assignment, Candidate, SolverStatus
from match_core.mapping.result import Mapping as UnitMapping
from match_core.patterns.language import Any, Match, Op, Pattern
from match_core.schedule.loops import LoopSchedule
from match_core.schedule.workload import Workload


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
