"""The runtime's C by itself: free of warnings, also for the cores' instruction set, and independent of the twin."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from ita_twin_harness import PACKAGE, STRICT, runtime_sources, write_headers

RISCV = "riscv64-unknown-elf-gcc"
HERE = Path(__file__).resolve().parent


def _refused(compiler: str, source: Path, folder: Path, *flags: str) -> str:
    command = [
        compiler,
        *STRICT,
        *flags,
        f"-I{folder}",
        f"-I{PACKAGE / 'runtime'}",
        "-c",
        str(source),
        "-o",
        "/dev/null",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("source", runtime_sources(), ids=lambda path: path.stem)
def test_no_warnings_with_the_twin(source: Path, tmp_path: Path) -> None:
    write_headers(tmp_path, "rtl")
    assert _refused("gcc", source, tmp_path, f"-I{PACKAGE / 'twin/include'}") == ""


@pytest.mark.parametrize("source", runtime_sources(), ids=lambda path: path.stem)
def test_no_warnings_on_the_cores(source: Path, tmp_path: Path) -> None:
    """With headers of the Snitch runtime that stand in (stand_in/snrt.h), and ITA at an address of the port."""
    if shutil.which(RISCV) is None:
        pytest.skip(f"{RISCV} is not installed")
    write_headers(tmp_path, "rtl")
    flags = ("-march=rv32ima", "-mabi=ilp32", "-O2", "-ffreestanding", "-DMATCH_ITA_BASE=0x10050000u")
    assert _refused(RISCV, source, tmp_path, *flags, f"-I{HERE / 'stand_in'}") == ""


def test_ita_has_no_address_by_itself(tmp_path: Path) -> None:
    write_headers(tmp_path, "rtl")
    source = PACKAGE / "runtime/match_ita_job.c"
    assert "MATCH_ITA_BASE must be the address" in _refused("gcc", source, tmp_path, f"-I{HERE / 'stand_in'}")


def test_runtime_never_names_the_twin() -> None:
    for path in (PACKAGE / "runtime").glob("match_ita_*"):
        assert "twin_" not in path.read_text(encoding="utf-8"), path.name


def test_runtime_is_plain_c(tmp_path: Path) -> None:
    """No heap, no stdio, no recursion of the compiler's own making."""
    banned = ("malloc", "calloc", "free(", "printf", "stdio.h", "stdlib.h")
    for path in runtime_sources():
        text = path.read_text(encoding="utf-8")
        assert not [word for word in banned if word in text], path.name
