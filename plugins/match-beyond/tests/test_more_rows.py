"""Programs whose stripes are of floats, of channels, of positions of a sequence, or of heads of attention."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from match_beyond.choice import Chooser
from match_beyond.network import Network
from match_core import hookimpl
from match_core.contract.errors import InfeasibleError
from match_core.contract.fitting import Fit, FitRequest
from match_core.contract.program import Program
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.discovery import Found
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, VerifyResult, verify_model
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """A network of floats; its last result is its output."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.random = np.random.default_rng(5)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shape = shape

    def constant(self, values: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weights(self, *shape: int) -> str:
        return self.constant((self.random.normal(size=shape) / 4).astype(np.float32))

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], f"{op}_{name}", **attributes))
        return name

    def save(self, path: Path) -> Path:
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        result = onnx.ValueInfoProto(name=self.nodes[-1].output[0])
        graph = helper.make_graph(self.nodes, "g", [given], [result], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model, strict_mode=True), path)
        return path


def verified(model: Path, target: str, size: int | None = None, **options: Any) -> VerifyResult:
    home = "l2" if target == "gap9" else "ram"
    memory = ((home, size),) if size is not None else ()
    return verify_model(VerifyRequest(model, target, memory=memory, cache=False, **options), Plugins.load())


def used(program: Program) -> int:
    return next(use.used_bytes for use in program.memory if use.memory == program.soc.home)


def test_a_network_of_floats_runs_in_half_of_its_memory(tmp_path: Path) -> None:
    graph = Graph((1, 3, 24, 24))
    x = graph.node("Relu", graph.node("Conv", "x", graph.weights(8, 3, 3, 3), pads=[1] * 4))
    x = graph.node("HardSwish", graph.node("Conv", x, graph.weights(8, 8, 3, 3), pads=[1] * 4))
    x = graph.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = graph.node("Conv", x, graph.weights(16, 8, 3, 3), pads=[1] * 4, strides=[2, 2])
    graph.node("GlobalAveragePool", x)
    model = graph.save(tmp_path / "model.onnx")
    whole = verified(model, "stm32l4r5")
    half = verified(model, "stm32l4r5", used(whole.compilation.program) // 2, sanitize=True)
    assert half.computed
    assert len(half.compilation.program.tasks) > 2 * len(whole.compilation.program.tasks)
    for name, values in whole.run.outputs.items():  # the same products and sums in the same order
        np.testing.assert_array_equal(half.run.outputs[name], values)


def test_rows_inside_of_planes_are_not_kept(tmp_path: Path) -> None:
    """The quantised picture in NCHW has halos, and takes more cycles to compute than to copy."""
    graph = Graph((1, 3, 24, 24))
    ends = graph.constant(np.float32(0.03)), graph.constant(np.int8(3))
    x = graph.node("DequantizeLinear", graph.node("QuantizeLinear", "x", *ends), *ends)
    for inputs, channels in ((3, 8), (8, 8), (8, 4)):
        values = graph.random.integers(-90, 90, (channels, inputs, 3, 3)).astype(np.int8)
        weights = graph.node("DequantizeLinear", graph.constant(values), graph.constant(np.float32(0.01)))
        x = graph.node("Conv", x, weights, pads=[1] * 4)
        x = graph.node("DequantizeLinear", graph.node("QuantizeLinear", x, *ends), *ends)
    graph.node("MaxPool", x, kernel_shape=[4, 4], strides=[4, 4])
    requests: list[FitRequest] = []

    class Spy:
        match_contract = 1

        @hookimpl(tryfirst=True)
        def match_fit(self, request: FitRequest) -> Fit | None:
            requests.append(request)
            return None

    plugins = Plugins.load((Found("spy", "spy", "0", Spy),))
    with pytest.raises(InfeasibleError):
        compile_model(
            CompileRequest(graph.save(tmp_path / "model.onnx"), "stm32l4r5", memory=(("ram", 7500),)), plugins
        )
    network = Network.of(requests[0].model, requests[0].mapping, requests[0].overlaps)
    assert len(network.axes) == 2
    kept = set().union(*(run.kept for run in Chooser(network, None)._striped_runs(0, 4)))
    assert kept and kept.isdisjoint(network.axes)


def test_heads_of_attention_are_computed_one_after_another(tmp_path: Path) -> None:
    rows, heads, width = 48, 4, 8
    graph = Graph((1, rows, heads * width))

    def head(perm: list[int]) -> str:
        product = graph.node("MatMul", "x", graph.weights(heads * width, heads * width))
        split = graph.node("Reshape", product, graph.constant(np.array([1, rows, heads, width])))
        return graph.node("Transpose", split, perm=perm)

    query, key, value = head([0, 2, 1, 3]), head([0, 2, 3, 1]), head([0, 2, 1, 3])
    scores = graph.node("Softmax", graph.node("MatMul", query, key), axis=-1)
    mixed = graph.node("MatMul", scores, value)
    joined = graph.node("Transpose", mixed, perm=[0, 2, 1, 3])
    graph.node("Reshape", joined, graph.constant(np.array([1, rows, heads * width])))
    model = graph.save(tmp_path / "model.onnx")
    all_scores = heads * rows * rows * 4
    whole = verified(model, "stm32l4r5")
    less = verified(model, "stm32l4r5", used(whole.compilation.program) - 3 * all_scores // 4, sanitize=True)
    assert less.computed
    for name, values in whole.run.outputs.items():
        np.testing.assert_array_equal(less.run.outputs[name], values)


def test_a_program_of_the_host_alone_copies_to_the_store(tmp_path: Path) -> None:
    graph = Graph((1, 8, 16, 16))
    size_bytes = 4 * 8 * 16 * 16
    first = graph.node("Softmax", "x", axis=1)
    second = graph.node("CumSum", first, graph.constant(np.int64(1)))
    x = second
    for _ in range(3):
        x = graph.node("CumSum", graph.node("Softmax", x, axis=1), graph.constant(np.int64(1)))
    graph.node("Add", graph.node("Add", x, second), first)
    model = graph.save(tmp_path / "model.onnx")
    result = verified(model, "gap9", 5 * size_bytes + 2048, mode="lazy", sanitize=True)
    program = result.compilation.program
    assert result.computed and program.swaps
    assert {task.assignment.candidate.unit for task in program.tasks} == {"host"}


def test_a_view_of_a_tensor_in_the_store_stays_in_the_home_memory(tmp_path: Path) -> None:
    """Between a copy to it and one away from it, nothing would be computed."""
    graph = Graph((64, 64))
    size_bytes = 4 * 64 * 64
    first = graph.node("Relu", "x")
    turned = graph.node("Reshape", first, graph.constant(np.array([32, 128])))
    x = graph.node("CumSum", turned, graph.constant(np.int64(0)))
    for _ in range(3):
        x = graph.node("CumSum", x, graph.constant(np.int64(0)))
    graph.node("Add", graph.node("Reshape", x, graph.constant(np.array([64, 64]))), first)
    model = graph.save(tmp_path / "model.onnx")
    copied = 0
    for size in (5 * size_bytes - 64, 4 * size_bytes + 1024, 4 * size_bytes - 64):
        try:
            result = verified(model, "gap9", size, mode="lazy")
        except InfeasibleError as error:
            assert error.code == "MATCH-M001"
            continue
        assert result.computed
        copied += len(result.compilation.program.swaps)
    assert copied


@pytest.mark.parametrize("parts", [2, 3])
def test_a_slice_of_rows_is_divided(tmp_path: Path, parts: int) -> None:
    graph = Graph((1, 96, 32))
    x = graph.node("Sigmoid", graph.node("MatMul", "x", graph.weights(32, 64)))
    x = graph.node("Slice", x, *(graph.constant(np.array([value])) for value in (6, 90, 1, parts)))
    graph.node("MatMul", x, graph.weights(64, 2))
    model = graph.save(tmp_path / "model.onnx")
    whole = verified(model, "stm32l4r5")
    less = verified(model, "stm32l4r5", used(whole.compilation.program) - 96 * 64 * 3, sanitize=True)
    assert less.computed
    for name, values in whole.run.outputs.items():
        np.testing.assert_array_equal(less.run.outputs[name], values)
