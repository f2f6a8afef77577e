"""Every error of ``match explore`` as it is printed: bad studies end before the first task."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from match_core.contract.errors import MatchError
from match_explore.engine.incident import CODES
from match_explore.errors import cluster_lost, other_code

from tests.envelope import opened
from tests.errors import models

Run = Callable[..., "subprocess.CompletedProcess[str]"]
STUDY = '[study]\nmodels = ["model.onnx"]\ntargets = ["host"]\n'
#: What is appended to the study.
CASES = {
    "MATCH-U110": "[strategy]\nkind = 'guess'",
    "MATCH-U111": "[axes]\nmemory.l9 = [1024]",
    "MATCH-U112": "inputs = 'no.npz'",
    "MATCH-U113": "objectives = ['speed']",
}


def _study(folder: Path, text: str = "") -> Path:
    models.relu(folder / "model.onnx")
    study = folder / "study.toml"
    study.write_text(f"{STUDY}{text}\n", encoding="utf-8")
    return study


@pytest.mark.parametrize("code", CASES)
def test_error_of_a_study(code: str, tmp_path: Path, match_command: Run, golden: Callable[[str, str], None]) -> None:
    done = match_command("explore", _study(tmp_path, CASES[code]), "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 2 and not (tmp_path / "out").exists(), done.stdout + done.stderr
    told = done.stderr[done.stderr.index(f"error: {code}: ") :]
    golden(f"{code}.txt", told.replace(str(tmp_path), "FOLDER"))


def test_error_of_a_cluster(tmp_path: Path, match_command: Run, golden: Callable[[str, str], None]) -> None:
    """A file for TLS that is missing; and those that need a cluster to happen, in the words of the engine."""
    tls = ("--tls-ca", "no.pem", "--tls-cert", "no.pem", "--tls-key", "no.pem")
    done = match_command("explore", _study(tmp_path), "--scheduler", "tls://127.0.0.1:9", *tls, "-q")
    assert done.returncode == 2, done.stdout + done.stderr
    golden("MATCH-U114.txt", done.stderr[done.stderr.index("error: ") :].replace(str(tmp_path), "FOLDER"))
    faults: tuple[MatchError, ...] = (
        other_code(
            "tcp://127.0.0.1:41", "its code has the digest 0123456789ab, this one has ba9876543210", "install it"
        ),
        cluster_lost("tcp://127.0.0.1:8786", "the scheduler closed the connection"),
    )
    for fault in faults:
        golden(f"{fault.code}.txt", f"{fault}\n")


def test_error_of_a_point(golden: Callable[[str, str], None]) -> None:
    """What rows and pages state for tasks that ended twice."""
    golden("rows.txt", "".join(f"{code}: {what}\n" for code, what in CODES.values()))


def test_the_command_prints_the_choice(match_command: Run, tmp_path: Path) -> None:
    """First all results and the programs, then from the same results the choice alone."""
    study, out = _study(tmp_path), tmp_path / "out"
    first = match_command(
        "explore", study, "--output", out, "--workers", "1", "--no-resume", "--keep", tmp_path / "kept", "--json", "-q"
    )
    assert first.returncode == 0, first.stderr
    assert opened(first.stdout)["computed"] == 1
    assert list((tmp_path / "kept").rglob("match.lock.json")) and (out / "study.html").is_file()
    best = match_command("explore", study, "-o", out, "-w", "1", "--resume", "--best", "--quiet")
    assert best.returncode == 0 and f"match compile {tmp_path / 'model.onnx'}" in best.stdout, best.stdout + best.stderr
