"""Tensors that move to the overflow memory: which, where they lie, and what reads them from there."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from match_core.contract.candidate import Candidates
from match_core.contract.hardware import Link, Memory, Soc, Unit
from match_core.plan.draft import draft_of
from match_core.plan.overflow import overflowing, placed
from match_core.validate.sequential_program import program_faults

from core.tests.plan.conftest import Operator, side_by_side
from core.tests.plan.planned import plan


def roomy(soc: Soc) -> Soc:
    overflow = Memory("dram", 3, 1 << 20, 8)
    return replace(
        soc, memories=(*soc.memories, overflow), links=(*soc.links, Link("wide", "l1", "dram", 4.0)), overflow="dram"
    )


def moved(lab: SimpleNamespace, home_bytes: int) -> tuple[frozenset[str], SimpleNamespace]:
    """What has moved when a chain of one large tensor between small ones fits."""
    model = lab.model_of({"a": ["in"], "b": ["a"], "c": ["b"]}, {"in": 40, "a": 400, "b": 64, "c": 48})
    mapping, soc = lab.mapping_of(model), roomy(lab.soc_of(home_bytes))
    overflow: frozenset[str] = frozenset()
    while more := overflowing(draft_of(model, mapping, soc.memory("l2"), 0, {}, overflow), 0):
        overflow |= more
    return overflow, SimpleNamespace(model=model, mapping=mapping, soc=soc)


@pytest.mark.parametrize(
    ("home_bytes", "expected"), [(1000, set()), (300, {"a"}), (100, {"a", "b"}), (40, {"a", "b", "c"})]
)
def test_the_largest_tensors_of_the_worst_task_move_until_the_rest_fits(lab, home_bytes, expected):
    assert moved(lab, home_bytes)[0] == expected


def test_what_moved_lies_in_the_other_memory_and_the_plan_is_valid(lab):
    overflow, case = moved(lab, 100)
    program = plan(case.model, case.mapping, case.soc, overflow=overflow)
    assert program_faults(case.model.graph, program) == ()
    places = {buffer.tensors[0]: (buffer.memory, buffer.offset_bytes) for buffer in program.buffers}
    assert places["a"] == ("dram", 0) and places["b"] == ("dram", 400)
    use = {use.memory: use for use in program.memory}
    assert use["dram"].arena_bytes == 464
    assert use["l2"].used_bytes <= 100


def test_candidates_read_from_there_or_are_refused():
    model, mapping = side_by_side({"a": Operator(("x",), (8, 8), ("npu",), (10,))}, {"x": (8, 8)})
    units = (Unit("npu", "", memory="l1"), Unit("host", ""))
    soc = Soc("chip", "", "host", ("host", "npu"), (Memory("l1", 1, 100), Memory("l2", 2, 100)), (), "l2")
    candidates = Candidates(tuple(a.candidate for a in mapping.assignments), ())
    (candidate,) = placed(candidates, {"x"}, roomy(soc), units).legal
    assert {o.name: o.far for o in candidate.workload.operands} == {"x0": "dram", "y": ""}
    unlinked = replace(roomy(soc), links=())
    refused = placed(candidates, {"x"}, unlinked, units)
    assert refused.legal == () and refused.refused[0].value == "x"
    assert model.graph.outputs[0].name == "a"
