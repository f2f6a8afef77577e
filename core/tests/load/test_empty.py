"""Tensors without elements: constants, also where they are graph outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_graphsurgeon as gs
from match_core.load.load import model_from_proto
from match_verify.verify import VerifyRequest, verify_model

from tests.base_packages import base_plugins

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
g (float[4,3] x) => (float[0,3] none, float[4,3] y, float[0,1] sums) <int64[1] begin = {4}, int64[1] end = {9}>
{
    none = Slice (x, begin, end)
    positive = Relu (none)
    y = Relu (x)
    axes = Constant <value_ints = [1]> ()
    sums = ReduceSum (positive, axes)
}
"""


def test_outputs_without_elements_are_copies_of_constants() -> None:
    model = model_from_proto(onnx.parser.parse_model(TEXT), "model", "model.onnx")
    makers = {output.name: output.inputs[0] for output in model.graph.outputs}
    assert makers["y"].op == "Relu"
    for name, shape in (("none", [0, 3]), ("sums", [0, 1])):
        assert makers[name].op == "Identity"
        (constant,) = makers[name].inputs
        assert isinstance(constant, gs.Constant)
        assert list(constant.values.shape) == shape


def test_the_program_has_outputs_without_elements(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(TEXT), path)
    arrays = {"x": np.arange(12, dtype=np.float32).reshape(1, 4, 3) - 5}
    result = verify_model(VerifyRequest(path, "host", arrays=arrays), base_plugins())
    assert result.ok
    assert {name: values.shape for name, values in result.run.outputs.items()} == {
        "none": (1, 0, 3),
        "y": (1, 4, 3),
        "sums": (1, 0, 1),
    }
