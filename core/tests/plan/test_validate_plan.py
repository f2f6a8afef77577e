"""The validator of programs finds every fault, also where constants are streamed from a store."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.contract.errors import InfeasibleError
from match_core.contract.hardware import Memory
from match_core.contract.loops import Placement
from match_core.contract.workload import Axis, Operand, Workload
from match_core.validate.sequential_program import InvalidProgramError, program_faults, validate_program

from core.tests.plan.planned import plan


@pytest.fixture
def good(lab):
    nodes = {"a": ["in"], "b": ["a"], "v": ["b"], "c": ["v", "a"]}
    model = lab.model_of(nodes, {"a": 100, "b": 60, "v": 60})
    program = plan(model, lab.mapping_of(model, views=["v"]), lab.soc_of(), (("w", 8),), {1: 20})
    validate_program(model.graph, program)
    return model, program


def with_buffer(program, tensor, **changes):
    def change(b):
        return replace(b, **changes) if tensor in (*b.tensors, b.name) else b

    return replace(program, buffers=tuple(change(b) for b in program.buffers))


def with_task(program, number, /, **changes):
    return replace(program, tasks=tuple(replace(t, **changes) if t.index == number else t for t in program.tasks))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda p: with_buffer(p, "b", offset_bytes=0), "overlap"),
        (lambda p: with_buffer(p, "scratch_1", offset_bytes=0), "overlap"),
        (lambda p: with_buffer(p, "b", offset_bytes=102), "not a multiple"),
        (lambda p: with_buffer(p, "b", offset_bytes=1 << 12), "ends beyond"),
        (lambda p: with_buffer(p, "a", last_task=1), "is used at"),
        (lambda p: with_buffer(p, "b", first_task=2), "is used at"),
        (lambda p: with_buffer(p, "c", last_task=2, first_task=2), "is used at"),
        (lambda p: with_buffer(p, "in", first_task=1), "is used at"),
        (lambda p: with_buffer(p, "b", size_bytes=59), "has 60 bytes, its buffer 59"),
        (lambda p: with_buffer(p, "b", tensors=("b",)), "no buffer holds ['v']"),
        (lambda p: with_buffer(p, "b", tensors=("b", "v", "a")), "in two buffers"),
        (lambda p: with_buffer(p, "b", name="activation_0"), "share a name"),
        (lambda p: with_buffer(p, "c", kind="activation"), "not in a buffer of the caller"),
        (lambda p: with_buffer(p, "scratch_1", last_task=2), "outlives"),
        (lambda p: with_task(p, 1, depends=()), "depends on ()"),
        (lambda p: with_task(p, 1, start_cycles=9), "starts at 9"),
        (lambda p: with_task(p, 1, buffers_in=()), "does not name"),
        (lambda p: with_task(p, 2, index=7), "has index 7"),
        (lambda p: replace(p, tasks=p.tasks[:-1]), "do not cover"),
        (lambda p: replace(p, tasks=(p.tasks[1], p.tasks[0], *p.tasks[2:])), "before it is computed"),
        (lambda p: replace(p, predicted_cycles=1), "predicted 1 cycles"),
        (lambda p: replace(p, memory=p.memory[1:]), "does not list"),
        (lambda p: replace(p, memory=(p.memory[0], replace(p.memory[1], constant_bytes=1 << 21))), "used"),
        (lambda p: replace(p, memory=(p.memory[0], replace(p.memory[1], available_bytes=3))), "3 available"),
    ],
)
def test_faults_are_found(good, change, fault):
    model, program = good
    assert fault in "; ".join(program_faults(model.graph, change(program)))
    with pytest.raises(InvalidProgramError):
        validate_program(model.graph, change(program))


def test_bytes_that_are_shared_without_a_view(good):
    model, program = good
    view = next(t for t in program.tasks if t.assignment.candidate.pattern.view)
    candidate = view.assignment.candidate
    candidate = replace(candidate, pattern=replace(candidate.pattern, view=False))
    plain = with_task(program, view.index, assignment=replace(view.assignment, candidate=candidate))
    assert "shares an input's bytes" in "; ".join(program_faults(model.graph, plain))


def test_a_working_set_beyond_its_memory(good):
    model, program = good
    task = program.tasks[0]
    schedule = replace(task.assignment.schedule, memory="l1", working_bytes=(("l1", 5),))
    tiled = with_task(program, 0, assignment=replace(task.assignment, schedule=schedule))
    assert "needs 5 bytes of l1" in "; ".join(program_faults(model.graph, tiled))


def weights(size):
    return Workload("test", (), (Operand("w", "constant", (Axis("k", size),)),), 0)


def streaming(lab, size=900, staging=64, store_bytes=4096):
    """A chain of three tasks; the second streams ``size`` bytes through ``staging`` of them."""
    model = lab.model_of({"a": ["in"], "b": ["a"], "c": ["b"]}, {"a": 100, "b": 60})
    mapping, soc = lab.mapping_of(model), lab.soc_of(1000)
    soc = replace(soc, memories=(*soc.memories, Memory("l3", 3, store_bytes)), store="l3")
    second = mapping.assignments[1]
    placements = (Placement("w", "l2", 0, 0, staging), Placement("w", "l1", 0, 0, 16))
    working = (("l1", 16), ("l2", staging))
    schedule = replace(second.schedule, memory="l1", placements=placements, working_bytes=working)
    candidate = replace(second.candidate, workload=weights(size))
    changed = replace(second, candidate=candidate, schedule=schedule)
    mapping = replace(mapping, assignments=(mapping.assignments[0], changed, mapping.assignments[2]))
    return model, plan(model, mapping, soc, (), {1: staging}, (("w", size),))


def test_what_is_streamed_lies_in_the_store(lab):
    model, program = streaming(lab)
    assert program_faults(model.graph, program) == ()
    use = {use.memory: use for use in program.memory}
    assert (use["l3"].constant_bytes, use["l2"].constant_bytes) == (900, 0)
    assert use["l2"].arena_bytes == 100 + 60 + 64, "the staging area lives beside both tensors of its task"
    assert use["l2"].caller_bytes == 32


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda p: with_buffer(p, "scratch_1", size_bytes=63), "stages 64 bytes in l2 that it does not own"),
        (lambda p: with_buffer(p, "scratch_1", first_task=0, last_task=0), "that it does not own"),
        (lambda p: replace(p, memory=(*p.memory[:2], replace(p.memory[2], constant_bytes=899))), "constant has 900"),
        (lambda p: replace(p, memory=(p.memory[0], replace(p.memory[1], caller_bytes=8), p.memory[2])), "in l2, 8 are"),
        (lambda p: with_task(p, 1, assignment=p.tasks[0].assignment), "900 bytes in the store"),
    ],
)
def test_faults_of_streaming_are_found(lab, change, fault):
    model, program = streaming(lab)
    assert fault in "; ".join(program_faults(model.graph, change(program)))


def test_a_store_that_is_too_small(lab):
    with pytest.raises(InfeasibleError) as caught:
        streaming(lab, store_bytes=800)
    error = caught.value
    assert error.what == "the program does not fit memory l3: 100 bytes too many"
    assert error.why == "needs 900 bytes of 800 for streamed constants; largest constants: 'w' 900"
