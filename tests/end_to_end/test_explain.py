"""``match explain`` is right: a layer built anew with the change that it names runs on the unit that it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest
from match_core.pipeline import CompileRequest
from match_core.plugin.facade import Plugins
from match_report.advice.check import check_model
from match_report.advice.explain import explain_node

from tests.end_to_end.layer_specs import NODE, LayerSpec, layer_model
from tests.tiers import in_ci

if TYPE_CHECKING:
    from pathlib import Path


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
