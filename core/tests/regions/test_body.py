"""Regions as models of their own, and what passes may do with them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import onnx.parser
import onnx_graphsurgeon as gs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_core.contract.claims import OperatorClaim, RegionClaims
from match_core.contract.errors import UsageError
from match_core.contract.hardware import Memory, Soc, Unit
from match_core.contract.model import Model
from match_core.contract.passes import Pass, PassContext, Phase
from match_core.contract.region import Region
from match_core.ir.editor import Editor
from match_core.regions.body import RegionPassError, region_body
from match_core.regions.extract import region_model
from match_verify.reference import ReferenceRunner

from tests.pass_checks import PassBrokeModelError, VerifyPass

HEAD = '<ir_version: 10, opset_import: ["" : 21, "match.nhwc" : 1]> net '
NET = """(float[1,4,4,2] x, float[4,1] s) => (float[1,4,4,3] y, float[1,2,2,3] m)
    <float[3,2,1,1] w = {1, 2, 3, 4, 5, 6}, float[3] b = {0.5, 1, 2}> {
    c = match.nhwc.Conv <kernel_shape=[1,1], pads=[0,0,0,0], strides=[1,1], dilations=[1,1], group=1> (x, w, b)
    r = Relu (c)
    y = Mul (r, s)
    m = match.nhwc.MaxPool <kernel_shape=[2,2], pads=[0,0,0,0], strides=[2,2], dilations=[1,1], ceil_mode=0> (r) }"""
SOC = Soc("chip", "a chip", "host", ("host",), (Memory("ram", 2, 65536),), (), "ram")
CONTEXT = PassContext(SOC, (Unit("host", ""),))


def graph_of(text: str = NET) -> gs.Graph:
    graph = gs.import_onnx(onnx.shape_inference.infer_shapes(onnx.parser.parse_model(HEAD + text)))
    shapes = {"c": [1, 4, 4, 3], "r": [1, 4, 4, 3], "y": [1, 4, 4, 3], "m": [1, 2, 2, 3]}
    for node in graph.nodes:
        node.name = f"n_{node.outputs[0].name}"
        for tensor in node.outputs:
            tensor.dtype, tensor.shape = np.dtype(np.float32), shapes.get(tensor.name, tensor.shape)
    return graph


def region_of(graph: gs.Graph, nodes: str, results: str) -> Region:
    made = {node.outputs[0].name: node for node in graph.nodes}
    return Region.of([made[name] for name in nodes.split()], [made[name].outputs[0] for name in results.split()])


def claims(*passes: Callable[[Model, PassContext], Any]) -> RegionClaims:
    made = tuple(Pass(f"p{n}", Phase.TARGET, run, "", exact=None) for n, run in enumerate(passes))
    return RegionClaims((OperatorClaim("Relu"),), passes=made)


def body(*passes: Callable[[Model, PassContext], Any], graph: gs.Graph | None = None) -> Model:
    return region_body(region_of(graph or graph_of(), "c r y", "r y"), claims(*passes), CONTEXT)


def test_a_region_is_a_model_that_runs_alone() -> None:
    model = region_model(region_of(graph_of(), "c r m", "r m"))
    generator = np.random.default_rng(1)
    x = generator.standard_normal((1, 4, 4, 2)).astype(np.float32)
    found = ReferenceRunner(model).run({"x": x})
    values = {c.name: c.values for c in model.graph.tensors().values() if isinstance(c, gs.Constant)}
    r = np.maximum(x @ values["w"].reshape(3, 2).T + values["b"], 0)
    assert list(found) == ["r", "m"]
    np.testing.assert_allclose(found["r"], r, rtol=1e-5)
    np.testing.assert_allclose(found["m"], r.reshape(1, 2, 2, 2, 2, 3).max(axis=(2, 4)), rtol=1e-5)
    assert model.provenance == {f"n_{name}": (f"n_{name}",) for name in "crm"}


def test_the_copy_shares_nothing_that_changes() -> None:
    graph = graph_of()
    region = region_of(graph, "c r y", "y")
    model = region_model(region)
    for node in model.graph.nodes:
        node.name, node.attrs["extra"] = "other", 1
        for tensor in (*node.inputs, *node.outputs):
            tensor.name += "_other"
    assert [node.name for node in region.nodes] == ["n_c", "n_r", "n_y"]
    assert all("extra" not in node.attrs for node in graph.nodes)
    assert [tensor.name for tensor in region.inputs] == ["x", "s"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("Neg", "Abs", "Add", "Mul")), st.integers(0), st.integers(0)), min_size=1,
                max_size=12), st.data())  # fmt: skip
def test_any_part_of_a_graph_computes_the_same_alone(steps: list[tuple[str, int, int]], data: st.DataObject) -> None:
    """Nodes at random, those inside at random: with the right inputs the model gives what the whole graph gives."""
    x, w = gs.Variable("x", np.float32, [3]), gs.Constant("w", np.array([2, -1, 3], np.float32))
    tensors: list[gs.Tensor] = [x, w]
    nodes = []
    for number, (op, one, other) in enumerate(steps):
        read = [tensors[one % len(tensors)], tensors[other % len(tensors)]][: 2 if op in ("Add", "Mul") else 1]
        made = gs.Variable(f"t{number}", np.float32, [3])
        nodes.append(gs.Node(op, f"n{number}", {}, read, [made]))
        tensors.append(made)
    inside = sorted(data.draw(st.sets(st.integers(0, len(nodes) - 1), min_size=1)))
    chosen = [nodes[number] for number in inside]
    region = Region.of(chosen, [node.outputs[0] for node in chosen])
    whole = Model("whole", gs.Graph(nodes, inputs=[x], outputs=tensors[2:], opset=21))
    if not any(tensor is x for node in nodes for tensor in node.inputs):
        whole.graph.inputs = []
    known = ReferenceRunner(whole).run({"x": np.array([1.5, -2, 0.25], np.float32)})
    known["x"] = np.array([1.5, -2, 0.25], np.float32)
    found = ReferenceRunner(region_model(region)).run({t.name: known[t.name] for t in region.inputs})
    assert {name: array.tobytes() for name, array in found.items()} == {
        tensor.name: known[tensor.name].tobytes() for tensor in region.outputs
    }


def halve(model: Model, context: PassContext) -> Model:
    """Relu as (x + abs(x)) / 2."""
    editor = Editor(model)
    for node in [n for n in editor.graph.nodes if n.op == "Relu"]:
        (x,), (y,), origin = node.inputs, node.outputs, editor.origin(node)
        size = editor.node("Abs", [x], x.dtype, x.shape, name="size", origin=origin)
        total = editor.node("Add", [x, size], x.dtype, x.shape, name="total", origin=origin)
        half = editor.constant("half", np.array(0.5, np.float32))
        editor.replace(y, editor.node("Mul", [total, half], x.dtype, x.shape, name="halved", origin=origin))
    return editor.finish()


def test_passes_run_in_their_order_with_the_context() -> None:
    seen: list[object] = []

    def note(name: str) -> Callable[[Model, PassContext], Model]:
        def run(model: Model, context: PassContext) -> Model:
            seen.append((name, context is CONTEXT, [node.op for node in model.graph.nodes]))
            return model

        return run

    made = body(note("b"), halve, note("a"))
    before, after = ["Conv", "Relu", "Mul"], ["Conv", "Abs", "Add", "Mul", "Mul"]
    assert seen == [("b", True, before), ("a", True, after)]
    assert [tensor.name for tensor in made.graph.outputs] == ["r", "y"]
    assert made.provenance["total"] == ("n_r",)
    arrays = {"x": np.ones((1, 4, 4, 2), np.float32), "s": np.full((4, 1), 2, np.float32)}
    plain = ReferenceRunner(region_model(region_of(graph_of(), "c r y", "r y"))).run(arrays)
    assert {n: a.tobytes() for n, a in ReferenceRunner(made).run(arrays).items()} == {
        n: a.tobytes() for n, a in plain.items()
    }


def changed(change: Callable[[Editor], object]) -> Callable[[Model, PassContext], Model]:
    def run(model: Model, context: PassContext) -> Model:
        editor = Editor(model)
        change(editor)
        return replace(editor.model, graph=editor.graph)

    return run


def _node(editor: Editor, op: str) -> gs.Node:
    return next(node for node in editor.graph.nodes if node.op == op)


FAULTS: dict[str, tuple[Callable[[Editor], object], str]] = {
    "renamed": (lambda e: setattr(e.graph.outputs[1], "name", "z"), "outputs were r float32[1,4,4,3], y float32[1,4,4"),
    "retyped": (lambda e: setattr(e.graph.inputs[0], "dtype", np.dtype(np.int8)), "are now x int8[1,4,4,2]"),
    "untyped": (lambda e: setattr(e.graph.inputs[0], "dtype", None), "are now x untyped[1,4,4,2]"),
    "of a type that numpy lacks": (lambda e: setattr(e.graph.inputs[0], "dtype", 17), "are now x type 17 [1,4,4,2]"),
    "reshaped": (lambda e: setattr(e.graph.outputs[0], "shape", None), "are now r float32[?]"),
    "swapped": (lambda e: e.graph.outputs.reverse(), "are now y float32[1,4,4,3], r float32[1,4,4,3]"),
    "dropped": (lambda e: e.graph.inputs.clear(), "inputs were x float32[1,4,4,2], s float32[4,1] and are now none"),
    "unread": (lambda e: _node(e, "Mul").inputs.__setitem__(1, e.constant("k", np.ones(1))), "s is no longer read"),
    "unmade": (lambda e: e.graph.nodes.remove(_node(e, "Relu")), "no node makes output r"),
    "from nowhere": (
        lambda e: _node(e, "Relu").inputs.__setitem__(0, e.variable("k", np.float32, [1])),
        "node n_r reads k, which no node computes",
    ),
    "no inner type": (lambda e: setattr(_node(e, "Conv").outputs[0], "dtype", None), "tensor c has no type"),
    "no inner shape": (lambda e: setattr(_node(e, "Conv").outputs[0], "shape", ["N", 4]), "or no fixed shape"),
    "two of a name": (lambda e: setattr(_node(e, "Conv").outputs[0], "name", "b"), "two tensors have the name b"),
    "circle": (
        lambda e: _node(e, "Conv").inputs.__setitem__(2, _node(e, "Mul").outputs[0]),
        "the graph has a cycle",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_pass_that_breaks_the_region_is_named(name: str) -> None:
    change, fault = FAULTS[name]
    with pytest.raises(RegionPassError, match=re.escape(fault)) as error:
        body(halve if name == "swapped" else lambda model, context: model, changed(change))
    assert str(error.value).startswith("pass p1 on the region of the 3 nodes from n_c to n_y: ")


def test_what_a_pass_raises_is_told_with_pass_and_region() -> None:
    def fail(model: Model, context: PassContext) -> Model:
        raise KeyError("scale")

    with pytest.raises(RegionPassError, match=r"pass p0 on the region of the 3 nodes .*: KeyError: 'scale'"):
        body(fail)
    with pytest.raises(RegionPassError, match="it returned NoneType, Model expected"):
        body(lambda model, context: None)

    def refuse(model: Model, context: PassContext) -> Model:
        raise UsageError("MATCH-U001", "no", "here", "because", ("do this",))

    with pytest.raises(UsageError):
        body(refuse)


def test_one_node_is_told_in_the_singular() -> None:
    region = region_of(graph_of(), "r", "r")
    with pytest.raises(RegionPassError, match="pass p0 on the region of the node n_r: "):
        region_body(region, claims(lambda model, context: None), CONTEXT)


def test_observers_see_each_pass() -> None:
    seen: list[tuple[str, ...]] = []

    class Watch:
        def before_pass(self, item: Pass, model: Model) -> None:
            seen.append(("before", item.name, *(node.op for node in model.graph.nodes)))

        def after_pass(self, item: Pass, before: Model, after: Model) -> None:
            seen.append(("after", item.name, *(node.op for node in after.graph.nodes)))

    region = region_of(graph_of(), "r", "r")
    region_body(region, claims(lambda model, context: model, halve), CONTEXT, [Watch()])
    halved = ("Abs", "Add", "Mul")
    assert seen == [
        ("before", "p0", "Relu"),
        ("after", "p0", "Relu"),
        ("before", "p1", "Relu"),
        ("after", "p1", *halved),
    ]


def test_a_promise_that_a_pass_breaks_is_found_by_the_core_s_own_check() -> None:
    def wrong(model: Model, context: PassContext) -> Model:
        editor = Editor(model)
        _node(editor, "Relu").op = "Abs"
        return editor.finish()

    exact = RegionClaims((), passes=(Pass("wrong", Phase.TARGET, wrong, "", exact=True),))
    with pytest.raises(PassBrokeModelError, match="pass 'wrong' changed output 'r'"):
        region_body(region_of(graph_of(), "c r", "r"), exact, CONTEXT, [VerifyPass()])
