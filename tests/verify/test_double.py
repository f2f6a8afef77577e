"""Float networks of which ONNX Runtime itself is far from the real values are measured against float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.load.load import load_model
from match_core.plugin.facade import Plugins
from match_verify.double import FACTOR, double_outputs, measured_in_double
from match_verify.outputs import OutputCheck
from match_verify.verify import VerifyRequest, verify_model
from onnx import TensorProto, helper, numpy_helper

SIZE = 512


def cancelling(path: Path, kind: int = TensorProto.FLOAT) -> Path:
    """x A - x (A - d) as one product: numbers near 1e4 leave results near 0.02."""
    random = np.random.default_rng(2)
    large = random.normal(0, 1e4, (SIZE, 4))
    weight = np.concatenate([large, -large + random.normal(0, 1e-3, (SIZE, 4))])
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    nodes = [
        helper.make_node("Concat", ["x", "x"], ["both"], axis=1, name="both"),
        helper.make_node("MatMul", ["both", "w"], ["y"], name="product"),
    ]
    ends = [helper.make_tensor_value_info(*end) for end in (("x", kind, [1, SIZE]), ("y", kind, [1, 4]))]
    graph = helper.make_graph(
        nodes, "cancelling", ends[:1], ends[1:], [numpy_helper.from_array(weight.astype(dtype), "w")]
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def test_a_network_that_cancels_is_right_up_to_rounding(tmp_path: Path) -> None:
    plugins = Plugins.load()
    result = verify_model(VerifyRequest(cancelling(tmp_path / "net.onnx"), "host"), plugins)
    (output,) = result.outputs
    assert result.ok and not result.bit_exact
    assert "4 times the error of ONNX Runtime against float64" in output.bound


def test_the_float64_result_is_numpys(tmp_path: Path) -> None:
    path = cancelling(tmp_path / "net.onnx")
    weight = numpy_helper.to_array(onnx.load(path).graph.initializer[0]).astype(np.float64)
    x = np.random.default_rng(3).standard_normal((2, 1, SIZE)).astype(np.float32)
    real = double_outputs(load_model(path), {"x": x}, 2)
    assert real is not None
    wide = x.astype(np.float64)
    np.testing.assert_allclose(real["y"], np.concatenate([wide, wide], axis=2) @ weight, rtol=1e-6)


@pytest.mark.parametrize(("times", "passes"), [(FACTOR - 0.1, True), (FACTOR + 0.1, False)])
def test_a_small_multiple_of_the_runtimes_own_error_is_allowed(times: float, passes: bool) -> None:
    real = np.array([[1.0, 2.0]])
    expected = (real + 0.25).astype(np.float32)
    got = (real - 0.25 * times).astype(np.float32)
    check = OutputCheck("y", "float32", False, False, "", 1.0, 0.0, 0.0, None)
    assert measured_in_double(check, got, expected, real).within_bound is passes


def test_values_that_are_not_finite_are_left_alone() -> None:
    check = OutputCheck("y", "float32", False, False, "", 1.0, 0.0, 0.0, None)
    got = np.array([[np.nan]], np.float32)
    assert measured_in_double(check, got, got, np.array([[1.0]])) is check
