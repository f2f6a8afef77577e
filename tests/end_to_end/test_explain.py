"""``match explain`` is right: a layer built anew with the change that it names runs on the unit that it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx
import pytest
from match_core.advice.check import check_model
from match_core.advice.explain import explain_node
from match_core.pipeline import CompileRequest
from match_core.plugin.host import Plugins

from tests.end_to_end.layer_specs import NODE, LayerSpec, layer_model

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Case:
    """A layer on a target and the units that run it before and after the change."""

    target: str
    spec: LayerSpec
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.target}-{self.before}-{self.after}-{self.spec.in_channels}"


CASES = (
    Case("gap9", LayerSpec(16, 16, 32, 32, kernel=5), "cluster", "ne16"),
    Case("gap9", LayerSpec(16, 16, 16, 16, kernel=3), "ne16", "cluster"),
    Case("gap9", LayerSpec(32, 32, 16, 16, kernel=5, depthwise=True), "cluster", "ne16"),
    Case("gap9", LayerSpec(64, 10), "cluster", "host"),
    Case("gap9", LayerSpec(3, 2, 2, 2, kernel=1), "host", "cluster"),
    Case("diana", LayerSpec(16, 16, 16, 16, kernel=3), "digital", "host"),
    Case("diana", LayerSpec(16, 16, 16, 16, kernel=3, activations="uint8"), "host", "digital"),
    Case("diana", LayerSpec(64, 64), "digital", "host"),
    Case("carfield", LayerSpec(16, 16, 16, 16, kernel=3, elements="float32"), "host", "pulp"),
    Case("carfield", LayerSpec(4, 4), "host", "pulp"),
)


def _unit(path: Path, target: str, plugins: Plugins) -> str:
    """Who computes most of the layer."""
    found = check_model(CompileRequest(model=path, target=target, execution="sequential", cache=False), plugins)
    assert found.report is not None
    layers = [layer for layer in found.report["layers"] if NODE in layer["onnx_names"] and not layer["view"]]
    unit: str = max(layers, key=lambda layer: (layer["macs"], layer["predicted_cycles"]))["unit"]
    return unit


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_change_that_it_names_moves_the_layer(case: Case, tmp_path: Path) -> None:
    plugins = Plugins.load()
    path = tmp_path / "layer.onnx"
    onnx.save(layer_model(case.spec), str(path))
    request = CompileRequest(model=path, target=case.target, cache=False)
    found = explain_node(request, NODE, plugins)
    assert found.flips is not None and found.flips.flip is not None
    flip = found.flips.flip
    assert (flip.unit_before, flip.unit_after) == (case.before, case.after), (flip.parameter, flip.before, flip.after)
    assert _unit(path, case.target, plugins) == case.before

    rebuilt = case.spec.changed(flip.parameter, flip.after)
    assert rebuilt != case.spec
    onnx.save(layer_model(rebuilt), str(path))
    assert _unit(path, case.target, plugins) == case.after
    onnx.save(flip.model, str(path))
    assert _unit(path, case.target, plugins) == case.after, "the model that --apply writes"


def test_nothing_moves_a_layer_where_there_is_one_unit(tmp_path: Path) -> None:
    path = tmp_path / "layer.onnx"
    onnx.save(layer_model(LayerSpec(8, 8, 8, 8, kernel=3)), str(path))
    found = explain_node(CompileRequest(model=path, target="host", cache=False), NODE, Plugins.load())
    assert found.margin is None
    assert found.flips is not None and found.flips.tried > 10 and found.flips.flip is None
