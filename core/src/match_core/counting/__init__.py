"""Counts what a call of a compiled kernel executes, with QEMU: for the figures of cost models.

A tool of those who develop packages; compiling a network never needs it. It needs gcc and qemu-riscv32 or -riscv64
(Debian's qemu-user) with plugins.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PLUGIN = Path(__file__).resolve().parent / "plugin.c"


def run_tool(command: Sequence[str]) -> str:
    """What a compiler or emulator writes to stderr. RuntimeError with these words where it fails."""
    done = subprocess.run(list(command), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return done.stderr


@dataclass(frozen=True, slots=True)
class InstructionCounter:
    """``plugin``: the compiled QEMU plugin."""

    plugin: Path

    def of_call(self, emulator: Sequence[str], program: Path, arguments: Sequence[str]) -> int:
        """Of one call: two calls less one. The program's first argument is how often it calls the kernel, ``arguments``
        are the others. RuntimeError where it fails."""
        command = [*emulator, "-d", "plugin", "-plugin", str(self.plugin), str(program)]
        counts = [int(run_tool([*command, calls, *arguments]).split()[-1]) for calls in ("1", "2")]
        return counts[1] - counts[0]


def instruction_counter(folder: Path, division_cycles: int = 1) -> InstructionCounter:
    """A counter whose file goes to ``folder``. An integer division counts ``division_cycles``, all else 1.
    RuntimeError where gcc fails."""
    plugin = folder / "plugin.so"
    cycles = f"-DDIVISION_CYCLES={division_cycles}u"
    run_tool(["gcc", "-O2", "-shared", "-fPIC", cycles, str(_PLUGIN), "-o", str(plugin)])
    return InstructionCounter(plugin)
