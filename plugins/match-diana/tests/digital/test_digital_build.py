"""The library of a program, built with Debian's RISC-V compiler against the twin's headers, which have the published
names. It does not run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from digital_graphs import DigitalGraph, compiled
from match_core.plugin.facade import Plugins

PREFIX = "riscv64-unknown-elf-"
HEADERS = Path(__file__).resolve().parents[2] / "src" / "match_diana" / "twin" / "include"
#: What a program may need from outside: kernel library, registers, what the port gives, the compiler's own functions.
OUTSIDE = (
    "digital_",
    "element_wise_sum",
    "analog_",
    "global_sync_",
    "memcpy_",
    "boot_diana",
    "configuration_register",
    "instruction_memory_",
    "match_diana_twin_",
    "mem",
    "__",
)


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_the_library_is_complete(plugins: Plugins, tmp_path: Path) -> None:
    for tool in ("gcc", "ar", "nm"):
        if shutil.which(PREFIX + tool) is None:
            pytest.skip(f"{PREFIX}{tool} is not installed")
    g = DigitalGraph()
    x = g.conv(g.input(1, 16, 16, 16), 16)
    y = g.add(x, g.conv(x, 16, depthwise=True), low=0)
    compiled(g.graph(y), plugins, tmp_path)
    program = tmp_path / "program"
    tools = [f"DIANA_CC={PREFIX}gcc", f"DIANA_AR={PREFIX}ar", "CFLAGS=-O1 -std=c11 -Wall -Wextra -Wconversion -Werror"]
    includes = f"DIANA_INCLUDES=-I{HEADERS} --specs=picolibc.specs"
    run("make", "-j2", "-f", "diana.mk", *tools, includes, cwd=program)
    listing = run(f"{PREFIX}nm", "build/libnet.a", cwd=program).splitlines()
    symbols = [line.split() for line in listing if line]
    defined = {words[-1] for words in symbols if len(words) == 3}
    wanted = {words[1] for words in symbols if len(words) == 2 and words[0] == "U"} - defined
    assert {name for name in wanted if not name.startswith(OUTSIDE)} == set()
    assert {"net_run", "match_diana_start", "match_diana_digital_conv"} <= defined


def test_the_application_knows_where_memories_are(plugins: Plugins, tmp_path: Path) -> None:
    """Arenas of memories that the host cannot reach have no bytes."""
    if shutil.which(f"{PREFIX}gcc") is None:
        pytest.skip(f"{PREFIX}gcc is not installed")
    g = DigitalGraph()
    compiled(g.graph(g.conv(g.input(1, 16, 16, 16), 16)), plugins, tmp_path)
    program = tmp_path / "program"
    text = (program / "example" / "main.c").read_text(encoding="utf-8")
    assert ".l1 = MATCH_DIANA_L1," in text
    assert ".digital_weights = MATCH_DIANA_DIGITAL_WEIGHTS," in text
    assert "static alignas(NET_L2_ALIGN) uint8_t l2[NET_L2_BYTES];" in text
    flags = ("-march=rv32imc", "-mabi=ilp32", "-std=c11", "-Wall", "-Wextra", "-Werror", "--specs=picolibc.specs")
    run(f"{PREFIX}gcc", *flags, "-I.", f"-I{HEADERS}", "-c", "example/main.c", cwd=program)
    sizes = run(f"{PREFIX}nm", "-S", "main.o", cwd=program)
    assert " l2" in sizes
    assert " l1" not in sizes


def test_the_headers_must_be_given(plugins: Plugins, tmp_path: Path) -> None:
    g = DigitalGraph()
    compiled(g.graph(g.conv(g.input(1, 16, 16, 16), 16)), plugins, tmp_path)
    done = subprocess.run(
        ("make", "-f", "diana.mk"), capture_output=True, text=True, check=False, cwd=tmp_path / "program"
    )
    assert done.returncode != 0
    assert "DIANA_INCLUDES must name" in done.stderr
