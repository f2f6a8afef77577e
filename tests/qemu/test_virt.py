"""Emitted programs on three bare RISC-V harts of QEMU: the same bytes as on the twin, whatever the harts do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from match_core.contract.errors import MatchError, ToolError
from match_core.contract.runner import RunResult
from match_core.pipeline import CompileRequest, compile_model
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_qemu.virt.build import Options, VirtImage, build_virt
from match_qemu.virt.machine import Result, run
from match_verify.places import place_at
from numpy.typing import NDArray

from tests.conftest import ROOT, load_inputs
from tests.end_to_end.models import QdqBuilder
from tests.qemu.conftest import require
from tests.qemu.run_requests import run_request
from tests.qemu.small_model import small_inputs, small_model

HERE = Path(__file__).resolve().parent
TARGETS = ("carfield", "carfield_poll")

Arrays = Mapping[str, NDArray[np.generic]]
Program = Callable[[str], Path]


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    require("riscv")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The small model compiled for a target, once."""

    @cache
    def compiled(target: str) -> Path:
        folder = tmp_path_factory.mktemp(target)
        request = CompileRequest(
            small_model(folder / "small.onnx"), target, folder / "small", execution="concurrent", cache=False
        )
        compile_model(request, Plugins.load())
        return folder / "small"

    return compiled


@pytest.fixture(scope="module")
def expected(program: Program) -> Arrays:
    """Outputs of two samples on the twin. Which unit computes what makes no difference to them, so that they are those
    of all the small model's programs."""
    return _twin(program("carfield"), small_inputs(2))


def _twin(program: Path, inputs: Arrays) -> Arrays:
    return dict(run_program(program, inputs, Plugins.load()).outputs)


def _check(result: Result, expected: Arrays) -> None:
    assert result.status.endswith("_OK") and result.exit_status == 0, result.console[-500:]
    assert set(result.outputs) == set(expected)
    for name, values in expected.items():
        assert result.outputs[name].dtype == values.dtype and result.outputs[name].shape == values.shape
        assert result.outputs[name].tobytes() == values.tobytes(), name


def run_on(on: str, program: Path, inputs: Arrays | None = None) -> RunResult:
    """As ``match run --on`` does."""
    plugins = Plugins.load()
    return run_program(program, inputs or small_inputs(2), plugins, place=place_at(on, {}, plugins))


def _same(result: RunResult, expected: Arrays) -> None:
    assert {name: values.tobytes() for name, values in result.outputs.items()} == {
        name: values.tobytes() for name, values in expected.items()
    }


def _tasks(program: Path) -> dict[str, list[int]]:
    """Numbers of nodes by queue."""
    document = json.loads((program / "match.lock.json").read_text(encoding="utf-8"))
    return {queue["name"]: queue["tasks"] for queue in document["queues"]}


def _misbehaving(program: Path, work: Path, *defines: str) -> VirtImage:
    """An image whose runs are given up after a second."""
    options = Options(timeout_seconds=1, defines=("MATCH_PROFILE", *defines), sources=(HERE / "misbehave.c",))
    return build_virt(run_request(program, small_inputs(1), work), options)


@pytest.mark.parametrize("target", TARGETS)
def test_outputs_are_those_of_the_twin(target: str, program: Program, expected: Arrays, tmp_path: Path) -> None:
    """Two runs on the same harts, at the same time or in turns."""
    emitted, inputs = program(target), small_inputs(2)
    assert all(_tasks(emitted).values()), "host and both units have something to do"
    image = build_virt(run_request(emitted, inputs, tmp_path))
    _check(run(image), expected)
    first, second = run(image, counted=True), run(image, counted=True)
    _check(first, expected)
    assert first.console == second.console and len(first.run_seconds) == 2


def test_nodes_are_counted_on_their_own_hart(program: Program, expected: Arrays) -> None:
    """And nothing for waiting: the host's node is small."""
    first = run_on("qemu", program("carfield"))
    _same(first, expected)
    assert first.counter == "instructions"
    assert all(node.cycles > 0 for node in first.nodes)
    assert first.cycles_by_unit["host"] < 10_000 < first.cycles_by_unit["spatz"]


def test_a_target_without_a_port_is_refused(tmp_path: Path) -> None:
    """GAP9's units are on no machine."""
    model = QdqBuilder(32, 16, 24, 24).conv(32, 3).save(tmp_path / "small.onnx")
    request = CompileRequest(model, "gap9", tmp_path / "p", execution="sequential", cache=False)
    compile_model(request, Plugins.load())
    inputs = {"input": np.zeros((1, 1, 16, 24, 24), np.int8)}
    with pytest.raises(MatchError, match="MATCH-U102") as caught:
        run_on("qemu", tmp_path / "p", inputs)
    assert "no emulated machine has the units" in caught.value.why


@pytest.mark.parametrize("target", ["carfield", pytest.param("carfield_poll", marks=pytest.mark.slow)])
def test_a_unit_that_hangs_is_restarted(target: str, program: Program, expected: Arrays, tmp_path: Path) -> None:
    """The run is given up with an error; after a stop and an init the unit works as if nothing had been."""
    emitted = program(target)
    node = _tasks(emitted)["spatz" if target == "carfield" else "pulp"][1]
    result = run(_misbehaving(emitted, tmp_path, f"HANG={node}u", "PORT_RETRIES=5u"))
    runs = [line.split()[1] for line in result.console.splitlines() if line.startswith("run ")]
    assert runs[0] == "SMALL_ERROR_TIMEOUT"
    _check(result, {name: values[:1] for name, values in expected.items()})


def test_a_unit_that_hangs_is_an_error_and_not_the_end(program: Program, tmp_path: Path) -> None:
    emitted = program("carfield")
    image = _misbehaving(emitted, tmp_path, f"HANG={_tasks(emitted)['pulp'][0]}u")
    result = run(image)
    assert result.status == "SMALL_ERROR_TIMEOUT" and result.exit_status == 3 and not result.outputs
    without_spatz = run(image, harts=2)
    assert without_spatz.status == "SMALL_ERROR_UNIT" and without_spatz.exit_status == 2


def test_an_exception_is_reported(program: Program, tmp_path: Path) -> None:
    """Hart 2 runs into an illegal instruction, which is cause 2."""
    emitted = program("carfield")
    image = _misbehaving(emitted, tmp_path, f"FAULT={_tasks(emitted)['spatz'][0]}u")
    with pytest.raises(ToolError, match="MATCH-T013") as caught:
        run(image)
    assert caught.value.why.startswith("fault: hart 2, cause 2, at ")


@pytest.mark.slow
def test_the_commands_of_the_page(tmp_path: Path) -> None:
    """Those of docs/port.md, one after another as they stand there."""
    (block,) = re.findall(r"```console\n(.*?)```", (ROOT / "docs" / "port.md").read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "tests").symlink_to(ROOT / "tests", target_is_directory=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = re.findall(r"^\$ (.+)$", block, flags=re.MULTILINE)
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(commands) == 4


@pytest.mark.slow
def test_32_bits(program: Program, expected: Arrays, tmp_path: Path) -> None:
    """Double precision is software there."""
    _same(run_on("qemu:virt32", program("carfield")), expected)


@pytest.mark.slow
def test_a_sequential_program_that_streams_constants(expected: Arrays, tmp_path: Path) -> None:
    """One task after another, each handed to its unit with a call."""
    model, program = small_model(tmp_path / "small.onnx"), tmp_path / "small"
    memory = (("l2", 16_000),)
    compile_model(
        CompileRequest(model, "carfield", program, execution="sequential", memory=memory, cache=False), Plugins.load()
    )
    assert (program / "small_l3.bin").is_file()
    _same(run_on("qemu", program), expected)


@pytest.mark.slow
def test_a_program_that_swaps(tmp_path: Path) -> None:
    model, program = small_model(tmp_path / "wide.onnx", middle=48), tmp_path / "wide"
    memory = (("l2", 104_000),)
    compile_model(
        CompileRequest(model, "carfield", program, execution="concurrent", memory=memory, cache=False), Plugins.load()
    )
    assert json.loads((program / "match.lock.json").read_text(encoding="utf-8"))["swaps"]
    inputs = small_inputs(2)
    _same(run_on("qemu", program, inputs), _twin(program, inputs))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["matcha_resnet8_f16", "matcha_resnet_block_f16"])
def test_published_models(name: str, target: str, shared_model: Callable[[str], Path], tmp_path: Path) -> None:
    folder = shared_model(name)
    compile_model(CompileRequest(folder / "model.onnx", target, tmp_path / "program", cache=False), Plugins.load())
    inputs = load_inputs(folder, 2)
    tasks = _tasks(tmp_path / "program")
    assert tasks["pulp"] and tasks["spatz"]
    _same(run_on("qemu", tmp_path / "program", inputs), _twin(tmp_path / "program", inputs))
