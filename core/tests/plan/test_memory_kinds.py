"""Memories by kind: read-only ones hold no activations, and what programs hold as long as they live is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.contract.errors import InfeasibleError
from match_core.contract.hardware import Link, Memory, Soc
from match_core.validate.sequential_program import program_faults

from core.tests.plan.planned import plan

FLASH = Memory("flash", 2, 4096, kind="read-only")
RAM = Memory("ram", 1, 4096)


def _soc(**changes):
    made = Soc("chip", "", "host", ("host",), (RAM, FLASH), (Link("dma", "ram", "flash", 4),), "ram", store="flash")
    return replace(made, **changes)


@pytest.mark.parametrize("place", ["home", "overflow"])
def test_activations_need_a_memory_that_is_written(place):
    with pytest.raises(ValueError, match="flash has activations, so its kind must be ram"):
        _soc(**{place: "flash"})


def test_tensors_are_copied_to_stores_that_are_written_only():
    assert _soc().swap_link is None
    assert _soc(memories=(RAM, replace(FLASH, kind="ram"))).swap_link == _soc().links[0]
    assert _soc(store=None).swap_link is None


def test_a_read_only_memory_that_is_too_small_lacks_room_for_constants(lab):
    model = lab.model_of({"a": ["in"], "b": ["a"]}, {"a": 100, "b": 60})
    soc = lab.soc_of(1000)
    soc = replace(soc, memories=(*soc.memories, Memory("flash", 3, 800, kind="read-only")), store="flash", mapped=True)
    with pytest.raises(InfeasibleError) as caught:
        plan(model, lab.mapping_of(model), soc, (), {}, (("w", 900),))
    assert caught.value.why == "needs 900 bytes of 800 for constants; largest constants: 'w' 900"


def _held(lab, most=64):
    """A program whose second task holds 40 bytes of tables."""
    model = lab.model_of({"a": ["in"], "b": ["a"]}, {"a": 100, "b": 60})
    mapping, soc = lab.mapping_of(model), lab.soc_of(1000)
    soc = replace(soc, memories=(*soc.memories, Memory("tables", 1, most, kind="held")))
    first, second = mapping.assignments
    workload = replace(second.candidate.workload, holds=(("tables", 40),))
    second = replace(second, candidate=replace(second.candidate, workload=workload))
    return model, plan(model, replace(mapping, assignments=(first, second)), soc, (), {})


def test_what_tasks_hold_is_in_the_plan(lab):
    model, program = _held(lab)
    assert program_faults(model.graph, program) == ()
    use = {use.memory: use for use in program.memory}
    assert (use["tables"].constant_bytes, use["tables"].used_bytes, use["tables"].available_bytes) == (40, 40, 64)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda p: _twice(p), "tasks hold 80 bytes of tables, 40 are counted"),
        (lambda p: _with_kind(p, "l2", "read-only"), "l2 is read-only and has"),
    ],
)
def test_faults_of_kinds_are_found(lab, change, fault):
    model, program = _held(lab)
    assert fault in "; ".join(program_faults(model.graph, change(program)))


def _with_kind(program, name, kind):
    memories = tuple(replace(m, kind=kind) if m.name == name else m for m in program.soc.memories)
    soc = program.soc
    changed = object.__new__(Soc)  # a package cannot make this one
    for field in Soc.__dataclass_fields__:
        object.__setattr__(changed, field, memories if field == "memories" else getattr(soc, field))
    return replace(program, soc=changed)


def _twice(program):
    first, second = program.tasks
    return replace(program, tasks=(replace(first, assignment=second.assignment), second))
