"""``match quantize``: the quantised network is close to the float one, and runs on a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model
from onnx import TensorProto, helper, numpy_helper

from tests.envelope import opened

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Convolution, batch normalisation, ReLU, pooling, dense: floats with a fixed seed, opset 11."""
    rng = np.random.default_rng(3)
    constants = {
        "w": rng.standard_normal((8, 3, 3, 3)) * 0.3,
        "scale": rng.uniform(0.5, 2, 8),
        "bias": rng.standard_normal(8),
        "mean": rng.standard_normal(8) * 0.1,
        "var": rng.uniform(0.5, 2, 8),
        "d": rng.standard_normal((8, 5)),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["n"], name="norm"),
        helper.make_node("Relu", ["n"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], name="pool"),
        helper.make_node("Flatten", ["p"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "d"], ["y"], name="dense"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 8, 8))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 5))],
        [numpy_helper.from_array(values.astype(np.float32), name) for name, values in constants.items()],
    )
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=7), str(path))
    np.savez(tmp_path / "x.npz", x=rng.standard_normal((16, 1, 3, 8, 8)).astype(np.float32))
    return path


@pytest.mark.parametrize("options", [(), ("--activations", "uint8", "--per-tensor", "--method", "percentile")])
def test_a_network_is_quantised_and_runs(
    options: tuple[str, ...], network: Path, tmp_path: Path, match_command: Run, plugins: Plugins
) -> None:
    output = tmp_path / "int8.onnx"
    done = match_command("quantize", network, "--data", tmp_path / "x.npz", "-o", output, *options, "--json")
    assert done.returncode == 0, done.stderr
    document = opened(done.stdout)
    (distance,) = document["outputs"]
    assert document["samples"] == 16
    assert 0 < distance["mean_abs"] < 0.05 * distance["largest"]
    assert distance["top1_agreement"] >= 0.8
    quantised = onnx.load(str(output))
    assert not any(node.op_type == "BatchNormalization" for node in quantised.graph.node), "folded"
    kinds = {i.data_type for i in quantised.graph.initializer if i.name.endswith("zero_point")}
    assert (TensorProto.UINT8 in kinds) == bool(options)
    found = verify_model(VerifyRequest(model=output, target="gap9", execution="sequential", cache=False), plugins)
    assert found.bit_exact


def test_samples_that_do_not_fit_write_nothing(network: Path, tmp_path: Path, match_command: Run) -> None:
    np.savez(tmp_path / "bad.npz", x=np.zeros((4, 7), np.float32))
    done = match_command("quantize", network, "--data", tmp_path / "bad.npz", "-o", tmp_path / "y.onnx", "--json")
    assert done.returncode == 2
    assert opened(done.stdout)["error"]["code"] == "MATCH-U042"
    assert not (tmp_path / "y.onnx").exists()
