from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.errors import InfeasibleError, UnsupportedError
from match_core.planning.dataflow import tensor_bytes
from match_core.planning.plan import plan
from match_core.planning.validate import InvalidProgramError, program_faults, validate_program

from tests.examples import examples


@st.composite
def networks(draw):
    """Random graphs: each node reads one to three earlier tensors; some are views of their first input's size."""
    count = draw(st.integers(1, 12))
    nodes: dict[str, list[str]] = {}
    sizes = {"in": draw(st.integers(1, 40))}
    views = []
    for number in range(count):
        name = f"t{number}"
        earlier = ["in", *nodes]
        reads = draw(st.lists(st.sampled_from(earlier), min_size=1, max_size=3))
        nodes[name] = reads
        sizes[name] = draw(st.integers(1, 40))
        if number < count - 1 and draw(st.integers(0, 3)) == 0:
            nodes[name] = reads[:1]
            sizes[name] = sizes[reads[0]]
            views.append(name)
    nodes["end"] = draw(st.lists(st.sampled_from(["in", *nodes]), min_size=1, max_size=2))
    scratch = {n: draw(st.integers(0, 30)) for n in range(len(nodes)) if draw(st.booleans())}
    return nodes, sizes, views, scratch


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(network=networks(), alignment=st.sampled_from([1, 4, 8]))
def test_plans_of_random_networks_are_valid(lab, network, alignment):
    nodes, sizes, views, scratch = network
    read = {r for reads in nodes.values() for r in reads}
    ends = [name for name in nodes if name not in read and name not in views]
    model = lab.model_of(nodes, sizes, outputs=ends)
    mapping = lab.mapping_of(model, views)
    scratch = {n: size for n, size in scratch.items() if mapping.assignments[n].candidate.pattern.name == "op"}
    program = plan(model, mapping, lab.soc_of(alignment=alignment), (("w", 100),), scratch)
    assert program_faults(model.graph, program) == ()
    assert program.predicted_cycles == mapping.predicted_cycles
    use = {use.memory: use for use in program.memory}
    assert use["l2"].constant_bytes == 100
    assert use["l2"].arena_bytes == program.allocation.objective >= program.allocation.bound
    owned = [b for b in program.buffers if b.kind == "scratch"]
    assert sorted(b.size_bytes for b in owned) == sorted(size for size in scratch.values() if size)
    assert plan(model, mapping, lab.soc_of(alignment=alignment), (("w", 100),), scratch) == program


def test_a_chain_needs_two_neighbours(lab):
    nodes = {"a": ["in"], "b": ["a"], "c": ["b"], "d": ["c"]}
    model = lab.model_of(nodes, {"a": 100, "b": 60, "c": 80})
    program = plan(model, lab.mapping_of(model), lab.soc_of())
    assert program.memory[1].arena_bytes == 160
    assert program.allocation.status == "optimal"
    kinds = {b.tensors: b.kind for b in program.buffers}
    assert kinds == {
        ("in",): "input",
        ("a",): "activation",
        ("b",): "activation",
        ("c",): "activation",
        ("d",): "output",
    }
    assert [t.depends for t in program.tasks] == [(), (0,), (1,), (2,)]
    assert [t.start_cycles for t in program.tasks] == [0, 10, 20, 30]
    assert program.tasks[1].buffers_in == ("activation_0",)
    assert program.tasks[3].buffers_out == ("output_0",)


def test_a_better_order_is_found(lab):
    """Two branches that are wide inside: one after the other needs less than both side by side."""
    nodes = {"a": ["in"], "b": ["in"], "c": ["a"], "d": ["b"], "e": ["c", "d"]}
    model = lab.model_of(nodes, {"a": 400, "b": 400, "c": 4, "d": 4})
    program = plan(model, lab.mapping_of(model), lab.soc_of())
    assert [t.assignment.candidate.node_names[0] for t in program.tasks] == ["a", "c", "b", "d", "e"]
    assert program.memory[1].arena_bytes == 408
    assert program_faults(model.graph, program) == ()


def test_what_is_hidden_inside_a_candidate_needs_no_bytes(lab):
    model = lab.model_of({"a": ["in"], "b": ["a"], "c": ["b"]}, {"a": 500, "b": 20})
    program = plan(model, lab.mapping_of(model, groups=[["a", "b"], ["c"]]), lab.soc_of())
    assert program.memory[1].arena_bytes == 20


def test_views_share_bytes_and_lengthen_lives(lab):
    nodes = {"a": ["in"], "v": ["a"], "b": ["in"], "c": ["v", "b"]}
    model = lab.model_of(nodes, {"a": 40, "v": 40, "b": 24})
    program = plan(model, lab.mapping_of(model, views=["v"]), lab.soc_of())
    shared = next(b for b in program.buffers if "a" in b.tensors)
    assert shared.tensors == ("a", "v")
    assert (shared.first_task, shared.last_task) == (0, 3)
    assert program.memory[1].arena_bytes == 64
    view = next(t for t in program.tasks if t.assignment.candidate.pattern.view)
    assert view.buffers_in == view.buffers_out == (shared.name,)


def test_a_view_may_be_an_output_or_show_an_input(lab):
    model = lab.model_of({"a": ["in"], "v": ["a"]}, {"a": 8, "v": 8})
    program = plan(model, lab.mapping_of(model, views=["v"]), lab.soc_of())
    assert [(b.kind, b.tensors) for b in program.buffers] == [("input", ("in",)), ("output", ("a", "v"))]
    assert program.memory[1].arena_bytes == 0
    model = lab.model_of({"v": ["in"], "a": ["v"]}, {"in": 8, "v": 8})
    program = plan(model, lab.mapping_of(model, views=["v"]), lab.soc_of())
    assert [(b.kind, b.tensors) for b in program.buffers] == [("input", ("in", "v")), ("output", ("a",))]


@pytest.mark.parametrize(
    ("nodes", "views", "outputs"),
    [
        ({"v": ["in"]}, ["v"], ["v"]),
        ({"a": ["in"], "v": ["a"]}, ["v"], ["a", "v"]),
        ({"a": ["in"]}, [], ["a", "in"]),
        ({"a": ["in"]}, [], ["a", "a"]),
    ],
)
def test_outputs_that_nothing_computes_are_refused(lab, nodes, views, outputs):
    sizes = dict.fromkeys(("in", "a", "v"), 8)
    model = lab.model_of(nodes, sizes, outputs=[n for n in outputs if n in nodes])
    tensors = {t.name: t for node in model.graph.nodes for t in (*node.inputs, *node.outputs)}
    model.graph.outputs = [tensors[name] for name in outputs]
    with pytest.raises(UnsupportedError) as caught:
        plan(model, lab.mapping_of(model, views), lab.soc_of())
    assert caught.value.code == "MATCH-P003"
    assert repr(outputs[-1]) in caught.value.what


def test_constant_outputs_are_refused(lab):
    import onnx_graphsurgeon as gs

    model = lab.model_of({"a": ["in"]}, {})
    model.graph.outputs = [*model.graph.outputs, gs.Constant("k", np.zeros(3, np.uint8))]
    with pytest.raises(UnsupportedError, match="'k' is not computed"):
        plan(model, lab.mapping_of(model), lab.soc_of())


def test_scratch_is_alive_during_its_task_only(lab):
    model = lab.model_of({"a": ["in"], "b": ["a"], "c": ["b"]}, {"a": 100, "b": 10})
    program = plan(model, lab.mapping_of(model), lab.soc_of(), (), {0: 50, 2: 90})
    scratch = [(b.name, b.first_task, b.last_task, b.size_bytes) for b in program.buffers if b.kind == "scratch"]
    assert scratch == [("scratch_0", 0, 0, 50), ("scratch_2", 2, 2, 90)]
    assert program.memory[1].arena_bytes == 152


def test_scratch_follows_its_task_when_the_order_changes(lab):
    nodes = {"a": ["in"], "b": ["in"], "c": ["a"], "d": ["b"], "e": ["c", "d"]}
    model = lab.model_of(nodes, {"a": 400, "b": 400, "c": 4, "d": 4})
    program = plan(model, lab.mapping_of(model), lab.soc_of(), (), {2: 30})
    (scratch,) = [b for b in program.buffers if b.kind == "scratch"]
    assert program.tasks[scratch.first_task].assignment.candidate.node_names == ("c",)


def test_unit_memories_hold_the_largest_working_set(lab):
    model = lab.model_of({"a": ["in"], "b": ["a"]}, {})
    mapping = lab.mapping_of(model)
    tiled = tuple(
        replace(a, schedule=replace(a.schedule, memory="l1", working_bytes=(("l1", size),)))
        for a, size in zip(mapping.assignments, (300, 700), strict=True)
    )
    program = plan(model, replace(mapping, assignments=tiled), lab.soc_of())
    assert [(u.memory, u.arena_bytes, u.available_bytes) for u in program.memory] == [
        ("l1", 700, 1000),
        ("l2", 16, 1 << 20),
    ]
    wrong = tuple(replace(a, schedule=replace(a.schedule, memory="l2")) for a in tiled)
    with pytest.raises(ValueError, match="holds the activations"):
        plan(model, replace(mapping, assignments=wrong), lab.soc_of())


def test_a_program_that_does_not_fit_tells_what_where_and_how_much(lab):
    model = lab.model_of({"a": ["in"], "b": ["a"], "c": ["b"]}, {"a": 300, "b": 500})
    constants = (("w_small", 10), ("w_large", 290))
    plan(model, lab.mapping_of(model), lab.soc_of(1132), constants)
    with pytest.raises(InfeasibleError) as caught:
        plan(model, lab.mapping_of(model), lab.soc_of(1032), constants)
    error = caught.value
    assert error.code == "MATCH-M001"
    assert error.what == "the program does not fit memory l2: 100 bytes too much"
    assert error.where == "most is alive at task 1: 'source/b' (op on host)"
    assert error.why == (
        "needs 1132 bytes of 1032: 800 for activations, 300 for constants, 32 for graph inputs and outputs; "
        "alive at task 1: 'b' 500, 'a' 300; "
        "largest constants: 'w_large' 290, 'w_small' 10"
    )
    assert error.help == (
        "make the tensors at the peak 100 bytes smaller: a smaller input, or fewer channels there",
        "make the constants 100 bytes smaller: fewer channels, or narrower weights",
        "choose a target whose l2 has at least 1132 bytes",
    )


def test_only_what_is_large_enough_is_told_to_be_made_smaller(lab):
    """200 bytes of tensors, 300 of constants and 32 of the caller's: only constants have 250 bytes to lose, neither has
    400."""
    model = lab.model_of({"a": ["in"], "b": ["a"], "c": ["b"]}, {"a": 100, "b": 100})
    for size, told in (
        (282, "make the constants 250 bytes smaller: fewer channels, or narrower weights"),
        (132, "make constants and tensors at the peak 400 bytes smaller together"),
    ):
        with pytest.raises(InfeasibleError) as caught:
            plan(model, lab.mapping_of(model), lab.soc_of(size), [("w", 300)])
        assert caught.value.help == (told, "choose a target whose l2 has at least 532 bytes")
    plan(model, lab.mapping_of(model), lab.soc_of(282), [("w", 50)])


def test_constants_alone_may_be_too_many(lab):
    model = lab.model_of({"a": ["in"]}, {})
    with pytest.raises(InfeasibleError) as caught:
        plan(model, lab.mapping_of(model), lab.soc_of(1000), [(f"w{i}", 100) for i in range(12)])
    assert "make the constants 232 bytes smaller" in caught.value.help[0]
    assert "4 more with 400 together" in caught.value.why


def test_sizes_of_tensors():
    import onnx_graphsurgeon as gs
    from onnx import TensorProto

    assert tensor_bytes(gs.Variable("x", np.int32, [2, 3])) == 24
    assert tensor_bytes(gs.Variable("x", np.bool_, [3])) == 3
    assert tensor_bytes(gs.Variable("x", np.float64, [])) == 8
    assert tensor_bytes(gs.Variable("x", TensorProto.INT4, [3])) == 2
    assert tensor_bytes(gs.Variable("x", TensorProto.BFLOAT16, [3])) == 6


# --- the validator -------------------------------------------------------------------------------------------------


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
        (lambda p: replace(p, tasks=(p.tasks[1], p.tasks[0], *p.tasks[2:])), "before it is made"),
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


# --- streamed constants ----------------------------------------------------------------------------------------------


def weights(size):
    from match_core.schedule.workload import Axis, Operand, Workload

    return Workload("test", (), (Operand("w", "constant", (Axis("k", size),)),), 0)


def streaming(lab, size=900, staging=64, store_bytes=4096):
    """A chain of three tasks; the second streams ``size`` bytes through ``staging`` of them."""
    from match_core.hardware import Memory
    from match_core.schedule.loops import Placement

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
        (lambda p: with_buffer(p, "scratch_1", size_bytes=63), "stages 64 bytes in l2, which it does not own"),
        (lambda p: with_buffer(p, "scratch_1", first_task=0, last_task=0), "which it does not own"),
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
    assert error.what == "the program does not fit memory l3: 100 bytes too much"
    assert error.why == "needs 900 bytes of 800 for streamed constants; largest constants: 'w' 900"
