"""A program's bytes do not depend on the schedule cache, on who else uses it, or on the number of processes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.conftest import MATCH, ROOT

MODEL = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"


def _start(folder: Path, output: str, *options: str) -> subprocess.Popen[bytes]:
    command = [*MATCH, "compile", str(MODEL), "-t", "gap9", "-o", str(folder / output), "-q", *options]
    environment = {**os.environ, "MATCH_CACHE_DIR": str(folder / "cache")}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


def _files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def test_programs_are_equal_cold_and_warm_and_side_by_side(tmp_path: Path) -> None:
    cold = [_start(tmp_path, "one"), _start(tmp_path, "two")]
    assert [process.wait(timeout=300) for process in cold] == [0, 0]
    entries = {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert len(entries) > 20
    assert _start(tmp_path, "warm").wait(timeout=300) == 0
    assert {path: path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()} == entries
    assert _start(tmp_path, "shared", "--no-cache", "--jobs", "2").wait(timeout=300) == 0
    first = _files(tmp_path / "one")
    assert all(_files(tmp_path / name) == first for name in ("two", "warm", "shared"))


def test_a_directory_full_of_rubbish_changes_nothing(tmp_path: Path) -> None:
    assert _start(tmp_path, "good").wait(timeout=300) == 0
    for path in (tmp_path / "cache").rglob("*.json"):
        path.write_bytes(path.read_bytes()[:-40])
    assert _start(tmp_path, "again").wait(timeout=300) == 0
    assert _files(tmp_path / "good") == _files(tmp_path / "again")
