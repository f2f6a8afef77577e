"""The passes on whole networks: every layer with constant weights becomes ITA's, results stay close."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from match_core import Model, PassContext
from match_core.ir.editor import Editor
from match_core.load.load import load_model
from match_core.passes.pipeline import run_passes
from match_core.plugin.facade import Plugins
from match_ita.hardware import hardware
from match_ita.passes.convolution import CONVOLUTION
from match_ita.passes.gelu import GELU_PASS
from match_ita.passes.linear import LINEAR
from match_ita.passes.linear_relu import RELU
from match_ita.passes.linear_requant import as_ita
from match_ita.passes.split import SPLIT
from match_quant.linear.layers import linear_layers
from match_verify.reference import Arrays, ReferenceRunner

from tests.all_passes import core_passes
from tests.tiers import in_ci

SHARED = Path(__file__).resolve().parents[4].parent / "shared"
MODELS = SHARED / "models"
INTEGER = SHARED / "data" / "quantlib" / "Models" / "CCT" / "Int" / "ICCT_ITA"
PASSES = (CONVOLUTION, GELU_PASS, RELU, SPLIT, LINEAR)


def context() -> PassContext:
    soc = hardware().socs[0]
    return PassContext(soc, tuple(Plugins.load().units_of(soc)))


def integer_graph(folder: Path) -> Model:
    if not (folder / "inputs.npz").exists():
        pytest.skip(f"{folder} is not there")
    path = folder / ("model.onnx" if (folder / "model.onnx").exists() else "network.onnx")
    given = context()
    return run_passes(load_model(path), core_passes(given.soc, given.units), given)


def sample(folder: Path, model: Model) -> Arrays:
    """The first input of the stored ones, in the type of the model's."""
    stored = np.load(folder / "inputs.npz")
    (tensor,) = model.graph.inputs
    values = stored[stored.files[0]]
    return {tensor.name: values.reshape(-1, *tensor.shape)[:1].reshape(tensor.shape).astype(tensor.dtype)}


def cosine(a: Arrays, b: Arrays) -> float:
    (u,), (v,) = (list(arrays.values()) for arrays in (a, b))
    x, y = u.astype(np.float64).ravel(), v.astype(np.float64).ravel()
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))


def on_ita(model: Model) -> list[bool]:
    layers = linear_layers(Editor(model))
    sizes = [layer.weight.shape for layer in layers]
    fits = [inputs <= 512 and inputs % 64 == columns % 64 == 0 for inputs, columns in sizes]
    return [as_ita(layer) is not None and fit for layer, fit in zip(layers, fits, strict=True)]


@pytest.mark.parametrize(
    ("name", "layers", "closest"),
    in_ci(
        [
            ("ita_mobilebert_l1_int8_qdq", 6, 0.999),
            ("ita_mobilebert_l1_int8_pc_qdq", 5, 0.999),
            ("ita_dinov2_l1_int8_qdq", 10, 0.999),
            ("ita_whisper_l1_int8_qdq", 10, 0.999),
            ("mobilebert_l1_int8_qdq", 15, 0.999),
            ("dinov2_small_l1_int8_qdq", 12, 0.997),
            ("whisper_tiny_l1_int8_qdq", 14, 0.996),
        ],
        lambda case: "mobilebert" in case[0],
    ),
)
def test_every_linear_layer_is_itas(name: str, layers: int, closest: float) -> None:
    before = integer_graph(MODELS / name)
    after = run_passes(before, PASSES, context())
    found = on_ita(after)
    left = 1 if "_pc_" in name else 0  # without ITA's attention little is known of what comes out of it
    assert (sum(found), len(found)) == (layers, layers + left)
    given = sample(MODELS / name, before)
    assert cosine(ReferenceRunner(before).run(given), ReferenceRunner(after).run(given)) > closest


def test_an_integer_network_keeps_every_bit() -> None:
    before = integer_graph(INTEGER)
    after = run_passes(before, PASSES, context())
    assert sum(on_ita(after)) == 6
    assert sum(node.op == "Gelu" for node in after.graph.nodes) == 1
    given = sample(INTEGER, before)
    expected, got = ReferenceRunner(before).run(given), ReferenceRunner(after).run(given)
    for name, values in expected.items():
        np.testing.assert_array_equal(got[name], values)
