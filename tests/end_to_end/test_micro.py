"""Every stored micro-benchmark convolution verifies bit exact: CI runs those of integers, and of one size as QDQ.

One is fast only if its search goes on where whole pieces are slow.
"""

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


def test_few_operators_are_searched_to_the_end(plugins: Plugins) -> None:
    """In whole pieces, both units take 210,041 cycles at best, little less than one after the other: 225,431."""
    folder = SHARED_MODELS / "micro_conv_dw_32x32_c64_qdq"
    if not folder.is_dir():
        pytest.skip("../shared/models is not on this machine")
    result = verify_model(VerifyRequest(folder / "model.onnx", "gap9", folder / "inputs.npz"), plugins)
    program = result.compilation.program
    assert program.queues and program.predicted_cycles < 160_000
    assert result.bit_exact
