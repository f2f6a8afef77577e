"""Shape inference in a process of its own, with a time limit, where a model has numbers that it may count to."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.contract.errors import ModelError
from match_core.ir import inference
from match_core.load.load import load_model
from onnx import TensorProto, helper, numpy_helper

_REAL = onnx.shape_inference.infer_shapes


def _slice(end: int) -> onnx.ModelProto:
    constants = {"starts": [0], "ends": [end], "axes": [1]}
    infos = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 8))] for name in "xy"]
    nodes = [helper.make_node("Slice", ["x", *constants], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
    tensors = [numpy_helper.from_array(np.array(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", *infos, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that were started."""
    started: list[int] = []
    fork = os.fork

    def counted() -> int:
        child = fork()
        started.append(child)
        return child

    monkeypatch.setattr(os, "fork", counted)
    return started


def test_calm_models_need_no_process(forks: list[int]) -> None:
    inference.inferred(_slice(8))
    assert forks == []


def test_the_same_result_from_a_process(forks: list[int]) -> None:
    model = _slice((1 << 63) - 1)
    found = inference.inferred(model)
    assert len(forks) == 1
    assert found == _REAL(model, check_type=True, strict_mode=True, data_prop=True)


@pytest.mark.parametrize("kind", ["hangs", "dies", "has no memory"])
def test_an_inference_that(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: list[int]) -> None:
    def infer(*_: object, **__: object) -> onnx.ModelProto:
        if kind == "hangs":
            time.sleep(100)
        if kind == "dies":
            os.kill(os.getpid(), 11)
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr(onnx.shape_inference, "infer_shapes", infer)
    monkeypatch.setattr(inference, "LIMIT_SECONDS", 0.5)
    (tmp_path / "net.onnx").write_bytes(_slice((1 << 63) - 1).SerializeToString())
    begin = time.monotonic()
    with pytest.raises(ModelError) as caught:
        load_model(tmp_path / "net.onnx")
    reasons = {"hangs": "did not end within 0.5 s", "dies": "ended its process", "has no memory": "bad_alloc"}
    assert (caught.value.code, reasons[kind] in caught.value.why) == ("MATCH-F006", True), caught.value
    assert time.monotonic() - begin < 20
    with pytest.raises(ChildProcessError):
        os.waitpid(forks[0], 0)
