"""The validator of programs whose units run side by side finds what is wrong with them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from match_core.validate.concurrent_program import concurrent_faults

from core.tests.plan.concurrent_cases import one, plan_concurrent, skip


@pytest.fixture
def good(side):
    model, mapping = side.build(skip(side), {"in": (4, 4)})
    program = plan_concurrent(model, mapping, side.soc(1000), (), {1: 12})
    assert concurrent_faults(model.graph, program) == ()
    return model, program


def with_buffer(program, name, **changes):
    buffers = tuple(replace(b, **changes) if b.name == name else b for b in program.buffers)
    return replace(program, buffers=buffers)


def with_task(program, node, **changes):
    tasks = tuple(replace(t, **changes) if t.assignment.candidate.node_names == (node,) else t for t in program.tasks)
    return replace(program, tasks=tasks)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda p: with_task(p, "end", needs=()), "no order"),
        (lambda p: with_task(p, "thin", needs=(("cluster", 9),)), "needs 9 of cluster"),
        (lambda p: with_task(p, "wide", needs=(("npu", 2),)), "wait for each other"),
        (lambda p: with_task(p, "end", start_cycles=0), "starts at 0, before"),
        (lambda p: with_task(p, "end", cycles=11), "its schedule another number"),
        (lambda p: with_task(p, "end", queue="npu"), "is in the wrong queue, cluster"),
        (lambda p: with_task(p, "wider", buffers_in=()), "names no buffer for 'wide'"),
        (lambda p: with_buffer(p, "activation_1", offset_bytes=1000), "ends beyond"),
        (lambda p: with_buffer(p, "activation_1", size_bytes=8), "its tensors"),
        (lambda p: with_buffer(p, "activation_1", first_task=4, last_task=4), "is used at"),
        (lambda p: replace(p, queues=p.queues[:2]), "do not hold every task once"),
        (lambda p: replace(p, tasks=p.tasks[:-1]), "cover each node once"),
        (lambda p: replace(p, predicted_cycles=1), "the host notices the end at"),
    ],
)
def test_the_validator_finds_what_is_wrong(good, change, fault):
    model, program = good
    found = concurrent_faults(model.graph, change(program))
    assert any(fault in text for text in found), found


def test_the_host_runs_tasks_of_units_without_a_dispatch_loop(side):
    operators = {
        "a": one(side, ("in",), (4, 4), "npu", 50),
        "b": one(side, ("in",), (4, 4), "cluster", 50),
        "c": one(side, ("b",), (4, 4), "host", 50),
        "end": one(side, ("a", "c"), (4, 4), "cluster"),
    }
    model, mapping = side.build(operators, {"in": (4, 4)})
    program = plan_concurrent(model, mapping, side.soc(), blocking=("npu",))
    assert concurrent_faults(model.graph, program) == ()
    assert [(queue.name, queue.kind) for queue in program.queues] == [("host", "host"), ("cluster", "unit")]
    queues = {task.assignment.candidate.node_names[0]: task.queue for task in program.tasks}
    assert queues == {"a": "host", "b": "cluster", "c": "host", "end": "cluster"}
    moved = {"host": ("c",), "cluster": ("a", "b", "end")}
    index = {task.assignment.candidate.node_names[0]: task.index for task in program.tasks}
    elsewhere = replace(
        with_task(program, "a", queue="cluster"),
        queues=tuple(replace(queue, tasks=tuple(index[n] for n in moved[queue.name])) for queue in program.queues),
    )
    assert "is in the wrong queue, cluster" in " ".join(concurrent_faults(model.graph, elsewhere))


def test_the_validator_finds_needs_that_nothing_asks_for(side):
    operators = {
        "a": one(side, ("in",), (4, 4), "npu", 5),
        "b": one(side, ("in",), (4, 4), "cluster", 50),
        "end": one(side, ("a", "b"), (4, 4), "npu"),
    }
    model, mapping = side.build(operators, {"in": (4, 4)})
    program = plan_concurrent(model, mapping, side.soc())
    for node, needs in (("b", (("npu", 1),)), ("end", (("cluster", 1), ("npu", 1)))):
        found = concurrent_faults(model.graph, with_task(program, node, needs=needs))
        assert any("shares bytes with 0" in text or "is implied" in text for text in found), found
