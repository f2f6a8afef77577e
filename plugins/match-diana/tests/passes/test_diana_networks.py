"""The four MLPerf Tiny networks: the form of every layer, and how far results move.

Stored inputs are synthetic (see the README beside the models). Results are softmax outputs in 8 bits, so that classes
of equal value occur: the class is the first of them, in the original too.
"""

from __future__ import annotations

from pathlib import Path

import measure_classes
import numpy as np
import pytest
from diana_forms import layers
from diana_pass_models import PASSES, integer_graph
from match_core import Model
from match_core.load.load import load_model
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

SHARED = Path(__file__).resolve().parents[4].parent / "shared" / "models"
FORMS = ("qdq", "qop")
#: What of each network the array cannot take: the poolings.
HOST = {
    "autoencoder": [],
    "dscnn": ["multipliers"],
    "mobilenetv1_025": ["multipliers"],
    "resnet8": ["multipliers"],
}
SHIFTED = {"autoencoder": 10, "dscnn": 10, "mobilenetv1_025": 28, "resnet8": 10}
SUMS = {"autoencoder": 0, "dscnn": 0, "mobilenetv1_025": 0, "resnet8": 3}
AGREEMENT = 0.95


def folder(name: str, form: str) -> Path:
    found = SHARED / f"mlperf_{name}_int8_{form}"
    if not found.exists():
        pytest.skip(f"{found} is not there")
    return found


def results(model: Model, inputs: NDArray[np.generic]) -> NDArray[np.int64]:
    runner = ReferenceRunner(model)
    (name,) = runner.input_names
    return np.stack([next(iter(runner.run({name: x}).values())).reshape(-1) for x in inputs]).astype(np.int64)


def both(name: str, form: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Results of the original and of the integer graph for the stored inputs."""
    found = folder(name, form)
    model = load_model(found / "model.onnx")
    (given,) = np.load(found / "inputs.npz").values()
    return results(model, given), results(integer_graph(model), given)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", list(HOST))
def test_every_layer_that_the_array_has_gets_its_form(name: str, form: str) -> None:
    after = integer_graph(load_model(folder(name, form) / "model.onnx"))
    found = layers(after)
    assert [layer.lacks for layer in found if layer.lacks] == HOST[name]
    taken = [layer for layer in found if not layer.lacks]
    assert len([layer for layer in taken if layer.kind != "Add"]) == SHIFTED[name]
    assert len([layer for layer in taken if layer.kind == "Add"]) == SUMS[name]
    assert all(layer.shift <= 12 for layer in taken)
    assert len([note for note in after.notes if "requantisation by 2^-" in note]) == SHIFTED[name]


def test_both_forms_of_a_network_become_the_same_arithmetic() -> None:
    first, second = (layers(integer_graph(load_model(folder("resnet8", form) / "model.onnx"))) for form in FORMS)
    assert [(layer.kind, layer.lacks, layer.shift) for layer in first] == [
        (layer.kind, layer.lacks, layer.shift) for layer in second
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["dscnn", "mobilenetv1_025", "resnet8"])
def test_classes_agree_with_the_original(name: str, form: str) -> None:
    before, after = both(name, form)
    assert np.mean(before.argmax(axis=1) == after.argmax(axis=1)) >= AGREEMENT


@pytest.mark.parametrize("form", FORMS)
def test_the_autoencoder_stays_close(form: str) -> None:
    before, after = both("autoencoder", form)
    difference = np.abs(before - after)
    assert difference.mean() < 2 and difference.max() <= 25


@pytest.mark.parametrize("form", FORMS)
def test_the_error_of_the_reconstruction_stays(form: str) -> None:
    """What the network is for: this error tells anomalies."""
    (given,) = np.load(folder("autoencoder", form) / "inputs.npz").values()
    x = (given.reshape(len(given), -1).astype(np.float64) - 89) * 0.39101523
    errors = [np.mean(np.square((y - 96) * 0.36449847 - x), axis=1) for y in both("autoencoder", form)]
    assert np.abs(errors[1] / errors[0] - 1).max() < 0.05


def test_rounding_of_each_kind_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """The table of docs/diana.md, with few images."""
    folder("resnet8", "qdq")
    measure_classes.main(["--count", "2"])
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    kept = {name: int(count) for name, count, _ in rows}
    assert len(kept) == 7 and all(count >= 18 for count in kept.values())
    assert kept["the integer graph"] >= 20 * AGREEMENT


def test_the_distance_comes_from_these_passes() -> None:
    """Without them the integer graph is the core's, which is bit exact for this network."""
    found = folder("autoencoder", "qdq")
    model = load_model(found / "model.onnx")
    (given,) = np.load(found / "inputs.npz").values()
    plain = results(integer_graph(model, ()), given[:3])
    assert np.abs(plain - results(model, given[:3])).max() <= 1
    assert [item.name for item in PASSES] == [
        "diana_power_of_two",
        "diana_shift",
        "diana_fold_stride",
        "diana_symmetric_padding",
    ]
