"""A package that cannot be imported is told once and takes nothing else with it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.errors import models
from tests.errors.faults import broken_plugin

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_other_targets_still_work(tmp_path: Path, match_command: Run) -> None:
    site = broken_plugin(tmp_path)
    done = match_command("targets", "--json", PYTHONPATH=str(site))
    assert done.returncode == 0
    assert "gap9" in [target["name"] for target in json.loads(done.stdout)]
    (warning,) = [line for line in done.stderr.splitlines() if "match-broken" in line]
    assert warning.startswith("warning: ") and "0.9" in warning
    assert "RuntimeError: this chip was never built" in warning
    assert "MATCH_DISABLE_PLUGINS=match-broken" in warning
    assert "Traceback" not in done.stderr


def test_disabling_it_silences_it(tmp_path: Path, match_command: Run) -> None:
    site = broken_plugin(tmp_path)
    done = match_command("targets", PYTHONPATH=str(site), MATCH_DISABLE_PLUGINS="match-broken")
    assert (done.returncode, done.stderr) == (0, "")


def test_compiling_for_another_target_warns_once(tmp_path: Path, match_command: Run) -> None:
    site = broken_plugin(tmp_path)
    model, output = models.relu(tmp_path / "model.onnx"), tmp_path / "out"
    done = match_command("compile", model, "-t", "gap9", "-o", output, PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("this chip was never built") == 1
    assert (output / "match.lock.json").is_file()
