"""TFLite files wherever a model is asked for: their programs, what the verbs say, and the distance to TFLite."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from match_core.cli import main as cli
from match_core.plugin.facade import Plugins
from match_verify.verify import VerifyRequest, verify_model

from benchmarks.tflite_outputs import NETWORKS, distance
from tests.conftest import ROOT
from tests.tflite_files.builder import POOL, VALID, TfliteBuilder, quantised_network, quantised_operators, saved

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def network(tmp_path: Path) -> Path:
    return saved(tmp_path / "network.tflite", quantised_network())


@pytest.mark.parametrize("target", ["host", "gap9", "carfield"])
def test_the_program_is_the_network(target: str, network: Path, plugins: Plugins) -> None:
    result = verify_model(VerifyRequest(network, target), plugins)
    assert result.bit_exact
    (output,) = result.outputs
    assert (output.name, output.dtype) == ("probabilities", "int8")
    assert output.max_abs_lsb <= 1


def test_many_quantised_operators(tmp_path: Path, plugins: Plugins) -> None:
    """All of them as integers, but for the scales that a table, a product or a sum rounds."""
    path = saved(tmp_path / "operators.tflite", quantised_operators())
    result = verify_model(VerifyRequest(path, "host"), plugins)
    assert result.bit_exact
    assert max(output.max_abs_lsb for output in result.outputs) <= 1
    assert max(output.mean_abs_lsb for output in result.outputs) <= 0.1


def test_layers_are_called_as_the_files_operators(network: Path, tmp_path: Path, match_command: Run) -> None:
    done = match_command("compile", network, "-t", "gap9", "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    names = {name for layer in report["layers"] for name in layer["onnx_names"]}
    operators = {"stem/Relu;stem/Conv2D", "depthwise/Relu6", "add", "pad", "down", "pool", "logits", "probabilities"}
    assert operators <= names <= {*operators, "flat"}


def test_every_verb_takes_it(network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs, outputs = tmp_path / "x.npz", tmp_path / "y.npz"
    np.savez(inputs, image=np.zeros((2, 1, 8, 6, 3), np.int8))
    for arguments in (
        ("check", network, "-t", "host"),
        ("explain", network, "down", "-t", "host"),
        ("fit", network, "-t", "host", "--budget", "ram=512k"),
        ("operators", network),
        ("compile", network, "-t", "host", "-o", tmp_path / "out"),
        ("run", tmp_path / "out", "--inputs", inputs, "--outputs", outputs),
        ("verify", network, "-t", "host", "--inputs", inputs, "--expected", outputs),
    ):
        assert cli.run([str(argument) for argument in arguments]) == 0, (arguments, capsys.readouterr())
    with np.load(outputs) as archive:
        assert archive["probabilities"].shape == (2, 1, 10)


@pytest.mark.parametrize("target", ["host", pytest.param("gap9", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_distance_to_tflite_is_what_the_page_says(
    name: str, target: str, shared_model: Callable[[str], Path], plugins: Plugins
) -> None:
    """Integer programs are deterministic, so that the rows of docs/tflite.md hold exactly."""
    shared_model(name)
    found = distance(name, target, plugins)
    if found.floating:
        assert found.worst < 1e-5 and found.top1 == found.samples
    else:
        assert found.row() in (ROOT / "docs" / "tflite.md").read_text("utf-8").splitlines()


def test_names_do_not_reach_the_program_as_they_are(tmp_path: Path, plugins: Plugins) -> None:
    """Names of the file that would end a comment, begin a directive or a format, or are no Unicode at all."""
    b = TfliteBuilder()
    x = b.tensor('*/\n#error "x"\n/*', (1, 4, 4, 3))
    y, z = b.tensor('%s\\"; ??/ \x1b[31m', (1, 2, 2, 3)), b.tensor("../../\ufffe\u202e", (1, 12))
    b.operator("MAX_POOL_2D", [x], [y], ("Pool2DOptions", {**POOL, "Padding": VALID}))
    b.operator("RESHAPE", [y], [z])
    path = saved(tmp_path / "names.tflite", b.content([x], [z]))
    assert verify_model(VerifyRequest(path, "host"), plugins).bit_exact
