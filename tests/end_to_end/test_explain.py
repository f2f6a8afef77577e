"""``match explain`` is right: a layer built anew with the change that it names runs on the unit that it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.parser
import pytest
from match_core.contract.errors import PluginError
from match_core.contract.observe import NullObserver
from match_core.ir.titles import source_operators
from match_core.pipeline import CompileRequest, decide, prepare
from match_core.plugin.facade import Plugins
from match_report.advice import flip
from match_report.advice.check import check_model
from match_report.advice.edits import edits_of
from match_report.advice.explain import computing_first, explain_node
from match_report.advice.isolate import layer_graph, to_proto
from onnx import numpy_helper

from tests.end_to_end.layer_specs import NODE, LayerSpec, layer_model
from tests.end_to_end.test_moss import Int8Network
from tests.tiers import in_ci

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from match_core.pipeline import Prepared


CASES = (
    ("gap9", LayerSpec(16, 16, 32, 32, kernel=5)),
    ("gap9", LayerSpec(16, 16, 16, 16, kernel=3)),
    ("gap9", LayerSpec(32, 32, 16, 16, kernel=5, depthwise=True)),
    ("gap9", LayerSpec(256, 128)),
    ("gap9", LayerSpec(64, 10)),
    ("gap9", LayerSpec(3, 2, 2, 2)),
    ("diana", LayerSpec(16, 16, 16, 16, kernel=3)),
    ("diana", LayerSpec(16, 16, 16, 16, kernel=3, activations="uint8")),
    ("diana", LayerSpec(64, 64)),
    ("carfield", LayerSpec(16, 16, 16, 16, kernel=3, elements="float32")),
    ("carfield", LayerSpec(8, 8)),
    ("carfield", LayerSpec(64, 64, elements="float32")),
)

#: 5 to 8 s each: larger kernels, depthwise, few channels. CI has a convolution and dense layers of each target.
LARGE = (CASES[0], CASES[2], CASES[5], CASES[6])


def _unit(path: Path, target: str, plugins: Plugins) -> str:
    """Who computes most of the layer."""
    found = check_model(CompileRequest(model=path, target=target, execution="sequential", cache=False), plugins)
    assert found.report is not None
    layers = [layer for layer in found.report["layers"] if NODE in layer["onnx_names"] and not layer["view"]]
    unit: str = max(layers, key=lambda layer: (layer["macs"], layer["predicted_cycles"]))["unit"]
    return unit


@pytest.mark.parametrize(("target", "spec"), in_ci(CASES, lambda case: case not in LARGE), ids=str)
def test_the_change_that_it_names_moves_the_layer(target: str, spec: LayerSpec, tmp_path: Path) -> None:
    plugins = Plugins.load()
    path = tmp_path / "layer.onnx"
    onnx.save(layer_model(spec), str(path))
    found = explain_node(CompileRequest(model=path, target=target, cache=False), NODE, plugins)
    assert found.flips is not None and found.flips.flip is not None
    flip = found.flips.flip
    assert flip.unit_before != flip.unit_after
    assert _unit(path, target, plugins) == flip.unit_before

    rebuilt = spec.changed(flip.parameter, flip.after)
    assert rebuilt != spec
    onnx.save(layer_model(rebuilt), str(path))
    assert _unit(path, target, plugins) == flip.unit_after, (flip.parameter, flip.before, flip.after)
    onnx.save(flip.model, str(path))
    assert _unit(path, target, plugins) == flip.unit_after, "the model that --apply writes"


def test_nothing_moves_a_layer_where_there_is_one_unit(tmp_path: Path) -> None:
    path = tmp_path / "layer.onnx"
    onnx.save(layer_model(LayerSpec(8, 8, 8, 8, kernel=3)), str(path))
    found = explain_node(CompileRequest(model=path, target="host", cache=False), NODE, Plugins.load())
    assert found.margin is None
    assert found.flips is not None and found.flips.tried > 10 and found.flips.flip is None


def _shared_integers(path: Path) -> Path:
    """Two convolutions read one tensor and are added; a depthwise one reads the sum. Scales are those of tensors."""
    net, channels = Int8Network(1), 16
    net.scales["x"] = 0.05
    window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    a = net.layer("x", "a", (channels, 4, 3, 3), **window)
    b = net.layer(a, "b", (channels, channels, 3, 3), **window)
    c = net.layer(a, "c", (channels, channels, 1, 1), kernel_shape=[1, 1])
    total = net.add("Add", [net.real(b), net.real(c)], "total")
    s = net.stored(total, "s", net.scales[b] + net.scales[c])
    d = net.layer(s, "d", (channels, 1, 1, 1), group=channels, kernel_shape=[1, 1])
    onnx.save(net.model({"x": (1, 4, 6, 6)}, {d: (1, channels, 6, 6)}), path)
    return path


def _shared_floats(path: Path) -> Path:
    """Convolutions that share weights and biases, a sum and a concatenation of their results."""
    text = """<ir_version: 10, opset_import: ["" : 17]> net (float[1,8,6,6] x) => (float[1,16,6,6] y) {
        a = Conv <kernel_shape=[1,1]> (x, first, bias) r = Relu (a)
        b = Conv <kernel_shape=[3,3], pads=[1,1,1,1]> (r, square, bias)
        c = Conv <kernel_shape=[3,3], pads=[1,1,1,1]> (b, square, bias) t = Add (r, c)
        d = Conv <kernel_shape=[1,1], group=16> (t, deep, bias) u = Concat <axis=1> (d, r)
        y = Conv <kernel_shape=[1,1]> (u, last, bias) }"""
    shapes = {"first": (16, 8, 1, 1), "bias": (16,), "square": (16, 16, 3, 3), "deep": (16, 1, 1, 1)}
    model, random = onnx.parser.parse_model(text), np.random.default_rng(3)
    for name, shape in {**shapes, "last": (16, 32, 1, 1)}.items():
        model.graph.initializer.append(numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name))
    for node in model.graph.node:
        node.name = node.output[0]
    onnx.save(model, path)
    return path


NETWORKS = {"integers": _shared_integers, "floats": _shared_floats}
SHARED = [("dnnl", "integers"), ("dnnl", "floats"), ("host", "integers"), ("gap9", "integers")]


@pytest.mark.parametrize(("target", "network"), in_ci(SHARED, lambda case: case[1] == "floats"))
def test_no_change_of_a_layer_ends_the_search(target: str, network: str, tmp_path: Path) -> None:
    """Every change of every layer, whatever else reads what it resizes: it is applied, or left out."""
    plugins, quiet = Plugins.load(), NullObserver()
    regions: Literal["largest", "cheapest"] = "largest" if target == "dnnl" else "cheapest"
    path = NETWORKS[network](tmp_path / "net.onnx")
    request = CompileRequest(model=path, target=target, execution="sequential", cache=False, regions=regions)
    prepared = prepare(request, plugins, quiet)
    source, (planned, _) = prepared.source, decide(prepared, plugins, quiet)
    layers = {
        tuple(computing_first(planned.model.origin(task.assignment.candidate.match.nodes), source_operators(source)))
        for task in planned.program.tasks
    }
    tried = 0
    for names in sorted(layers):
        graph = layer_graph(source, names)
        for edit in edits_of(graph):
            flip.run_edit(graph.copy(), edit, names[0], request, plugins)
            tried += 1
    assert tried >= 20


def test_every_change_of_a_quantised_layer_can_be_applied(tmp_path: Path) -> None:
    """Scales of tensors are single numbers, which ternary weights multiply."""
    request = CompileRequest(model=_shared_integers(tmp_path / "net.onnx"), target="host", cache=False)
    graph = layer_graph(prepare(request, Plugins.load(), NullObserver()).source, ["b_p", "b_r"])
    edits = edits_of(graph)
    assert {"weights", "output channels", "kernel"} <= {edit.parameter for edit in edits}
    for edit in edits:
        changed = graph.copy()
        edit.apply(changed)
        onnx.checker.check_model(to_proto(changed))


def test_a_fault_of_a_package_in_a_changed_layer_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "layer.onnx"
    onnx.save(layer_model(LayerSpec(8, 8, 8, 8, kernel=3)), str(path))
    request, runs = CompileRequest(model=path, target="host", cache=False), []

    def failing(prepared: Prepared, *arguments: object) -> object:
        runs.append(prepared)
        if len(runs) > 1:
            raise PluginError("MATCH-H005", "a package failed", "rule", "it raised", ())
        return decide(prepared, *arguments)  # type: ignore[arg-type]  # plugins and observer

    monkeypatch.setattr(flip, "decide", failing)
    found = explain_node(request, NODE, Plugins.load())
    assert found.flips is not None and found.flips.tried > 10 and found.flips.flip is None
