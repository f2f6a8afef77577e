"""Builds kernels of the compute cores for RV32IM and counts a call: its cycles (one for each instruction, 32 for a
division), and the cycles that it uses the unit that multiplies and divides (one for a multiplication, 32 for a
division)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import match_ita
from match_core import KernelInterface
from match_core.lower.interfaces import context_header
from match_kit.counting import InstructionCounter, instruction_counter, run_tool

FOLDER = Path(__file__).resolve().parent
RUNTIME = Path(match_ita.__file__).parent / "runtime"
COMPILER = "riscv64-unknown-elf-gcc"
EMULATOR = "qemu-riscv32"
#: A bit for each cycle; Snitch's shared unit divides serially.
DIVISION_CYCLES = 32

_FLAGS = ("-O2", "-march=rv32im", "-mabi=ilp32", "-std=c11", "-ffreestanding", "-g0", "-nostdlib", "-static")


@dataclass(frozen=True, slots=True)
class Program:
    """Kernels as one program for the emulator; ``interfaces`` in the order of its table. ``counter`` counts cycles,
    ``unit_counter`` those of the unit that multiplies and divides."""

    path: Path
    counter: InstructionCounter
    unit_counter: InstructionCounter
    interfaces: tuple[KernelInterface, ...]

    @property
    def on_the_unit(self) -> Program:
        """The same program, whose ``cycles`` are those of the unit that multiplies and divides."""
        return replace(self, counter=self.unit_counter)

    def cycles(self, kind: str, numbers: Mapping[str, int]) -> int:
        """Of one call on core 0, which has the largest share. ``numbers``: fields of the context,
        those that are missing 0. KeyError for a kernel that is not in the program."""
        position = {interface.kind: place for place, interface in enumerate(self.interfaces)}[kind]
        interface = self.interfaces[position]
        words = [str(numbers.get(name, 0) & 0xFFFFFFFF) for name in _numbers(interface)]
        pointers = str(len(interface.operands) + 1)
        return self.counter.of_call([EMULATOR], self.path, [str(position), pointers, *words])


@dataclass(frozen=True, slots=True)
class CountedKernel:
    """Calls of one kernel with fields of the context that stay unless a figure varies them."""

    program: Program
    kind: str
    numbers: Mapping[str, int]

    def cycles(self, **numbers: int) -> int:
        """Of one call with these fields."""
        return self.program.cycles(self.kind, {**self.numbers, **numbers})

    def per(self, name: str, low: int, high: int, **numbers: int) -> float:
        """Cycles of one more of ``name``, between these two values."""
        return (self.cycles(**numbers, **{name: high}) - self.cycles(**numbers, **{name: low})) / (high - low)


def _numbers(interface: KernelInterface) -> tuple[str, ...]:
    """The fields of a context behind its addresses."""
    sizes = [dim.lower() for dim in interface.dims]
    for operand, axis in interface.windowed:
        sizes += [f"{operand}_{axis}", f"{operand}_{axis}_pad_before", f"{operand}_{axis}_pad_after"]
    return (*sizes, *interface.geometry, *(("first", "last") if interface.accumulates else ()))


def build(folder: Path, interfaces: tuple[KernelInterface, ...], sources: Sequence[Path]) -> Program:
    """The kernels of ``interfaces`` (``match_<kind>``), whose C is ``sources``. Files go to ``folder``. RuntimeError
    with the compiler's words where that fails."""
    for interface in interfaces:
        header = context_header(interface)
        (folder / header.name).write_text(header.text, encoding="utf-8")
    (folder / "counted_kernels.h").write_text(_table(interfaces), encoding="utf-8")
    (folder / "snrt.h").write_text("", encoding="utf-8")
    path = folder / "kernels.elf"
    files = (*map(str, sources), str(FOLDER / "driver.c"))
    run_tool([COMPILER, *_FLAGS, f"-I{folder}", f"-I{RUNTIME}", *files, "-lgcc", "-o", str(path)])
    counters = instruction_counter(folder, DIVISION_CYCLES), instruction_counter(folder, DIVISION_CYCLES, 1, 0)
    return Program(path, *counters, interfaces)


def _table(interfaces: tuple[KernelInterface, ...]) -> str:
    names = [f"match_{interface.kind}" for interface in interfaces]
    headers = "".join(f'#include "match_{interface.kind}.h"\n' for interface in interfaces)
    declared = "".join(f"void {name}(const {name}_t *tile);\n" for name in names)
    entries = "".join(f"    (void (*)(const void *)){name},\n" for name in names)
    return f"{headers}{declared}static void (*const counted_kernels[])(const void *) = {{\n{entries}}};\n"
