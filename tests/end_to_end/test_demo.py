"""The demo model: accuracy survives, every image is bit exact, nothing depends on ../shared."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from tests.conftest import ROOT

DEMO = ROOT / "examples" / "demo"


@pytest.fixture(scope="module")
def demo_data() -> object:
    sys.path.insert(0, str(DEMO))
    try:
        import demo_data
    finally:
        sys.path.remove(str(DEMO))
    return demo_data


def test_demo_accuracy(demo_data: object, plugins: Plugins) -> None:
    arrays = demo_data.load_demo_inputs()  # type: ignore[attr-defined]
    labels = demo_data.load_demo_labels()  # type: ignore[attr-defined]
    result = verify_model(VerifyRequest(DEMO / "resnet8_shapes.onnx", "gap9", arrays=arrays), plugins)
    assert result.bit_exact and result.samples == 200
    (output,) = result.run.outputs.values()
    accuracy = float((output.reshape(len(labels), -1).argmax(1) == np.asarray(labels)).mean())
    assert accuracy >= 0.96
    (check,) = result.outputs
    assert check.top1_agreement is not None and check.top1_agreement >= 0.99


@pytest.mark.parametrize("mode", ["eager", "lazy"])
def test_demo_under_sanitizers(mode: str, demo_data: object, plugins: Plugins) -> None:
    arrays = {name: values[:2] for name, values in demo_data.load_demo_inputs().items()}  # type: ignore[attr-defined]
    request = VerifyRequest(DEMO / "resnet8_shapes.onnx", "gap9", arrays=arrays, sanitize=True, mode=mode)
    assert verify_model(request, plugins).bit_exact
