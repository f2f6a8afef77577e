"""Errors of runners. Compilers and emulators are scripts here, so that every machine gives the same text."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.errors import models

if TYPE_CHECKING:
    import subprocess

    Run = Callable[..., "subprocess.CompletedProcess[str]"]

#: Writes its output where the option -o says.
COMPILER = 'while [ $# -gt 0 ]; do if [ "$1" = -o ]; then echo >"$2"; fi; shift; done\n'
MARKS = ("match_marks", "match_profile_begin")
SYMBOLS = "".join(f"echo 0000100{n} 00000010 T {name}\n" for n, name in enumerate(MARKS))
SYMBOLS += "echo 00002000 00000010 T match_profile_end\n"
OVERFLOW = """case " $* " in *" -c "*) ;; *) echo "ld: region \\`ram' overflowed by 4096 bytes" >&2; exit 1;; esac
"""
FAULT = 'echo "fault: kind 00000003 at 00001234 value a0000000" >&2; exit 91\n'


@dataclass(frozen=True)
class Case:
    """``tools``: scripts by name of the tool; all others are as on this machine, or do not exist."""

    code: str
    exit_code: int
    options: tuple[str, ...]
    tools: tuple[tuple[str, str], ...] = ()


ARM = "arm-none-eabi"
BUILT = ((f"{ARM}-gcc", COMPILER), (f"{ARM}-size", "true\n"), (f"{ARM}-nm", SYMBOLS))
QEMU = ("qemu-system-arm", 'echo "QEMU emulator version 7.2.0"\n')
SERIAL = ("--on", "serial:mps2-an386", "--port", "tcp:127.0.0.1:PORT")
CASES = {
    "no_such_runner": Case("MATCH-U100", 2, ("--on", "qenu")),
    "option_of_another_runner": Case("MATCH-U101", 2, ("--port", "/dev/ttyACM0")),
    "no_such_machine": Case("MATCH-U102", 2, ("--on", "qemu:mps2-an368")),
    "no_line": Case("MATCH-U103", 2, ("--on", "serial:mps2-an386")),
    "no_emulator": Case("MATCH-T010", 1, ("--on", "qemu")),
    "compiler_of_the_board": Case(
        "MATCH-T011", 1, ("--on", "qemu"), ((f"{ARM}-gcc", 'echo "cc1: error: bad -mcpu" >&2; exit 1\n'), QEMU)
    ),
    "too_little_memory": Case("MATCH-T012", 1, ("--on", "qemu"), ((f"{ARM}-gcc", OVERFLOW + COMPILER), QEMU)),
    "exception_on_the_board": Case(
        "MATCH-T013",
        1,
        ("--on", "qemu"),
        (*BUILT, ("qemu-system-arm", f'if [ "$1" = --version ]; then {QEMU[1]}else\n{FAULT}fi\n')),
    ),
    "board_closes_the_line": Case("MATCH-T014", 1, SERIAL, BUILT),
    "flash_fails": Case("MATCH-T015", 1, (*SERIAL, "--flash", "sh -c 'echo no probe found; exit 3'"), BUILT),
}


@pytest.mark.parametrize("name", CASES)
def test_error_of_a_runner(name: str, tmp_path: Path, match_command: Run, golden: Callable[[str, str], None]) -> None:
    case, tools = CASES[name], tmp_path / "tools"
    tools.mkdir()
    for tool, text in case.tools:
        (tools / tool).write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        (tools / tool).chmod(0o755)
    for tool in ("cc", "gcc", "as", "ld", "sh"):  # of this machine: the plug-in is built
        for folder in (Path("/usr/bin"), Path("/bin")):
            if (folder / tool).exists() and not (tools / tool).exists():
                (tools / tool).symlink_to(folder / tool)
    model = models.relu(tmp_path / "model.onnx")
    done = match_command("compile", model, "-t", "host", "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    np.savez(tmp_path / "x.npz", x=np.zeros((1, 1, 8), np.float32))
    with socket.create_server(("127.0.0.1", 0), backlog=1) as server:
        port = str(server.getsockname()[1])
        if case.code == "MATCH-T014":  # accepted by the system, closed with the server's end
            server.settimeout(60)
            threading.Thread(target=lambda: server.accept()[0].close(), daemon=True).start()
        options = [option.replace("PORT", port) for option in case.options]
        arguments = ("run", tmp_path / "out", "--inputs", tmp_path / "x.npz", "--outputs", tmp_path / "y.npz")
        done = match_command(*map(str, arguments), *options, "--quiet", PATH=str(tools))
    assert done.returncode == case.exit_code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    text = done.stderr[done.stderr.index(f"error: {case.code}: ") :]
    text = re.sub(r"\[Errno \d+\] ", "", text)
    golden(f"{name}.txt", text.replace(str(tmp_path), "FOLDER").replace(port, "PORT"))
