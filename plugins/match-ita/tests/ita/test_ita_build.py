"""The library of a program, built with Debian's RISC-V compiler against an empty snRuntime. It does not run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from ita_graphs import ItaGraph, compiled
from match_core.deploy.compile_options import Execution
from match_core.plugin.facade import Plugins

PREFIX = "riscv64-unknown-elf-"
#: What a program may need from outside: snRuntime, what the port gives, and the compiler's own functions.
OUTSIDE = ("snrt_", "match_port_", "mem", "__")
STAND_IN = Path(__file__).resolve().parents[1] / "twin" / "stand_in"


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("execution", ["sequential", "concurrent"])
def test_the_library_is_complete(execution: Execution, plugins: Plugins, tmp_path: Path) -> None:
    for tool in ("gcc", "ar", "nm"):
        if shutil.which(PREFIX + tool) is None:
            pytest.skip(f"{PREFIX}{tool} is not installed")
    g = ItaGraph()
    q, k, values = g.input(70, 64), g.input(70, 64), g.input(70, 64)
    y = g.attention(q, k, g.turned(g.linear(values, 64), 128))
    y = g.node("Add", [y, y], y.shape, y.dtype)
    compiled(g.graph(y), plugins, tmp_path, execution=execution, without=())
    program = tmp_path / "program"
    includes = f"-I{STAND_IN} --specs=picolibc.specs"
    flags = "-O1 -std=c11 -Wall -Wextra -Werror"
    run(
        "make",
        "-j2",
        "-f",
        "ita.mk",
        "ITA_BASE=0x10040000",
        f"SNRT_INCLUDES={includes}",
        f"CFLAGS={flags}",
        cwd=program,
    )
    listing = run(f"{PREFIX}nm", "build/libnet.a", cwd=program).splitlines()
    symbols = [line.split() for line in listing if line]
    defined = {words[-1] for words in symbols if len(words) == 3}
    wanted = {words[1] for words in symbols if len(words) == 2 and words[0] == "U"} - defined
    assert {name for name in wanted if not name.startswith(OUTSIDE)} == set()
    assert {"net_run", "match_ita_run", "match_ita_attention"} <= defined


def test_the_address_must_be_given(plugins: Plugins, tmp_path: Path) -> None:
    g = ItaGraph()
    compiled(g.graph(g.linear(g.input(64, 64), 64)), plugins, tmp_path)
    done = subprocess.run(
        ("make", "-f", "ita.mk"), capture_output=True, text=True, check=False, cwd=tmp_path / "program"
    )
    assert done.returncode != 0
    assert "ITA_BASE must be the address" in done.stderr
