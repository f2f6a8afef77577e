"""Programs for real chips with units side by side: the same bytes in every mode, and every missing wait is noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.host import Plugins
from match_core.twin.modes import queues_of
from match_core.twin.mutation import bench, run_mutants, table
from match_core.twin.program import read_manifest, units_of_program
from onnx import TensorProto, helper, numpy_helper

SHAPE = (1, 8, 12, 12)


def two_branches(path: Path) -> None:
    """A convolution, then two branches and their sum, in float16."""
    random = np.random.default_rng(0)
    weights = []
    for name, shape in (("w0", (16, 8, 3, 3)), ("w1", (16, 16, 3, 3)), ("w2", (16, 16, 1, 1))):
        values = random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))
        weights.append(numpy_helper.from_array(values.astype(np.float16), name))
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"], pads=[1] * 4),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w1"], ["c"], pads=[1] * 4),
        helper.make_node("Conv", ["b", "w2"], ["d"]),
        helper.make_node("Add", ["c", "d"], ["e"]),
        helper.make_node("Relu", ["e"], ["y"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT16, shape)
        for name, shape in (("x", SHAPE), ("y", (1, 16, 12, 12)))
    ]
    graph = helper.make_graph(nodes, "two_branches", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@pytest.mark.slow
def test_every_missing_wait_and_need_of_a_real_program_is_caught(tmp_path: Path, plugins: Plugins) -> None:
    two_branches(tmp_path / "model.onnx")
    request = CompileRequest(tmp_path / "model.onnx", "carfield", tmp_path / "program", execution="concurrent")
    compile_model(request, plugins)
    document = read_manifest(tmp_path / "program")
    assert {"pulp", "spatz"} <= set(queues_of(document))
    host, apis = units_of_program(document, plugins)
    x = {"x": np.random.default_rng(1).standard_normal((1, *SHAPE)).astype(np.float16)}
    made = bench(tmp_path / "program", tmp_path / "work", document, apis, host, x)
    outcomes = run_mutants(made, apis)
    assert all(outcome.mode for outcome in outcomes), table(outcomes)
