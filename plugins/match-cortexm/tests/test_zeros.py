"""The expected shares of zeros are near those of samples, and no weights or graphs break them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx_graphsurgeon as gs
import pytest
from match_core.contract.workload import Dim, Workload
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_cortexm.zeros import ZEROS, Zeros, apart, scale_of
from onnx import TensorProto, helper, numpy_helper

from benchmarks.cortexm_zeros import TRAINED, shares, trained_shares

SHARED = Path(__file__).resolve().parents[4] / "shared" / "models"


class _Graph:
    """Nodes with random weights."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        dtype = np.int64 if values.dtype.kind == "i" else np.float32
        self.constants.append(numpy_helper.from_array(values.astype(dtype), name))
        return name

    def add(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def conv(self, x: str, outputs: int, inputs: int, size: int = 3, **attributes: object) -> str:
        """With biases and gains that differ between channels, as those of trained networks do."""
        gains = self.random.uniform(0.2, 2, (outputs, 1, 1, 1))
        weight = gains * self.random.normal(0.05, 1, (outputs, inputs, size, size)) / np.sqrt(inputs * size * size)
        bias = self.constant(self.random.normal(-0.3, 1, outputs))
        pads = [size // 2] * 4
        return self.add("Relu", self.add("Conv", x, self.constant(weight), bias, pads=pads, **attributes))

    def model(self, shape: tuple[int, ...], result: str) -> onnx.ModelProto:
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
        graph = helper.make_graph(self.nodes, "net", inputs, [helper.make_empty_tensor_value_info(result)])
        graph.initializer.extend(self.constants)
        found = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        return onnx.shape_inference.infer_shapes(found)


def _network(seed: int) -> onnx.ModelProto:
    """All operators that keep, join and lose channels."""
    net = _Graph(seed)
    first = net.conv("x", 16, 3)
    x = net.conv(first, 16, 1, group=16)
    x = net.add("Add", x, net.conv(first, 16, 16))
    x = net.add("Concat", net.conv(x, 8, 16, 1), net.conv(x, 24, 16, 1), axis=1)
    gate = net.add("Sigmoid", net.add("GlobalAveragePool", x))
    x = net.conv(net.add("Mul", x, gate), 32, 32, 1)
    turned = net.add("Transpose", net.add("Transpose", x, perm=[0, 2, 3, 1]), perm=[0, 3, 1, 2])
    x = net.add("MaxPool", net.conv(turned, 24, 32), kernel_shape=[2, 2], strides=[2, 2])
    x = net.conv(net.add("Clip", net.conv(x, 20, 24), net.constant(np.zeros(())), net.constant(np.array(6.0))), 12, 20)
    flat = net.add("Flatten", net.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]))
    weight, bias = net.random.normal(0, 0.2, (48, 40)), net.random.normal(0, 1, 40)
    x = net.add("Relu", net.add("Gemm", flat, net.constant(weight), net.constant(bias)))
    x = net.add("MatMul", x, net.constant(net.random.normal(0, 0.2, (40, 32))))
    return net.model((1, 3, 8, 8), net.add("Relu", net.add("Add", x, net.constant(net.random.normal(0, 1, 32)))))


@pytest.mark.parametrize("seed", range(4))
def test_shares_are_those_of_random_samples(seed):
    random = np.random.default_rng(seed)
    samples = [random.normal(0, 1, (1, 3, 8, 8)).astype(np.float32) for _ in range(40)]
    found = shares(_network(seed), ("Relu", "Clip", "Concat", "Mul", "Add"), samples)
    assert len(found) == 16 and max(share for share, _ in found) > 0.4
    assert max(abs(share - expected) for share, expected in found) < 0.12
    assert np.median([abs(share - expected) for share, expected in found]) < 0.03


def test_a_pool_of_what_relu_makes_is_0_where_all_of_it_is():
    net = _Graph(1)
    x = net.conv("x", 64, 3, 1)
    pools = (("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}), ("GlobalAveragePool", {}))
    for op, attributes in pools:
        net.add(op, x, **attributes)
    random = np.random.default_rng(0)
    samples = [random.normal(0, 1, (1, 3, 8, 8)).astype(np.float32) for _ in range(40)]
    model = net.model((1, 3, 8, 8), net.nodes[-1].output[0])
    found = shares(model, tuple(op for op, _ in pools), samples)
    assert all(abs(share - expected) < 0.05 for share, expected in found), found
    assert found[0][0] > found[1][0] > 0


@pytest.mark.parametrize("name", TRAINED)
def test_shares_are_near_those_of_trained_networks(name):
    if not (SHARED / name).is_dir():
        pytest.skip(f"there is no {SHARED / name}")
    off = [abs(share - expected) for share, expected in trained_shares(SHARED / name)]
    assert len(off) > 6 and np.median(off) < 0.1 and max(off) < 0.35, off


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1, 60, 3000])
def test_biases_of_the_first_layer_tell_the_scale_of_inputs(seed, scale):
    """Of a picture's numbers, or decibels: behind a layer whose biases are as large."""
    net = _Graph(seed)
    weight, bias = net.random.normal(0, 0.2, (24, 3, 3, 3)), scale * net.random.normal(0, 1.5, 24)
    turned = net.add("Transpose", net.add("Transpose", "x", perm=[0, 2, 3, 1]), perm=[0, 3, 1, 2])
    x = net.add("Relu", net.add("Conv", turned, net.constant(weight), net.constant(bias)))
    x = net.add("Relu", net.add("Conv", x, net.constant(net.random.normal(0, 0.2, (24, 24, 3, 3)))))
    random = np.random.default_rng(seed)
    samples = [scale * random.normal(0, 1, (1, 3, 8, 8)).astype(np.float32) for _ in range(20)]
    found = shares(net.model((1, 3, 8, 8), x), ("Relu",), samples)
    assert all(abs(share - expected) < 0.1 for share, expected in found), found


def test_small_biases_tell_nothing():
    net = _Graph(0)
    x = net.conv("x", 16, 3)
    tensors = gs.import_onnx(net.model((1, 3, 8, 8), x)).tensors()
    assert scale_of(tensors["x"]) == 1.0


def _told(target: str, model: onnx.ModelProto, tmp_path: Path) -> list[int | None]:
    """The shares of all tasks, in thousandths."""
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    request = CompileRequest(model=path, target=target, output=tmp_path / "out", cache=False)
    tasks = [task.assignment for task in compile_model(request, Plugins.load()).compilation.program.tasks]
    return [task.candidate.workload.parameters.get(ZEROS) for task in tasks]


def test_only_cores_without_an_fpu_are_told(tmp_path):
    told = [share for share in _told("rp2040", _network(0), tmp_path) if share is not None]
    assert len(told) > 12 and len(set(told)) > 8
    assert set(_told("stm32l4r5", _network(0), tmp_path)) == {None}


def _dense(gain: float) -> onnx.ModelProto:
    net = _Graph(0)
    weight = np.full((16, 16), gain)
    x = "x"
    for _ in range(6):
        x = net.add("Relu", net.add("MatMul", x, net.constant(weight)))
    return net.model((1, 16), x)


@pytest.mark.parametrize("gain", [0.0, 1e38, np.inf, np.nan])
def test_hostile_weights_give_a_share(gain):
    tensors = gs.import_onnx(_dense(gain)).tensors()
    zeros = Zeros()
    shares = [zeros.expected(tensor).zeros for tensor in tensors.values()]
    assert all(0 <= share <= 1 for share in shares)


def test_depth_has_no_limit():
    net, x = _Graph(0), "x"
    for _ in range(3000):
        x = net.add("Relu", net.add("Add", x, x))
    tensors = gs.import_onnx(net.model((1, 4), x)).tensors()
    assert 0 <= Zeros().expected(tensors[x]).zeros <= 1


def test_the_share_is_no_count_of_a_form():
    """Figures belong to workloads without it."""
    workload = Workload("host_relu", (Dim("N", 4, tileable=False),), (), 0, (("elements", 4), (ZEROS, 250)))
    plain, share = apart(workload)
    assert (plain.geometry, share) == ((("elements", 4),), 0.25)
    assert apart(plain) == (plain, 0.0)
