"""Graphs given as edges, and candidates given as (node names, cycles)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import SimpleNamespace

import numpy as np
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.candidate import Candidate
from match_core.contract.cost import Cost
from match_core.contract.loops import LoopSchedule
from match_core.contract.mapping import Assignment
from match_core.contract.model import Model
from match_core.contract.pattern import Pattern
from match_core.contract.structure import Any, Constraint, Match, Op
from match_core.contract.workload import Workload

WORKLOAD = Workload("test", (), (), 0)


def model_of(inputs: dict[str, Sequence[str]], outputs: Iterable[str] | None = None) -> Model:
    """Node names -> names of the nodes they read ("in" is the graph input). Unread results are graph outputs."""
    source = gs.Variable("in", np.uint8, [1, 4])
    made = {name: gs.Variable(f"{name}_out", np.uint8, [1, 4]) for name in inputs}
    nodes = [
        gs.Node("Op", name, {}, [source if r == "in" else made[r] for r in reads], [made[name]])
        for name, reads in inputs.items()
    ]
    read = {r for reads in inputs.values() for r in reads}
    ends = [name for name in inputs if name not in read] if outputs is None else list(outputs)
    graph = gs.Graph(nodes=nodes, inputs=[source], outputs=[made[name] for name in ends])
    provenance = {name: (f"source/{name}",) for name in inputs}
    return Model("model", graph, "model.onnx", provenance=provenance)


def assignment(
    model: Model,
    index: int,
    names: Sequence[str],
    cycles: int,
    unit="acc",
    rules: tuple[Constraint, ...] = (),
    region=False,
    view=False,
) -> Assignment:
    by_name = {node.name: node for node in model.graph.nodes}
    match = Match(tuple(by_name[name] for name in names), {})
    search = (lambda graph: (match,)) if region else None
    pattern = Pattern(
        "+".join(names), "", Op("Op", "op", (Any("x"),)), rules, lambda m: WORKLOAD, view=view, search=search
    )
    schedule = LoopSchedule((), (), (), 0, 0, None, (), Cost(compute_cycles=cycles))
    return Assignment(Candidate(index, unit, pattern, match, WORKLOAD), schedule)


def offer(model: Model, *choices: tuple[str, int], region=False) -> tuple[Assignment, ...]:
    """("a b", 5) offers to run nodes a and b, in this order, in five cycles."""
    return tuple(
        assignment(model, i, names.split(), cycles, region=region) for i, (names, cycles) in enumerate(choices)
    )


@pytest.fixture
def lab() -> SimpleNamespace:
    return SimpleNamespace(model_of=model_of, assignment=assignment, offer=offer)
