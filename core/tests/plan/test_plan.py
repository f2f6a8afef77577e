"""Plans of programs: bytes and lives of tensors, orders, and what does not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from match_core.contract.errors import InfeasibleError, UnsupportedError
from match_core.map.dataflow import tensor_bytes
from match_core.validate.sequential_program import program_faults

from core.tests.plan.planned import plan
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
    assert error.what == "the program does not fit memory l2: 100 bytes too many"
    assert error.where == "most bytes are alive at task 1: 'source/b' (op on host)"
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
