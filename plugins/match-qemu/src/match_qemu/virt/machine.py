"""QEMU: starts an image of several harts and reads what comes over the serial line."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from match_core.contract.errors import ToolError
from match_core.contract.runner import RunRequest, RunResult
from match_core.run.execute import by_unit, nodes_of
from numpy.typing import NDArray

from match_qemu.counting import build_plugin, plugin_arguments, read_marks
from match_qemu.tools import found
from match_qemu.virt.build import TICKS_PER_SECOND, Options, VirtImage, Width, build_virt


@dataclass(frozen=True)
class Result:
    """``status``: of the last call (``NAME_OK``); ``exit_status``: QEMU's, 0 if that is OK; ``outputs`` by graph output
    name, first axis the sample, as far as runs came to an end; ``run_seconds``: of each run by the machine's clock."""

    status: str
    exit_status: int
    outputs: Mapping[str, NDArray[np.generic]]
    run_seconds: tuple[float, ...]
    console: str


def run_on_harts(request: RunRequest, width: Width) -> RunResult:
    """The program on one hart for the host and one for each cluster, which take turns, so that every run is the same;
    instructions are those of each node on its own hart, without waiting. ToolError MATCH-T010 to T013."""
    observer, emulator = request.observer, found(f"qemu-system-riscv{width}")
    observer.stage_started("build")
    image = build_virt(request, Options(width=width, counted=True))
    plugin = build_plugin(emulator, request.work)
    observer.stage_finished("build", {})
    observer.stage_started("run")
    result = run(image, counted=True, more=plugin_arguments(plugin, image.symbols), folder=str(request.work))
    if result.exit_status != 0:
        raise _failure(image, f"the last call gave {result.status}")
    nodes = nodes_of(request.document, read_marks(request.work / "counts.txt"))
    total = sum(node.cycles for node in nodes)
    observer.stage_finished("run", {"samples": image.samples, "instructions": total})
    place = f"virt{width} ({image.harts} harts)"
    sizes = {"text": image.text_bytes["linked"] - image.text_bytes["data"]}
    return RunResult(result.outputs, total, by_unit(nodes), {}, nodes, (), "instructions", place, sizes)


def command_of(image: VirtImage, harts: int | None = None, counted: bool = False) -> list[str]:
    """QEMU's command line. ``counted``: harts run in turns, and time is a nanosecond for each instruction, so that
    everything repeats exactly; else they run at the same time."""
    machine = ["-M", "virt", "-smp", str(harts or image.harts), "-m", "128M", "-bios", "none", "-nographic"]
    turns = ["-icount", "shift=0,sleep=off"] if counted else []
    return [f"qemu-system-riscv{image.width}", *machine, *turns, "-kernel", str(image.elf)]


def run(
    image: VirtImage,
    *,
    harts: int | None = None,
    counted: bool = False,
    timeout_seconds: int = 600,
    more: Sequence[str] = (),
    folder: str | None = None,
) -> Result:
    """Run an image to its end, with ``more`` options of QEMU. ToolError MATCH-T013 if that does not come in time or the
    console says something else."""
    try:
        done = subprocess.run(
            [*command_of(image, harts, counted), *more],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_seconds,
        )
    except subprocess.TimeoutExpired:
        raise _failure(image, f"it did not end within {timeout_seconds} s") from None
    lines = done.stdout.splitlines()
    faults = [line for line in lines if line.startswith("fault")]
    if faults or not lines:
        raise _failure(image, "; ".join(faults[:2]) or done.stderr[:300] or f"status {done.returncode}")
    return _result(image, lines, done.returncode)


def _failure(image: VirtImage, why: str) -> ToolError:
    return ToolError(
        code="MATCH-T013",
        what="the program failed where it ran",
        where=f"{image.document['name']} for {image.document['target']} on {image.harts} harts of virt{image.width}",
        why=why,
        help=("this is a fault of match or of the target package: please report it with the model",),
    )


def _result(image: VirtImage, lines: list[str], exit_status: int) -> Result:
    document: Mapping[str, Any] = image.document
    found: dict[str, list[NDArray[np.generic]]] = {output["field"]: [] for output in document["outputs"]}
    status, ticks, place = "", [], 0
    while place < len(lines):
        words = lines[place].split()
        place += 1
        if words[:1] in (["init"], ["run"]):
            status = words[1]
            ticks += [int(words[3])] if words[0] == "run" else []
        elif words[:1] == ["output"]:
            size = int(words[3])
            count = -(-size // 64)
            raw = bytes.fromhex("".join(lines[place : place + count]))
            if len(raw) != size or _checksum(raw) != int(words[5]):
                raise _failure(image, f"output {words[1]} was damaged on its way")
            found[words[1]].append(np.frombuffer(raw, np.uint8))
            place += count
        else:
            raise _failure(image, f"the console says {lines[place - 1][:200]!r}")
    outputs = {
        row["name"]: np.array(found[row["field"]]).view(row["dtype"]).reshape(-1, *row["shape"])
        for row in document["outputs"]
        if found[row["field"]]
    }
    run_seconds = tuple(count / TICKS_PER_SECOND for count in ticks)
    return Result(status, exit_status, outputs, run_seconds, "\n".join(lines))


def _checksum(raw: bytes) -> int:
    """FNV-1a, 32 bits."""
    value = 2166136261
    for byte in raw:
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value
