"""Counts the instructions of a call of a compiled kernel, with QEMU, for the figures of cost models.

A tool for developers of packages; compiling a network never uses it. It requires gcc and qemu-riscv32 or -riscv64
(Debian's qemu-user) with plugins.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PLUGIN = Path(__file__).resolve().parent / "plugin.c"


def run_tool(command: Sequence[str]) -> str:
    """The stderr of a compiler or emulator. RuntimeError with this text if it fails."""
    done = subprocess.run(list(command), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return done.stderr


@dataclass(frozen=True, slots=True)
class InstructionCounter:
    """``plugin``: the compiled QEMU plugin."""

    plugin: Path

    def of_call(self, emulator: Sequence[str], program: Path, arguments: Sequence[str]) -> int:
        """Instructions of one call: the count of two calls minus that of one. The program's first argument is the
        number of calls, ``arguments`` are the others. RuntimeError if it fails."""
        command = [*emulator, "-d", "plugin", "-plugin", str(self.plugin), str(program)]
        counts = [int(run_tool([*command, calls, *arguments]).split()[-1]) for calls in ("1", "2")]
        return counts[1] - counts[0]


def instruction_counter(folder: Path, division: int = 1, multiplication: int = 1, other: int = 1) -> InstructionCounter:
    """A counter, compiled in ``folder``, with what an integer division, an integer multiplication and any other
    instruction count. RuntimeError if gcc fails."""
    plugin = folder / f"plugin-{division}-{multiplication}-{other}.so"
    weights = (f"-DDIVISION={division}u", f"-DMULTIPLICATION={multiplication}u", f"-DOTHER={other}u")
    run_tool(["gcc", "-O2", "-shared", "-fPIC", *weights, str(_PLUGIN), "-o", str(plugin)])
    return InstructionCounter(plugin)
