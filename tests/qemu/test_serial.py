"""A board at a serial line: here an emulated one, whose serial port is a socket or a terminal."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from match_core.contract.errors import MatchError
from match_core.contract.runner import RunResult
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_qemu import serial
from match_verify.places import place_at

from tests.qemu.conftest import Edit, require
from tests.qemu.run_requests import integer_inputs

QEMU = ("qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-icount", "shift=0")
#: Copies the image, as a flash tool does, and starts the board with it.
FLASH = """#!/bin/sh
cp "$1" "$2/board.elf"
nohup timeout 120 {qemu} -serial "$3" -kernel "$2/board.elf" >"$2/said.txt" 2>&1 &
echo $! >"$2/pid"
"""


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    require("arm")


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def board(tmp_path: Path, port: int) -> Iterator[str]:
    """The flash command of a board whose serial port is a socket; the board ends with the test."""
    script = tmp_path / "flash.sh"
    script.write_text(FLASH.format(qemu=" ".join(QEMU)) + "sleep 1\n", encoding="utf-8")
    yield f"sh {script} {{elf}} {tmp_path} tcp:127.0.0.1:{port},server=on,wait=off"
    if (tmp_path / "pid").is_file():
        subprocess.run(["kill", (tmp_path / "pid").read_text().strip()], check=False, stderr=subprocess.DEVNULL)


def _run(program: Path, samples: int = 2, **options: str | None) -> RunResult:
    plugins = Plugins.load()
    return run_program(program, integer_inputs(samples), plugins, place=place_at("serial:mps2-an386", options, plugins))


def _same(result: RunResult, program: Path, samples: int) -> None:
    twin = run_program(program, integer_inputs(samples), Plugins.load())
    assert {n: v.tobytes() for n, v in result.outputs.items()} == {n: v.tobytes() for n, v in twin.outputs.items()}


def test_outputs_are_those_of_the_twin(integer_program: Path, board: str, port: int) -> None:
    result = _run(integer_program, port=f"tcp:127.0.0.1:{port}", flash=board)
    _same(result, integer_program, 2)
    assert result.counter == "cycles" and result.place == f"mps2-an386 at tcp:127.0.0.1:{port}"
    nodes = sum(node.cycles for node in result.nodes)
    assert all(node.cycles > 0 for node in result.nodes) and abs(result.cycles_total - nodes) < 100
    assert 100 < result.sizes["stack"] < 4000


@contextmanager
def _terminal(elf: Path) -> Iterator[str]:
    """A board that runs an image, whose serial port is a terminal."""
    command = [*QEMU, "-serial", "pty", "-kernel", str(elf)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert running.stdout is not None
        device = re.search(r"/dev/\S+", running.stdout.readline())
        assert device is not None
        yield device[0]
    finally:
        running.kill()
        running.wait()


@pytest.mark.slow
def test_a_terminal_is_a_line_too(integer_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is flashed: the board runs the program already. One that runs another program is not used."""
    elf = tmp_path / "kept.elf"
    with pytest.raises(MatchError, match="MATCH-U103"):
        _run(integer_program, port="/dev/there_is_no_such_line", flash=f"cp {{elf}} {elf}")
    with _terminal(elf) as device:
        result = _run(integer_program, samples=1, port=device, baud="38400")
    _same(result, integer_program, 1)
    monkeypatch.setattr(serial, "image_number", lambda request: 7)
    with _terminal(elf) as device, pytest.raises(MatchError, match="MATCH-T014") as caught:
        _run(integer_program, samples=1, port=device)
    assert "it runs another program" in caught.value.why


@pytest.mark.slow
def test_damaged_bytes_are_sent_again(integer_program: Path, board: str, port: int) -> None:
    """A byte of the first sample, and one of the first outputs, change on their way."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_damaging, args=(server, port), daemon=True).start()
        result = _run(integer_program, port=f"tcp:127.0.0.1:{server.getsockname()[1]}", flash=board)
    _same(result, integer_program, 2)


def _damaging(server: socket.socket, port: int) -> None:
    """Between the runner and the board: changes a byte of the first large piece in each direction."""
    near, _ = server.accept()
    with near, socket.create_connection(("127.0.0.1", port)) as far:
        near.settimeout(0.05)
        far.settimeout(0.05)
        spoilt = {near: False, far: False}
        while True:
            for source, drain in ((near, far), (far, near)):
                try:
                    data = bytearray(source.recv(65536))
                except TimeoutError:
                    continue
                if not data:
                    return
                if not spoilt[source] and b"MS" in data + b"MO" * (source is far) and len(data) > 30:
                    data[25] ^= 0x10
                    spoilt[source] = True
                drain.sendall(bytes(data))


@pytest.mark.slow
def test_a_program_that_fails(broken_program: Edit, board: str, port: int) -> None:
    program = broken_program("*(volatile int *)0xA0000000u = 1;")
    with pytest.raises(MatchError, match="MATCH-T013") as caught:
        _run(program, samples=1, port=f"tcp:127.0.0.1:{port}", flash=board)
    assert re.fullmatch(r"exception \d+ at address 0x0000\w{4}, value 0xa0000000", caught.value.why)


@pytest.mark.slow
def test_a_line_without_an_answer(integer_program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serial, "HELLO_SECONDS", 1.5)
    begin = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(MatchError, match="MATCH-T014") as caught:
        _run(integer_program, port=f"tcp:127.0.0.1:{server.getsockname()[1]}")
    assert "within 1.5 s" in caught.value.why and time.monotonic() - begin < 60


@pytest.mark.parametrize(
    ("options", "code", "why"),
    [
        ({}, "MATCH-U103", "name the line of the board"),
        ({"port": "tcp:x:1", "baud": "fast"}, "MATCH-U103", "--baud 'fast' is not a number"),
        ({"port": "tcp:127.0.0.1:1", "flash": "false"}, "MATCH-T015", "exit status 1"),
        pytest.param(
            {"port": "tcp:127.0.0.1:1", "flash": "there_is_no_such_tool {elf}"},
            *("MATCH-T015", "it cannot be started"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"port": "tcp:127.0.0.1:1", "flash": "'"},
            *("MATCH-T015", "it cannot be started"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"port": "tcp:127.0.0.1:1", "flash": "test -s {bin} -a ! -s {hex}"},
            *("MATCH-T015", "exit status 1"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_wrong_before_the_board_answers(
    options: dict[str, str | None], code: str, why: str, integer_program: Path
) -> None:
    with pytest.raises(MatchError, match=code) as caught:
        _run(integer_program, **options)
    assert why in caught.value.why
