"""The emitted C for the host with RISC-V's vectors: whether a compiler finds them in it, and whether the outputs stay.

clang of ziglang compiles a program with and without the extension V; qemu-riscv64 runs both, and a plugin counts
instructions (a vector instruction counts as one). ``make bench-riscv`` installs ziglang into an environment of its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from match_kit.counting import instruction_counter, run_tool
from numpy.typing import NDArray

from benchmarks.host_measure import macs_of
from benchmarks.host_programs import CProgram, Ends, ends, match_program
from benchmarks.runs import MODELS
from benchmarks.tables import ROOT, Cell, Column, Table

#: The environment that `make bench-riscv` makes.
PYTHON = ROOT / "build" / "zig" / "bin" / "python"
VECTOR_BITS = 256
#: Extensions of the instruction set by the preset that the program is compiled with.
CPUS: Mapping[str, str] = {"scalar": "generic_rv64+m+a+f+d+c", "generic": "generic_rv64+m+a+f+d+c+v"}
EMULATOR = ("qemu-riscv64", "-cpu", f"rv64,v=true,vext_spec=v1.0,vlen={VECTOR_BITS}")
FLAGS = ("-O3", "-std=c11", "-ffp-contract=off", "-static")

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class VectorRun:
    """Instructions of an inference by preset; ``wrong``: outputs that are not those of x86."""

    name: str
    instructions: Mapping[str, int]
    wrong: tuple[str, ...]


def measure(name: str, inputs: Arrays, expected: Arrays, work: Path) -> VectorRun:
    """One network of ../shared/models on the first of these samples."""
    model = MODELS / name / "model.onnx"
    about = ends(model)
    counter = instruction_counter(work)
    files = [work / f"in{n}" for n in range(len(about.inputs))]
    for path, tensor in zip(files, about.inputs, strict=True):
        path.write_bytes(np.ascontiguousarray(inputs[tensor.name][0]).tobytes())
    outputs = [work / f"out{n}" for n in range(len(about.outputs))]
    arguments = [str(path) for path in (*files, *outputs)]
    instructions, wrong = {}, set()
    for preset, cpu in CPUS.items():
        program = match_program(model, work / preset, preset)
        built = compiled(program, cpu, work / f"{preset}.elf")
        instructions[preset] = counter.of_call(EMULATOR, built, arguments)
        wrong |= _wrong(about, outputs, expected)
    return VectorRun(name, instructions, tuple(sorted(wrong)))


def compiled(program: CProgram, cpu: str, output: Path) -> Path:
    """The program with its driver for Linux on RISC-V."""
    sources = [str(path) for path in (program.driver, *program.sources)]
    command = [str(PYTHON), "-m", "ziglang", "cc", "-target", "riscv64-linux-musl", f"-mcpu={cpu}", *FLAGS]
    run_tool([*command, "-DBENCH_MAIN", f"-I{program.driver.parent}", *sources, "-lm", "-o", str(output)])
    return output


def _wrong(about: Ends, files: Sequence[Path], expected: Arrays) -> set[str]:
    """The outputs whose bytes are not those of the first sample."""
    pairs = zip(about.outputs, files, strict=True)
    return {tensor.name for tensor, path in pairs if path.read_bytes() != expected[tensor.name][0].tobytes()}


def available() -> bool:
    """Whether compiler and emulator are there."""
    return PYTHON.exists() and shutil.which(EMULATOR[0]) is not None


def table(runs: Sequence[VectorRun], command: str) -> Table:
    """A row for each network."""
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        macs = macs_of(MODELS / run.name)
        row: list[Cell] = [run.name]
        for preset in CPUS:
            row += [run.instructions[preset] * 1e-6, run.instructions[preset] / macs if macs else None]
        row += [run.instructions["scalar"] / run.instructions["generic"], "NO" if run.wrong else "yes"]
        rows.append(tuple(row))
    columns = [Column("network")]
    for words in ("RV64GC, preset scalar", "with V, preset generic"):
        columns += [Column(f"{words}: million instructions", ".3f"), Column("per MAC", ".2f")]
    columns += [Column("fewer by", ".2f"), Column("outputs as on x86")]
    told = f"*clang -O3, V with {VECTOR_BITS} bits, `python -m {command}`*"
    return Table("host-vectors", told, tuple(columns), tuple(rows))
