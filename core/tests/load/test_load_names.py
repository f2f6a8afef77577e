"""Program names: they never collide with the runtime's files."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from match_core.load.load import load_model
from onnx import TensorProto, helper


@pytest.mark.parametrize(
    ("stem", "name"), [("net", "net"), ("match_runtime", "model_match_runtime"), ("match_conv2d", "model_match_conv2d")]
)
def test_the_runtime_keeps_its_names(stem: str, name: str, tmp_path: Path) -> None:
    value = [helper.make_tensor_value_info(tensor, TensorProto.FLOAT, [1, 4]) for tensor in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", value[:1], value[1:])
    path = tmp_path / f"{stem}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    assert load_model(path).name == name
