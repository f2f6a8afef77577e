"""Floating-point numbers keep the bits of the scalar unit on cores whose vectors flush subnormal numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from onnx import TensorProto, helper

from .test_kernels import TARGETS, emulator, needs_emulator


def _sum(folder) -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 64)) for name in "aby"]
    graph = helper.make_graph([helper.make_node("Add", ["a", "b"], ["y"])], "sum", values[:2], values[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, folder / "model.onnx")


@needs_emulator
@pytest.mark.parametrize(("target", "machine"), [*((target, "") for target in TARGETS), ("host", "mps3-an547")])
def test_subnormal_numbers(target, machine, tmp_path):
    _sum(tmp_path)
    plugins = Plugins.load()
    request = CompileRequest(model=tmp_path / "model.onnx", target=target, output=tmp_path / "net", cache=False)
    compile_model(request, plugins)
    values = np.arange(1, 65, dtype=np.float32).reshape(1, 1, 64) * np.float32(1e-42)
    result = run_program(
        tmp_path / "net", {"a": values, "b": values}, plugins, place=replace(emulator(), detail=machine)
    )
    assert result.outputs["y"].tobytes() == (values + values).tobytes() and values.any()
