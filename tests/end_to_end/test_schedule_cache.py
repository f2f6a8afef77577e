"""A program's bytes do not depend on the cache of schedules and mappings, on who else uses it, on the number of
processes, or on the seed of hashes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.forked import MATCH
from tests.program_files import program_files

MODEL = ROOT / "examples" / "demo" / "resnet8_shapes.onnx"


def _start(folder: Path, output: str, *options: str, seed: str = "1") -> subprocess.Popen[bytes]:
    command = [*MATCH, "compile", str(MODEL), "-t", "gap9", "-o", str(folder / output), "-q", *options]
    environment = {**os.environ, "MATCH_CACHE_DIR": str(folder / "cache"), "PYTHONHASHSEED": seed, "MATCH_TEST": output}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


def _entries(folder: Path) -> dict[Path, bytes]:
    """Whole programs do not count: each compilation has its own (``MATCH_TEST``)."""
    files = [path for path in (folder / "cache").rglob("*") if path.is_file()]
    return {path: path.read_bytes() for path in files if "programs" not in path.parts}


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a cache and two programs that were compiled at once, from nothing."""
    folder = tmp_path_factory.mktemp("cold")
    processes = [_start(folder, name) for name in ("one", "two")]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    return folder


def test_programs_are_equal_cold_and_warm_and_side_by_side(cold: Path) -> None:
    entries = _entries(cold)
    assert len(entries) > 20
    assert {path.relative_to(cold / "cache").parts[0] for path in entries} == {"mappings", "schedules"}
    assert _start(cold, "warm").wait(timeout=300) == 0
    assert _entries(cold) == entries
    assert _start(cold, "shared", "--no-cache", "--jobs", "2", seed="4711").wait(timeout=300) == 0
    first = program_files(cold / "one")
    assert all(program_files(cold / name) == first for name in ("two", "warm", "shared"))


def test_a_directory_full_of_rubbish_changes_nothing(cold: Path, tmp_path: Path) -> None:
    shutil.copytree(cold / "cache", tmp_path / "cache")
    for path in (tmp_path / "cache").rglob("*.json"):
        path.write_bytes(path.read_bytes()[:-40])
    assert _start(tmp_path, "again").wait(timeout=300) == 0
    assert program_files(cold / "one") == program_files(tmp_path / "again")
    assert len(_entries(tmp_path)) == len(_entries(cold)), "written anew"
