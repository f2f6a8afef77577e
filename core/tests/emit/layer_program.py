"""A C program made of emitted layers and the fake unit: executes schedules for real."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_core.contract.loops import LoopSchedule
from match_core.contract.unit_api import Kernel, MemoryApi, StoreApi
from match_core.emit.layer import LayerWriter
from match_core.emit.layer_facts import Layer, LayerRequest
from match_core.lower.interfaces import context_header
from match_core.lower.templates import Templates
from match_core.run.compiler import SANITIZE, STRICT
from numpy.typing import NDArray

from core.tests.emit.workloads import INTERFACES, Problem
from tests.examples import all_examples

HERE = Path(__file__).resolve().parent
MEMORY = MemoryApi("in_1d", "in_2d", "in_3d", "out_1d", "out_2d", "out_3d", "copy_wait")
#: Copies that have ended when they return, for units that overlap nothing.
BLOCKING_MEMORY = MemoryApi(
    "blocking_in_1d",
    "blocking_in_2d",
    "blocking_in_3d",
    "blocking_out_1d",
    "blocking_out_2d",
    "blocking_out_3d",
    wait="",
)
STORE = StoreApi("store_copy", "store_wait")


@dataclass(frozen=True)
class Case:
    """A problem with its schedule. ``asynchronous``: kernels are launched and waited for, else they are run;
    ``blocking``: copies end before they return."""

    problem: Problem
    schedule: LoopSchedule
    asynchronous: bool = True
    blocking: bool = False

    def streamed(self) -> tuple[str, ...]:
        """Operands that lie in the store."""
        return self.schedule.streamed("home")


def layer_text(name: str, case: Case) -> str:
    """The emitted C of a case's layer."""
    kind = case.problem.workload.kind
    kernel = Kernel(
        INTERFACES[kind],
        launch=f"{kind}_{'launch' if case.asynchronous else 'run'}",
        wait="kernel_wait" if case.asynchronous else "",
        pack=lambda match, workload: {},
    )
    resident = [operand for operand in case.problem.operands if operand not in case.streamed()]
    sources = {operand: f"task->in[{position}]" for position, operand in enumerate(resident)}
    stored, offset = {}, 0
    for operand in case.streamed():
        stored[operand] = offset
        offset += case.problem.operands[operand].nbytes
    request = LayerRequest(
        name=name,
        workload=case.problem.workload,
        schedule=case.schedule,
        kernel=kernel,
        memory=BLOCKING_MEMORY if case.blocking else MEMORY,
        home="home",
        sources={**sources, "output": "task->out[0]"},
        store=STORE,
        stored=stored,
    )
    return LayerWriter(Layer(request)).write()


def write_program(folder: Path, cases: list[Case], layers: list[str] | None = None) -> None:
    """All files of a program that runs the cases; ``layers``: other text for their layers than what is emitted."""
    for interface in INTERFACES.values():
        header = context_header(interface)
        (folder / header.name).write_text(header.text)
    (folder / "match_runtime.h").write_text(Templates().render("match_runtime.h.mako", {}))
    for name in ("fake_unit.h", "fake_unit.c"):
        (folder / name).write_text((HERE / name).read_text())
    texts = layers or [layer_text(f"layer_{number}", case) for number, case in enumerate(cases)]
    names = [f"void layer_{number}(void *argument);" for number in range(len(cases))]
    (folder / "layers.c").write_text("\n".join(['#include "fake_unit.h"', *names, *texts]))
    runs = [_run_text(number, case) for number, case in enumerate(cases)]
    calls = [f"    run_{number}();" for number in range(len(cases))]
    main = ["int main(int argc, char **argv)", "{", "    (void)argv;", "    fake_unit_early = argc > 1;", *calls]
    main += ["    return 0;", "}", ""]
    (folder / "main.c").write_text("\n".join(['#include "fake_unit.h"', *names, *runs, *main]))


def _run_text(number: int, case: Case) -> str:
    """A function that runs one case."""
    schedule, size = case.schedule, case.problem.expected.nbytes
    lines = [f"static void run_{number}(void)", "{", f"    static _Alignas(8) uint8_t output[{size}];"]
    image, inputs = b"", []
    for name, values in case.problem.operands.items():
        content = np.ascontiguousarray(values).tobytes()
        if name in case.streamed():
            image += content
        else:
            lines.append(f"    static _Alignas(8) const uint8_t {name}[] = {{{_literals(content)}}};")
            inputs.append(name)
    if image:
        lines.append(f"    static const uint8_t stored[] = {{{_literals(image)}}};")
    lines += [
        f"    const void *const in[] = {{{', '.join(inputs)}}};",
        f"    const case_t one = {{layer_{number}, in, output, {size}u, {schedule.bytes_in('near')}u,",
        f"                        {schedule.bytes_in('own')}u, {schedule.bytes_in('home')}u,",
        f"                        {'stored, sizeof stored' if image else '0, 0'}}};",
        "    run_case(&one);",
        "}",
    ]
    return "\n".join(lines)


def _literals(content: bytes) -> str:
    return ",".join(map(str, content))


def build(folder: Path, mutant: bool = False) -> None:
    """Compile under sanitizers, the emitted layers with all warnings as errors (in CI without optimisation, which takes
    most of the time); a mutant with neither."""
    plain = [] if all_examples() else ["-O0"]
    flags = ["-w", "-O0"] if mutant else [*STRICT, *SANITIZE, *plain]
    others = ["-w", "-O0"] if mutant else ["-std=c11", *SANITIZE]
    for command in (
        ["cc", *flags, "-c", "layers.c", "-o", "layers.o"],
        ["cc", *others, "main.c", "fake_unit.c", "layers.o", "-o", "program"],
    ):
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def run(folder: Path, early: bool) -> tuple[list[bytes], str]:
    """Run the program with kernels performed at the launch or at the wait: the outputs of all cases until the first
    fault, and what the fault says."""
    command = ["./program", *(["early"] if early else [])]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=60)
    fault = done.stderr or (f"ended with {done.returncode}" if done.returncode else "")
    return [bytes.fromhex(line) for line in done.stdout.splitlines()], fault


def check(folder: Path, cases: list[Case]) -> None:
    """Every case must give its expected output."""
    write_program(folder, cases)
    build(folder)
    for early in (False, True):
        outputs, fault = run(folder, early)
        assert not fault, f"case {len(outputs)}: {fault[:2000]}"
        assert len(outputs) == len(cases)
        for number, (case, output) in enumerate(zip(cases, outputs, strict=True)):
            expected: NDArray[np.generic] = np.ascontiguousarray(case.problem.expected)
            found = np.frombuffer(output, expected.dtype).reshape(expected.shape)
            np.testing.assert_array_equal(found, expected, f"case {number}: {case.schedule}")
