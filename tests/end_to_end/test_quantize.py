"""Quantisation of float inputs on the cluster: rounding, saturation and the values nobody wants to see."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model
from onnx import TensorProto, helper, numpy_helper


@pytest.mark.parametrize(("dtype", "zero"), [(np.int8, -7), (np.uint8, 130)])
def test_quantize_equals_onnx_runtime(dtype: type, zero: int, tmp_path: Path, plugins: Plugins) -> None:
    count = 4096
    scale = np.float32(0.0371)
    constants = [numpy_helper.from_array(scale, "s"), numpy_helper.from_array(dtype(zero), "z")]
    element = TensorProto.INT8 if dtype is np.int8 else TensorProto.UINT8
    graph = helper.make_graph(
        [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"], name="q")],
        "quantize",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, count])],
        [helper.make_tensor_value_info("y", element, [1, count])],
        constants,
    )
    model = tmp_path / "quantize.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), model)
    random = np.random.default_rng(3)
    x = random.normal(0, 3, (2, 1, count)).astype(np.float32)
    ties = ((np.arange(-300, 300) + 0.5) * scale).astype(np.float32)
    x[0, 0, : ties.size] = ties
    x[1, 0, :8] = [np.inf, -np.inf, 1e30, -1e30, 0.0, -0.0, np.float32(1e-40), np.float32(3.4e38)]
    for mode in ("eager", "lazy"):
        result = verify_model(VerifyRequest(model, "gap9", arrays={"x": x}, sanitize=True, mode=mode), plugins)
        assert result.bit_exact
        assert result.outputs[0].max_abs_lsb == 0
    assert "cluster" in {node.unit for node in result.run.nodes}
