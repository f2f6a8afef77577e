"""Verbs behave: piped into what stops reading, interrupted, where nothing can be written, and twice at once."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests import forked
from tests.conftest import ROOT
from tests.end_to_end.layer_specs import LayerSpec, layer_model
from tests.end_to_end.models import QdqBuilder
from tests.envelope import opened
from tests.program_files import program_files

DEMO = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"
#: A file system that nobody writes to, root neither.
READ_ONLY = Path("/proc/self")


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model, samples for it, and a program for the host."""
    folder = tmp_path_factory.mktemp("workshop")
    onnx.save(layer_model(LayerSpec(64, 10)), str(folder / "net.onnx"))
    onnx.save(layer_model(LayerSpec(64, 10, elements="float32")), str(folder / "floats.onnx"))
    np.savez(folder / "x.npz", x=np.ones((2, 1, 64), np.int8))
    np.savez(folder / "floats.npz", x=np.ones((2, 1, 64), np.float32))
    (folder / "study.toml").write_text('[study]\nmodels = ["net.onnx"]\ntargets = ["host"]\n', encoding="utf-8")
    done = _match(["compile", "net.onnx", "-t", "host", "-o", "program"], folder)
    assert done.returncode == 0, done.stderr
    _counted(folder)
    return folder


def _counted(folder: Path) -> None:
    """A deeper model, a program, and counters of its layers."""
    builder = QdqBuilder(1, 4, 8, 8)
    for channels in range(5, 14):
        builder = builder.conv(channels, 3)
    builder.save(folder / "deep.onnx")
    done = _match(["compile", "deep.onnx", "-t", "host", "-o", "deep", "--json"], folder)
    nodes = opened(done.stdout)["nodes"]
    rows = [f"{index},{node['predicted_cycles'] * 1.2:.0f}" for index, node in enumerate(nodes)]
    (folder / "deep.csv").write_text("\n".join(("index,cycles", *rows, "")), encoding="utf-8")


def _environment() -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1"}


def _match(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return forked.match(arguments, cwd=folder, env=_environment())


#: One command of every verb; OUT is a place for results.
VERBS: dict[str, list[str]] = {
    "compile": ["compile", "net.onnx", "-t", "host", "-o", "OUT/program"],
    "run": ["run", "program", "--inputs", "x.npz", "--outputs", "OUT/y.npz"],
    "verify": ["verify", "net.onnx", "-t", "host", "--timeline", "OUT/trace.json"],
    "check": ["check", "net.onnx", "-t", "host"],
    "explain": ["explain", "net.onnx", "layer", "-t", "gap9", "--apply", "OUT/layer.onnx"],
    "fit": ["fit", "net.onnx", "-t", "host", "--budget", "cycles=1M"],
    "diff": ["diff", "program", "program"],
    "report": ["report", "program", "-o", "OUT/report"],
    "calibrate": ["calibrate", "deep.onnx", "--counters", "deep=deep.csv", "-o", "OUT/figures.json"],
    "explore": ["explore", "study.toml", "-w", "1", "-o", "OUT/study"],
    "export": ["export", "program", "--as", "zephyr", "-o", "OUT/module"],
    "quantize": ["quantize", "floats.onnx", "--data", "floats.npz", "-o", "OUT/int8.onnx"],
    "new-target": ["new-target", "sprout", "-o", "OUT/match-sprout"],
    "test-target": ["test-target", "match-diana", "--output", "OUT/badge.json"],
    "operators": ["operators", "net.onnx"],
    "offload": ["offload", "program"],
    "targets": ["targets"],
    "plugins": ["plugins"],
    "lines": ["lines", "match-kit"],
    "doctor": ["doctor"],
}
WRITING = sorted(verb for verb, arguments in VERBS.items() if any("OUT" in argument for argument in arguments))


def _arguments(verb: str, out: Path) -> list[str]:
    return [argument.replace("OUT", str(out)) for argument in VERBS[verb]]


def test_every_verb_is_here() -> None:
    from match_core.cli.main import application

    assert {command.name for command in application().registered_commands} == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_reader_that_goes_away(verb: str, workshop: Path, tmp_path: Path) -> None:
    """Like ``match VERB | head -0``: no traceback, no words about it."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = forked.match(_arguments(verb, tmp_path), cwd=workshop, env=_environment(), stdout=write)
    finally:
        os.close(write)
    told = done.stderr
    assert done.returncode == 141, told
    assert "Traceback" not in told and "BrokenPipe" not in told and "error" not in told


@pytest.mark.parametrize("verb", VERBS)
def test_output_that_is_no_terminal_is_plain(verb: str, workshop: Path, tmp_path: Path) -> None:
    done = _match(_arguments(verb, tmp_path), workshop)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr and "\r" not in done.stdout + done.stderr


@pytest.mark.parametrize("verb", WRITING)
def test_where_nothing_can_be_written(verb: str, workshop: Path) -> None:
    done = _match(_arguments(verb, READ_ONLY / "match-test"), workshop)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("error: "))
    assert line.startswith(("error: MATCH-U011", "error: MATCH-U045", "error: MATCH-U051"))


@pytest.mark.parametrize("verb", ["check", "targets", "plugins", "fit"])
def test_in_a_folder_that_cannot_be_written(verb: str, workshop: Path) -> None:
    """Nothing is left where the command runs."""
    arguments = [str(workshop / a) if a.endswith(".onnx") else a for a in _arguments(verb, workshop)]
    done = _match(arguments, READ_ONLY)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("seconds", [0.2, 0.8, 1.6, 3.2])
def test_an_interrupt_leaves_nothing(seconds: float, tmp_path: Path) -> None:
    """Ctrl-C at some moment of a compilation: done, or interrupted and nothing there."""
    arguments = ["compile", str(DEMO), "-t", "gap9", "-o", "out", "--no-cache", "--quiet"]
    code = "from match_core.cli.main import main; print('started', flush=True); main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(),
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "started\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    left = sorted(path.name for path in tmp_path.iterdir())
    if process.returncode == 0:
        assert left == ["out"]
        return
    assert process.returncode == 130, told
    assert left == []
    assert "Traceback" not in told


def test_twice_at_once_into_one_directory(tmp_path: Path) -> None:
    """Both end without a word of trouble or one gives way; what is there is one whole program."""
    command = [*forked.MATCH, "compile", str(DEMO), "-t", "gap9", "--sequential", "-o", "out", "--quiet"]
    options: list[Callable[[], list[str]]] = [lambda: command, lambda: [*command, "--name", "other"]]
    running = [
        subprocess.Popen(
            make(), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_environment()
        )
        for make in options * 2
    ]
    results = [(process.communicate(timeout=300), process.returncode) for process in running]
    assert any(code == 0 for _, code in results)
    for (_, told), code in results:
        assert code in (0, 2) and "Traceback" not in told, told
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    lock = json.loads((tmp_path / "out" / "match.lock.json").read_text(encoding="utf-8"))
    files = {name: hashlib.sha256(content).hexdigest() for name, content in program_files(tmp_path / "out").items()}
    assert {name: digest for name, digest in files.items() if name != "match.lock.json"} == lock["files"]
