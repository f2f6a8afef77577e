"""Programs whose unit rewrites its regions: model, mapping, reports and the twin follow the rewritten nodes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.parser
import pytest
from match_core.contract.errors import PluginError
from match_core.contract.mapping import Assignment
from match_core.contract.observe import NullObserver
from match_core.emit.partition import partition
from match_core.map.bodies import with_bodies
from match_core.pipeline import CompileRequest, build_program
from match_core.summary.document import report_document
from match_core.validate.mapping import mapping_faults
from match_report.advice.explain import explain_node
from match_verify.reference import ReferenceRunner
from match_verify.verify import VerifyRequest, verify_model

from core.tests.regions.engine_plugin import plugin

if TYPE_CHECKING:
    from match_core.contract.compilation import Compilation
    from match_core.plugin.facade import Plugins

    from core.tests.plugin.distributions import Site

HEAD = '<ir_version: 10, opset_import: ["" : 21]> net '
#: Two regions around a Sigmoid; early is an output, read inside and outside.
NET = """(float[4,6] x, float[4,6] y) => (float[4,6] early, float[4,6] late, float[4,6] other)
    <float[4,6] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24}, float s = {0.5}> {
    early = Add (x, w)
    p = Mul (early, y)
    q = Relu (p)
    m = Sigmoid (q)
    n = Sub (m, s)
    late = Mul (n, early)
    k = Neg (x)
    other = Add (k, late) }"""

#: a + b as a - (-b), then -x of constants as constants of another name: bit exact, and no Add is left.
PASSES = """
from match_core import OperatorClaim, RegionClaims
from match_regions import region_pattern
from match_core.ir.editor import Editor

def subtract(model, context):
    assert context.soc.name in ("engine_chip", "beside_chip") and [u.name for u in context.units] == ["host", "engine"]
    editor = Editor(model)
    for node in [n for n in editor.graph.nodes if n.op == "Add"]:
        (a, b), (y,), origin = node.inputs, node.outputs, editor.origin(node)
        minus = editor.node("Neg", [b], b.dtype, b.shape, name="n", origin=origin)
        editor.replace(y, editor.node("Sub", [a, minus], y.dtype, y.shape, name=node.name, origin=origin))
    return editor.finish()

def fold(model, context):
    editor = Editor(model)
    for node in [n for n in editor.graph.nodes if n.op == "Neg" and hasattr(n.inputs[0], "values")]:
        editor.replace(node.outputs[0], editor.constant("w", -node.inputs[0].values))
    return editor.finish()

def fail(model, context):
    raise ArithmeticError("no scale")

CLAIMS = RegionClaims(
    tuple(OperatorClaim(op) for op in OPS),
    passes=tuple(Pass(f.__name__, Phase.TARGET, f, "", exact=None) for f in (@PASSES@)),
)

@hookimpl
def match_patterns(unit):
    return (region_pattern("engine_region", "elementwise operators", CLAIMS),) if unit.name == "engine" else ()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + NET), str(path))
    return path


def loaded(site: Site, passes: str = "subtract, fold,") -> Plugins:
    site.plugin("engine", plugin("json") + PASSES.replace("@PASSES@", passes))
    plugins = site.load()
    assert plugins.faults == ()
    return plugins


def compiled(path: Path, plugins: Plugins, target: str = "engine_chip", **options: Any) -> Compilation:
    return build_program(CompileRequest(path, target, **options), plugins, NullObserver())


def operators(compiled: Compilation) -> list[str]:
    return sorted(node.op for node in compiled.model.graph.nodes)


REWRITTEN = ["Mul", "Mul", "Neg", "Neg", "Relu", "Sigmoid", "Sub", "Sub", "Sub"]


@pytest.mark.parametrize("target", ["engine_chip", "beside_chip"])
def test_the_model_is_what_the_unit_computes(site: Site, path: Path, target: str) -> None:
    options = {"execution": "concurrent"} if target == "beside_chip" else {}
    made = compiled(path, loaded(site), target, **options)
    assert bool(made.mapping.starts) == (target == "beside_chip")
    assert operators(made) == REWRITTEN
    assert mapping_faults(made.model.graph, made.mapping) == ()
    regions = [a.candidate for a in made.mapping.assignments if a.candidate.unit == "engine"]
    assert [[tensor.name for tensor in c.match.outputs] for c in regions] == [["early", "q"], ["late", "other"]]
    for candidate in regions:
        tensors = {name: tensor.name for name, tensor in candidate.match.captures.items()}
        assert set(tensors) == {operand.name for operand in candidate.workload.operands}
    assert dict(regions[0].workload.geometry)["nodes_Sub"] == 1
    names = [node.name for node in made.model.graph.nodes]
    assert len(set(names)) == len(names)
    inputs = {name: np.random.default_rng(3).standard_normal((4, 6)).astype(np.float32) for name in "xy"}
    expected = ReferenceRunner(onnx.load(path)).run(inputs)
    for model in (made.model, partition(made.model, made.mapping)):
        assert {n: a.tobytes() for n, a in ReferenceRunner(model).run(inputs).items()} == {
            n: a.tobytes() for n, a in expected.items()
        }


def test_new_nodes_come_from_source_nodes(site: Site, path: Path) -> None:
    made = compiled(path, loaded(site))
    known = {node.outputs[0].name: node for node in made.source.graph.nodes}
    origins = {node.outputs[0].name: made.model.origin([node]) for node in made.model.graph.nodes}
    assert origins["early"] == made.source.origin([known["early"]])
    assert origins["other"] == made.source.origin([known["other"]])


@pytest.mark.parametrize(("target", "mode"), [("engine_chip", "eager"), ("beside_chip", "threads")])
def test_programs_are_right(site: Site, path: Path, target: str, mode: str) -> None:
    request = VerifyRequest(path, target, sanitize=mode == "eager", mode=mode)
    if target == "beside_chip":
        request = replace(request, execution="concurrent")
    result = verify_model(request, loaded(site))
    assert result.ok
    assert [node.unit for node in result.run.nodes].count("engine") == 2
    assert operators(result.compilation) == REWRITTEN


def test_report_and_explain_tell_what_else_could_run(site: Site, path: Path) -> None:
    plugins = loaded(site)
    made = compiled(path, plugins)
    layers: Any = report_document(made, {})["layers"]
    (first,) = [layer for layer in layers if layer["unit"] == "engine" and "early" in str(layer["title"])] or layers[:1]
    assert first["unit"] == "engine"
    assert {entry["unit"] for entry in first["alternatives"]} == {"engine", "host"}
    assert [entry["unit"] for entry in first["alternatives"] if entry["chosen"]] == ["engine"]
    sources = {node.name for node in made.source.graph.nodes}
    assert all(sources.issuperset(entry["onnx_names"]) for entry in first["alternatives"])
    told = explain_node(CompileRequest(path, "engine_chip"), first["onnx_names"][0], plugins, flips=False)
    assert {(entry.unit, entry.chosen) for entry in told.considered} >= {("engine", True), ("host", False)}


def test_offers_go_on_to_the_new_graph(site: Site, path: Path) -> None:
    """A region that is not chosen stays what it was, and is on offer; what covers replaced nodes is not."""
    made = compiled(path, loaded(site))
    original = compiled(path, loaded_again(site), without_units=("engine",)).model
    offered = made.offered
    regions = [a for a in offered if a.candidate.unit == "engine"]
    host = {
        a.candidate.node_names: a for a in offered if a.candidate.unit == "host" and len(a.candidate.node_names) == 1
    }
    names = {node.name for node in original.graph.nodes}
    inside = set(regions[0].candidate.node_names)
    rest: list[Assignment] = [a for nodes, a in sorted(host.items()) if not inside & set(nodes)]
    mapping = replace(made.mapping, assignments=(regions[0], *rest))
    model = replace(original, graph=_graph_of(regions[0], rest, original))
    changed = with_bodies(model, mapping, offered)
    there = {node.name for node in changed.model.graph.nodes}
    assert names - inside < there
    kept = [a.candidate.node_names for a in changed.offered]
    assert all(there.issuperset(nodes) for nodes in kept)
    assert regions[1].candidate.node_names in kept
    assert changed.mapping.assignments[0].candidate.pattern.constraints == ()


def _graph_of(region: Assignment, rest: list[Assignment], original: Any) -> Any:
    """The graph whose nodes the offers hold."""
    import onnx_graphsurgeon as gs

    nodes = [*region.candidate.match.nodes, *(node for a in rest for node in a.candidate.match.nodes)]
    made = {tensor.name: tensor for node in nodes for tensor in (*node.inputs, *node.outputs)}
    graph = gs.Graph(
        nodes,
        inputs=[made[t.name] for t in original.graph.inputs],
        outputs=[made[t.name] for t in original.graph.outputs],
        opset=21,
    )
    return graph


def loaded_again(site: Site) -> Plugins:
    return site.load()


@pytest.mark.parametrize(
    ("passes", "told"),
    [
        ("subtract, fail,", "pass fail on the region of the 3 nodes from "),
        ("lambda m, c: Editor(m).graph,", "it returned Graph, Model expected"),
    ],
)
def test_a_broken_pass_is_the_fault_of_its_package(site: Site, path: Path, passes: str, told: str) -> None:
    with pytest.raises(PluginError) as error:
        compiled(path, loaded(site, passes))
    assert "pkg-engine" in str(error.value.where) + error.value.why + error.value.what
    assert told in error.value.why
