"""QEMU: starts an image and reads what comes over the serial line."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ports.qemu_virt.build import TICKS_PER_SECOND, Image


class MachineError(Exception):
    """The machine did not end, or said something that the port does not say."""


@dataclass(frozen=True)
class Result:
    """``status``: of the last call (``NAME_OK``); ``exit_status``: QEMU's, 0 if that is OK; ``outputs`` by graph output
    name, first axis the sample, as far as runs came to an end; ``run_seconds``: of each run by the machine's clock;
    ``run_instructions``: of all harts, by the counter of retired instructions, which means something only where they
    are counted; ``seconds``: all of QEMU."""

    status: str
    exit_status: int
    outputs: Mapping[str, NDArray[np.generic]]
    run_seconds: tuple[float, ...]
    run_instructions: tuple[int, ...]
    seconds: float
    console: str


def command_of(image: Image, harts: int | None = None, counted: bool = False) -> list[str]:
    """QEMU's command line. ``counted``: harts run in turns, and time is a nanosecond for each instruction, so that
    everything repeats exactly; else they run at the same time."""
    machine = ["-M", "virt", "-smp", str(harts or image.harts), "-m", "128M", "-bios", "none", "-nographic"]
    turns = ["-icount", "shift=0,sleep=off"] if counted else []
    return [f"qemu-system-riscv{image.width}", *machine, *turns, "-kernel", str(image.elf)]


def run(image: Image, *, harts: int | None = None, counted: bool = False, timeout_seconds: int = 600) -> Result:
    """Run an image to its end. MachineError if that does not come in time or the console says something else."""
    start = time.monotonic()
    try:
        done = subprocess.run(
            command_of(image, harts, counted),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_seconds,
        )
    except subprocess.TimeoutExpired as error:
        said = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else error.stdout or ""
        raise MachineError(f"no end within {timeout_seconds} s\n{said[-2000:]}") from None
    seconds = time.monotonic() - start
    lines = done.stdout.splitlines()
    if not lines or any(line.startswith("fault") for line in lines):
        raise MachineError(f"status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return _result(image.document, lines, done.returncode, seconds)


def _result(document: Mapping[str, Any], lines: list[str], exit_status: int, seconds: float) -> Result:
    found: dict[str, list[NDArray[np.generic]]] = {output["field"]: [] for output in document["outputs"]}
    status, ticks, instructions, place = "", [], [], 0
    while place < len(lines):
        words = lines[place].split()
        place += 1
        if words[:1] in (["init"], ["run"]):
            status = words[1]
            ticks += [int(words[3])] if words[0] == "run" else []
            instructions += [int(words[5])] if words[0] == "run" else []
        elif words[:1] == ["output"]:
            size = int(words[3])
            count = -(-size // 64)
            raw = bytes.fromhex("".join(lines[place : place + count]))
            if len(raw) != size or _checksum(raw) != int(words[5]):
                raise MachineError(f"output {words[1]} was damaged on its way")
            found[words[1]].append(np.frombuffer(raw, np.uint8))
            place += count
        else:
            raise MachineError(f"what is {lines[place - 1]!r}?")
    outputs = {
        row["name"]: np.array(found[row["field"]]).view(row["dtype"]).reshape(-1, *row["shape"])
        for row in document["outputs"]
        if found[row["field"]]
    }
    run_seconds = tuple(count / TICKS_PER_SECOND for count in ticks)
    return Result(status, exit_status, outputs, run_seconds, tuple(instructions), seconds, "\n".join(lines))


def _checksum(raw: bytes) -> int:
    """FNV-1a, 32 bits."""
    value = 2166136261
    for byte in raw:
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value
