"""The runner ``qemu``: builds a program for an emulated board, runs all samples, counts instructions."""

from __future__ import annotations

import re
import struct
import subprocess
from dataclasses import replace

from match_core.contract.errors import ToolError, UsageError, did_you_mean
from match_core.contract.runner import RunRequest, RunResult
from match_core.run.execute import by_unit, nodes_of, read_outputs, write_inputs

from match_qemu.build import build_image, emulated_board
from match_qemu.counting import build_plugin, plugin_arguments, read_counts
from match_qemu.machines import DEFAULT, MACHINES, Machine, machine_for, machine_named
from match_qemu.tools import found, portable_flags

#: An emulator that runs longer than this is stopped.
LIMIT_SECONDS = 1800
_FAULT = re.compile(r"fault: kind ([0-9a-f]{8}) at ([0-9a-f]{8}) value ([0-9a-f]{8})")
_STATUS = {90: "the application could not read its samples or write its outputs"}


def run_emulated(request: RunRequest, flags: tuple[str, ...] = ()) -> RunResult:
    """Build, with more ``flags`` of the compiler, and run. UsageError MATCH-U102 for a machine that does not exist or
    does not run the target's processor; ToolError MATCH-T010 to T013."""
    machine = choose(request)
    if any(api.twin.sources for api in request.apis.values()) and not request.soc.processor:
        from match_qemu.virt.machine import run_on_harts

        return run_on_harts(request, 32 if machine.name == "virt32" else 64)
    processor = request.soc.processor or machine.processor
    observer, work = request.observer, request.work
    if not request.soc.processor:
        flags = (*portable_flags(machine.processor), *flags)
    emulator = found(machine.emulator)
    observer.stage_started("build")
    board = emulated_board(machine, work)
    image = build_image(request, replace(machine, processors=(processor,)), board, flags)
    plugin = build_plugin(emulator, work)
    observer.stage_finished("build", {})
    observer.stage_started("run")
    samples = write_inputs(request.document, request.inputs, work / "inputs.bin")
    command = [emulator, *machine.options, "-nographic", "-monitor", "none", "-serial", "none"]
    command += ["-semihosting-config", "enable=on,target=native", *plugin_arguments(plugin, image.symbols)]
    _run([*command, "-kernel", str(image.elf)], request, machine)
    outputs = work / "outputs.bin"
    try:
        content = outputs.read_bytes()
        (stack,) = struct.unpack("<I", content[-4:])
        outputs.write_bytes(content[:-4])
        arrays = read_outputs(request.document, outputs, samples)
        counts = read_counts(work / "counts.txt", request.document)
    except (OSError, ValueError, struct.error) as error:
        raise failure(request, machine, f"it ended with status 0, but its results cannot be read: {error}") from error
    nodes = nodes_of(request.document, counts.nodes)
    observer.stage_finished("run", {"samples": samples, "instructions": counts.total})
    return RunResult(
        outputs=arrays,
        cycles_total=counts.total,
        cycles_by_unit=by_unit(nodes),
        cycles_by_clock={},
        nodes=nodes,
        counter="instructions",
        place=f"{machine.name} ({processor})",
        sizes={**image.sizes, "stack": stack},
    )


def choose(request: RunRequest) -> Machine:
    """The machine that the user named, or the one of the target's processor."""
    processor = request.soc.processor
    machine = machine_named(request.detail) if request.detail else machine_for(processor) if processor else DEFAULT
    names = [machine.name for machine in MACHINES]
    if machine is None and request.detail:
        why, help_lines = f"the machines are {', '.join(names)}", did_you_mean(request.detail, names)
    elif machine is None:
        why, help_lines = f"no machine has its processor, {processor}", ()
    elif processor and processor not in machine.processors:
        why = f"{machine.name} runs {', '.join(machine.processors)}, the target has a {processor}"
        help_lines = (f"run it on {fit.name}: --on qemu",) if (fit := machine_for(processor)) else ()
    else:
        return machine
    raise UsageError(
        code="MATCH-U102",
        what="the program cannot run there",
        where=f"option --on qemu{':' + request.detail[:80] if request.detail else ''}, target {request.soc.name}",
        why=why,
        help=(*help_lines, "run it on the twin: leave --on out"),
    )


def _run(command: list[str], request: RunRequest, machine: Machine) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=request.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise failure(request, machine, f"it did not end within {LIMIT_SECONDS} s") from None
    if done.returncode == 0:
        return
    fault = _FAULT.search(done.stderr + done.stdout)
    if fault is not None:
        why = f"exception {int(fault[1], 16)} at address 0x{fault[2]}, cause or data address 0x{fault[3]}"
    else:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        why = _STATUS.get(done.returncode) or "; ".join(lines[:3]) or f"status {done.returncode}"
    raise failure(request, machine, why)


def failure(request: RunRequest, machine: Machine, why: str) -> ToolError:
    """The program failed where it ran."""
    return ToolError(
        code="MATCH-T013",
        what="the program failed where it ran",
        where=f"{request.document['name']} for {request.document['target']} on {machine.name}",
        why=why,
        help=("this is a fault of match or of the target package: please report it with the model",),
    )
