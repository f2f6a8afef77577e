"""``--dim`` fixes the dynamic sizes of a model, on every verb that reads one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from match_calibrate.programs import compiled_again
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, compile_model
from onnx import TensorProto, helper, numpy_helper

from tests.base_packages import allowing
from tests.envelope import opened

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from match_core.plugin.facade import Plugins

    Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A convolution and a dense layer; the batch is named, the width has no name (3 x 8 x 8 is what fits)."""
    rng = np.random.default_rng(7)
    weights = {"w": rng.standard_normal((4, 3, 3, 3)) * 0.3, "d": rng.standard_normal((256, 5)) * 0.1}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("Flatten", ["r"], ["f"], name="flat"),
        helper.make_node("Gemm", ["f", "d"], ["y"], name="dense"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", 3, 8, None))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("batch", 5))],
        [numpy_helper.from_array(values.astype(np.float32), name) for name, values in weights.items()],
    )
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return path


def test_the_error_states_the_options_that_help(network: Path, tmp_path: Path, match_command: Run) -> None:
    """The stated options, with a number for the size that is not the batch, are those that work."""
    done = match_command("compile", str(network), "-t", "host", "-o", str(tmp_path / "out"), "--json")
    error = opened(done.stdout)["error"]
    assert error["code"] == "MATCH-F013"
    assert error["help"][0] == "fix the sizes: --dim batch=1 --dim x:3=N"
    target = ("-t", "host", "-o", str(tmp_path / "out"))
    done = match_command("compile", str(network), *target, "--dim", "batch=1", "--dim", "x:3=8")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("batch", [1, 3])
def test_a_fixed_network_verifies(batch: int, network: Path, match_command: Run) -> None:
    done = match_command(
        "verify", str(network), "-t", "host", "--dim", f"batch={batch}", "--dim", "x:3=8", "--json", "--quiet"
    )
    assert done.returncode == 0, done.stderr
    assert opened(done.stdout)["ok"]


@pytest.mark.parametrize(
    "command",
    [
        ("check", "net.onnx", "--dim", "batch=1", "--dim", "x:3=8"),
        ("explain", "net.onnx", "conv", "--dim", "batch=1", "--dim", "x:3=8"),
        ("fit", "net.onnx", "--budget", "latency=1s", "--dim", "batch=1", "--dim", "x:3=8"),
    ],
)
def test_other_verbs_fix_sizes(
    command: tuple[str, ...], network: Path, match_command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Explain compiles single layers too, whose sizes are fixed already."""
    monkeypatch.chdir(network.parent)
    done = match_command(*command, "-t", "gap9")
    assert done.returncode == 0, done.stdout + done.stderr


def test_operators_fixes_sizes(network: Path, match_command: Run) -> None:
    done = match_command("operators", network, "--dim", "batch=1", "--dim", "x:3=8", "--json", **allowing())
    assert {entry["operator"] for entry in opened(done.stdout)["operators"]} == {"Conv", "Relu", "Flatten", "Gemm"}


def test_calibrate_compiles_with_the_sizes_of_the_program(network: Path, tmp_path: Path, plugins: Plugins) -> None:
    sizes = (("batch", 1), ("x:3", 8))
    request = CompileRequest(network, "host", tmp_path / "out", execution="sequential", dims=sizes)
    compile_model(request, plugins)
    models = {hashlib.sha256(network.read_bytes()).hexdigest(): network}
    assert compiled_again(tmp_path / "out", models, plugins, NullObserver(), None).program.tasks


def test_quantize_writes_the_fixed_sizes(network: Path, tmp_path: Path, match_command: Run) -> None:
    samples, output = tmp_path / "x.npz", tmp_path / "int8.onnx"
    np.savez(samples, x=np.random.default_rng(1).standard_normal((4, 1, 3, 8, 8)).astype(np.float32))
    given = ("--data", str(samples), "-o", str(output), "--dim", "batch=1", "--dim", "x:3=8")
    done = match_command("quantize", str(network), *given)
    assert done.returncode == 0, done.stderr
    shape = onnx.load(str(output)).graph.input[0].type.tensor_type.shape
    assert [dim.dim_value for dim in shape.dim] == [1, 3, 8, 8]


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("batch", "'batch' is not NAME=N with a whole number N from 1 to 2147483647"),
        ("batch=0", "'batch=0' is not NAME=N with a whole number N from 1 to 2147483647"),
        ("batch=-1", "'batch=-1' is not NAME=N with a whole number N from 1 to 2147483647"),
        ("=4", "'=4' is not NAME=N with a whole number N from 1 to 2147483647"),
        ("bach=1", "no input has the dynamic size 'bach'; dynamic are batch, x:3"),
        ("x:1=3", "no input has the dynamic size 'x:1'; dynamic are batch, x:3"),
    ],
)
def test_wrong_sizes_are_refused(option: str, why: str, network: Path, match_command: Run) -> None:
    done = match_command("check", str(network), "-t", "host", "--dim", option, "--json")
    error = opened(done.stdout)["error"]
    assert (done.returncode, error["code"], error["why"]) == (2, "MATCH-U037", why)
