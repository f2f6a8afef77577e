"""Attention of the encoders: both variants against the model's own outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ita_attention_models import context
from match_core import Model, Pass
from match_core.contract.passes import Phase
from match_core.load.load import load_model
from match_core.passes.order import order_passes
from match_ita.passes.attention import ATTENTION, SOFTMAX
from match_verify.reference import ReferenceRunner
from numpy.typing import NDArray

from tests.all_passes import core_passes
from tests.tiers import in_ci

_MODELS = Path("/work/shared/models")

pytestmark = pytest.mark.skipif(not _MODELS.is_dir(), reason="models are not on this machine")

#: Cosine similarity with the outputs of the quantised model (in brackets: measured) with ITAMax, and with products on
#: ITA around an integer softmax.
_BOUNDS = {
    "ita_mobilebert_l1_int8_qdq": (0.9977, 0.9992),  # (0.99822, 0.99936)
    "ita_mobilebert_l1_int8_pc_qdq": (0.9976, 0.9992),  # (0.99818, 0.99937)
    "ita_dinov2_l1_int8_qdq": (0.9975, 0.9990),  # (0.99804, 0.99920)
    "mobilebert_l1_int8_qdq": (0.9992, 0.9994),  # (0.99940, 0.99953)
    "dinov2_small_l1_int8_qdq": (0.9977, 0.9990),  # (0.99822, 0.99925)
    "whisper_tiny_l1_int8_qdq": (0.9895, 0.9972),  # (0.99100, 0.99776)
}


def _lowered(name: str, *passes: Pass) -> Model:
    target = context()
    model = load_model(_MODELS / name / "model.onnx")
    for item in order_passes([*core_passes(target.soc, target.units), *passes]):
        if item.phase <= Phase.TARGET:
            model = item.run(model, target)
    return model


def _cosine(name: str, model: Model) -> float:
    with np.load(_MODELS / name / "inputs.npz") as stored:
        feeds = {key: stored[key][0] for key in stored.files}
    with np.load(_MODELS / name / "outputs.npz") as stored:
        expected: NDArray[np.float64] = stored["output"][0].astype(np.float64)
    (got,) = ReferenceRunner(model).run(feeds).values()
    norm = np.sqrt(np.sum(np.square(got.astype(np.float64))) * np.sum(np.square(expected)))
    return float(np.sum(got * expected) / norm)


@pytest.mark.parametrize("name", in_ci(_BOUNDS, lambda name: "mobilebert" in name))
def test_softmax_in_powers_of_two(name: str) -> None:
    model = _lowered(name, SOFTMAX, ATTENTION)
    (node,) = (node for node in model.graph.nodes if node.op == "Attention")
    assert all(node.inputs[i].shape[-1] % 64 == 0 for i in range(3))
    assert not any(node.op.startswith("Softmax") for node in model.graph.nodes)
    assert _cosine(name, model) >= _BOUNDS[name][0]


@pytest.mark.parametrize("name", in_ci(_BOUNDS, lambda name: "mobilebert" in name))
def test_softmax_on_the_cores(name: str) -> None:
    model = _lowered(name, ATTENTION)
    (softmax,) = (node for node in model.graph.nodes if node.op.startswith("Softmax"))
    assert int(softmax.inputs[2].values) == 127
    assert _cosine(name, model) >= _BOUNDS[name][1]
