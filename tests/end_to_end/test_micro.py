"""Every stored micro-benchmark convolution verifies bit exact: CI runs those of integers, and of one size as QDQ."""

from __future__ import annotations

import numpy as np
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from tests.conftest import SHARED_MODELS
from tests.tiers import in_ci

MODELS = sorted(path.parent.name for path in SHARED_MODELS.glob("micro_conv_*/model.onnx"))


@pytest.mark.skipif(not MODELS, reason="../shared/models is not on this machine")
@pytest.mark.parametrize("name", in_ci(MODELS, lambda name: name.endswith("_int") or "_16x16_c16_" in name))
def test_micro_convolution(name: str, plugins: Plugins) -> None:
    folder = SHARED_MODELS / name
    request = VerifyRequest(folder / "model.onnx", "gap9", folder / "inputs.npz", execution="sequential")
    result = verify_model(request, plugins)
    assert result.bit_exact
    assert max(output.max_abs_lsb for output in result.outputs) <= 1.0
    if name.endswith("_int"):  # the original is integer arithmetic already
        with np.load(folder / "outputs.npz") as stored:
            for output, values in result.run.outputs.items():
                np.testing.assert_array_equal(values, stored[output])
