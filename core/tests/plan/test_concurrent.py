"""Plans of programs whose units run side by side: valid and right in every order, and single decisions."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_concurrent.planning.planning_effort import PlanOptions
from match_core.contract.errors import InfeasibleError
from match_core.contract.planning import Plan, PlanRequest
from match_core.map.evaluate import plan_fault
from match_core.schedule.cache import ScheduleCache
from match_core.validate.concurrent_program import concurrent_faults

from core.tests.plan.concurrent_cases import (
    FAST,
    Case,
    Machine,
    cases,
    least_bytes,
    one,
    plan_concurrent,
    plan_of,
    planned,
    skip,
)
from tests.examples import examples

RELAXED = settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@RELAXED
@given(data=st.data(), seed=st.integers(0, 1000))
def test_plans_are_valid_and_right_in_every_order(side, data, seed):
    case = data.draw(cases(side.Operator))
    model, mapping = side.build(case.operators, case.inputs, case.outputs)
    program = plan_of(model, mapping, case, side.soc())
    assert concurrent_faults(model.graph, program) == ()
    for turn in range(4):
        Machine(case, model, program, seed + turn).run()
    assert program == plan_of(model, mapping, case, side.soc())
    assert program.timing.bound <= program.timing.objective == program.predicted_cycles


@RELAXED
@given(data=st.data(), seed=st.integers(0, 1000), spare=st.sampled_from([0, 0, 4, 16, 40]))
def test_small_memories_give_swaps_and_right_results(side, data, seed, spare):
    case = data.draw(cases(side.Operator))
    size = least_bytes(side, case) + spare
    model, program = planned(side, case, side.soc(size))
    assert concurrent_faults(model.graph, program) == ()
    for turn in range(4):
        Machine(case, model, program, seed + turn).run()


@settings(RELAXED, max_examples=25)
@given(data=st.data())
def test_without_any_need_the_program_is_wrong(side, data):
    """Each need that is removed, or counts one task less, leaves two tasks without order."""
    case = data.draw(cases(side.Operator))
    size = least_bytes(side, case) + data.draw(st.sampled_from([0, 20, 4000]))
    model, program = planned(side, case, side.soc(size))
    for rows, field in ((program.tasks, "tasks"), (program.swaps, "swaps")):
        for place, row in enumerate(rows):
            for entry, (queue, count) in enumerate(row.needs):
                for kept in ((), ((queue, count - 1),)):
                    if kept and count == 1:
                        continue
                    needs = (*row.needs[:entry], *kept, *row.needs[entry + 1 :])
                    changed = (*rows[:place], replace(row, needs=needs), *rows[place + 1 :])
                    faults = concurrent_faults(model.graph, replace(program, **{field: changed}))
                    assert any("no order" in fault or "not there" in fault for fault in faults), (row.needs, faults)


# --- single decisions ---


def names(program):
    return [task.assignment.candidate.node_names[0] for task in program.tasks]


def test_a_share_waits_only_for_the_rows_it_reads(side):
    operators = {
        "a": side.Operator(("in",), (8, 4), ("npu", "npu"), (100, 100), (4, 4)),
        "b": side.Operator(("a",), (8, 4), ("cluster", "cluster"), (10, 10), (3, 5)),
    }
    model, mapping = side.build(operators, {"in": (8, 4)})
    program = plan_concurrent(model, mapping, side.soc())
    queues = {queue.name: [program.tasks[i] for i in queue.tasks] for queue in program.queues}
    # Rows 0 to 3 are ready after the first task; the other share reads a row of the second one.
    assert [task.needs for task in queues["cluster"]] == [(("npu", 1),), (("npu", 2),)]
    assert [task.needs for task in queues["npu"]] == [(), ()]


def test_what_is_implied_is_not_needed(side):
    operators = {
        "a": one(side, ("in",), (4, 4), "npu"),
        "b": one(side, ("a",), (4, 4), "cluster"),
        "c": one(side, ("a", "b"), (4, 4), "host"),
        "d": one(side, ("a", "c"), (4, 4), "host"),
    }
    model, mapping = side.build(operators, {"in": (4, 4)})
    program = plan_concurrent(model, mapping, side.soc())
    assert names(program) == ["a", "b", "c", "d"]
    assert [task.needs for task in program.tasks] == [(), (("npu", 1),), (("cluster", 1),), ()]


def test_signals_cost_what_the_chip_says(side):
    operators = {
        "a": one(side, ("in",), (4, 4), "npu"),
        "b": one(side, ("in",), (4, 4), "npu"),
        "c": one(side, ("a", "b"), (4, 4), "cluster"),
    }
    model, mapping = side.build(operators, {"in": (4, 4)})
    program = plan_concurrent(model, mapping, side.soc())
    post, wake, notify, between = 3, 4, 5, 2
    first = post + wake
    second = first + 10 + between
    third = second + 10 + notify + post + wake
    assert [task.start_cycles for task in program.tasks] == [first, second, third]
    assert program.predicted_cycles == third + 10 + notify
    assert program.timing.status == "optimal"


def test_a_busy_host_posts_nothing(side):
    operators = {
        "long": one(side, ("in",), (4, 4), "host", 500),
        "a": one(side, ("in",), (4, 4), "npu", 20),
        "b": one(side, ("a",), (4, 4), "cluster", 20),
        "end": one(side, ("long", "b"), (4, 4), "host", 1),
    }
    model, mapping = side.build(operators, {"in": (4, 4)})
    program = plan_concurrent(model, mapping, side.soc(), options=FAST)
    start = dict(zip(names(program), (task.start_cycles for task in program.tasks), strict=True))
    assert start["a"] < 500 < start["b"]
    assert program.timing.bound < program.predicted_cycles


def test_what_is_not_needed_goes_to_the_store(side):
    model, mapping = side.build(skip(side), {"in": (4, 4)})
    roomy = plan_concurrent(model, mapping, side.soc(1000))
    assert roomy.swaps == ()
    # Both wide tensors have 128 bytes, inputs and outputs 16 each: 64 bytes less than what lives together.
    tight = plan_concurrent(model, mapping, side.soc(128 * 2 + 32))
    assert concurrent_faults(model.graph, tight) == ()
    assert [(swap.source, swap.target) for swap in tight.swaps] == [
        ("activation_0#0", "activation_0#store"),
        ("activation_0#store", "activation_0#1"),
    ] or names(tight)[0] != "skip"
    assert tight.predicted_cycles >= roomy.predicted_cycles


def test_a_smaller_memory_is_slower_and_in_the_end_too_small(side):
    model, mapping = side.build(skip(side), {"in": (4, 4)})
    cycles = []
    for size in (1000, 352, 320, 288):
        program = plan_concurrent(model, mapping, side.soc(size))
        assert concurrent_faults(model.graph, program) == ()
        cycles.append(program.predicted_cycles)
    assert cycles == sorted(cycles)
    with pytest.raises(InfeasibleError) as caught:
        plan_concurrent(model, mapping, side.soc(284), (("weights", 0),))
    error = caught.value
    assert error.code == "MATCH-M001"
    assert error.what == "the program does not fit memory l2: 4 bytes too many"
    assert error.where == "the most bytes are required at 'source/wider' (op on cluster)"
    assert "together at this task: 'wide' 128, 'wider' 128" in error.why


def test_without_a_store_all_that_lives_must_fit(side):
    model, mapping = side.build(skip(side), {"in": (4, 4)})
    with pytest.raises(InfeasibleError, match="does not fit memory l2"):
        plan_concurrent(model, mapping, side.soc(300, store_bytes=0))


@settings(RELAXED, max_examples=12)
@given(data=st.data(), seed=st.integers(0, 100))
def test_solved_plans_are_right_too(side, data, seed):
    """The constraint models, with little effort, in one piece and in windows."""
    case = data.draw(cases(side.Operator))
    size = least_bytes(side, case) + data.draw(st.sampled_from([0, 12, 4000]))
    _, first = planned(side, case, side.soc(size))
    for window in (100, 3):
        options = PlanOptions(deterministic_seconds=0.2, window_jobs=window, windows_seconds=0.2)
        model, program = planned(side, case, side.soc(size), options)
        assert concurrent_faults(model.graph, program) == ()
        assert program.timing.bound <= program.predicted_cycles <= first.predicted_cycles
        Machine(case, model, program, seed).run()


def test_tensors_that_left_and_came_back_for_nothing(side):
    """A draft that improves another one may have given up the second of three places of a tensor."""
    many, op = ("host",) * 4, side.Operator
    operators = {
        "t0": op(("in",), (5, 4), ("host",), (1,), (), "row"),
        "t1": op(("in",), (5, 4), ("host", "host"), (1, 1), (1, 4), "row"),
        "t2": op(("in", "t0", "t1"), (5, 1), many, (1, 1, 1, 50), (1, 1, 1, 2), "row"),
        "t3": op(("in", "t0"), (5, 4), many, (1, 1, 1, 1), (1, 1, 1, 2), "row"),
        "t4": op(("t3", "t1", "in"), (4, 1), ("host", "cluster", "host", "host"), (1, 17, 17, 52), (1, 1, 1, 1), "row"),
        "t5": op(("t0", "in", "t4"), (5, 4), ("host",), (46,), (), "row"),
        "t6": op(("t3", "t5"), (5, 4), ("cluster",), (34,), (), "row"),
        "end": op(("t1", "t4"), (2, 2), ("host",), (7,), (), "row"),
    }
    case = Case(operators, {"in": (5, 4)}, ("t2", "t6", "end"), {7: 9, 13: 17})
    options = PlanOptions(deterministic_seconds=0.2, window_jobs=100, windows_seconds=0.2)
    model, program = planned(side, case, side.soc(least_bytes(side, case)), options)
    assert program.swaps
    assert concurrent_faults(model.graph, program) == ()
    Machine(case, model, program, 0).run()


def test_what_a_plan_claims_is_computed_again(side):
    """Swaps, predicted cycles and tasks of a plan that a package gives."""
    soc = side.soc(128 * 2 + 32)
    model, mapping = side.build(skip(side), {"in": (4, 4)})
    program = plan_concurrent(model, mapping, soc, options=FAST)
    scheduler = SimpleNamespace(soc=soc, cache=ScheduleCache())
    request = PlanRequest(model, mapping, scheduler, lambda _: None)

    def fault(**changes):
        return plan_fault(request, scheduler, Plan(mapping, replace(program, **changes)))

    assert program.swaps and fault() == ""
    cheap = (replace(program.swaps[0], cycles=program.swaps[0].cycles - 1), *program.swaps[1:])
    assert "the evaluator finds" in fault(swaps=cheap)
    assert "the host notices the end at" in fault(predicted_cycles=program.predicted_cycles - 1)
    first = replace(program.tasks[0], assignment=replace(program.tasks[0].assignment))
    assert "not those of its mapping" in fault(tasks=(first, *program.tasks[1:]))
