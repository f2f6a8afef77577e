"""Bytes of a program's code: its C files as objects of a compiler for the target's processor."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from match_core.contract.errors import ToolError

if TYPE_CHECKING:
    from match_core.contract.hardware import Memory, Soc

#: Starts of processors' names -> prefix of the compiler, its flag for the processor.
_COMPILERS = {"cortex-": ("arm-none-eabi-", "-mcpu={}"), "rv": ("riscv64-unknown-elf-", "-march={}")}
_FLAGS = ("-std=c11", "-Os", "-ffunction-sections", "-fdata-sections", "-w", "-c")


@dataclass(frozen=True, slots=True)
class CodeSize:
    """``code_bytes`` of instructions, by file; ``compiler`` as it was called. They lie in ``memory``, in which the
    program has ``constant_bytes`` of its ``available_bytes``."""

    files: dict[str, int]
    compiler: str
    memory: str
    constant_bytes: int
    available_bytes: int

    @property
    def code_bytes(self) -> int:
        """Of all files."""
        return sum(self.files.values())

    def as_json(self) -> dict[str, object]:
        """The entry of the document."""
        return {
            "code_bytes": self.code_bytes,
            "files": self.files,
            "compiler": self.compiler,
            "memory": self.memory,
            "constant_bytes": self.constant_bytes,
            "available_bytes": self.available_bytes,
        }

    def __str__(self) -> str:
        used = self.code_bytes + self.constant_bytes
        room = "" if used <= self.available_bytes else f"; {used - self.available_bytes:,} bytes too many"
        return (
            f"code: {self.code_bytes:,} bytes ({self.compiler}), with constants {used:,} of {self.available_bytes:,} "
            f"bytes of {self.memory}{room}"
        )


def code_memory(soc: Soc) -> Memory:
    """Where code lies: in the read-only memory, or in the home memory of a Soc without one."""
    return next((memory for memory in soc.memories if memory.kind == "read-only"), soc.memory(soc.home))


def code_size(directory: Path, soc: Soc, constant_bytes: int) -> CodeSize:
    """The sections of code of every C file of the program, before the linker removes what nothing calls.
    ``constant_bytes`` of the program in the memory of the code.

    ToolError MATCH-T010 without a compiler for the processor, MATCH-T011 if it refuses a file.
    """
    prefix, flag = next((known for start, known in _COMPILERS.items() if soc.processor.startswith(start)), ("", ""))
    compiler, objdump = shutil.which(f"{prefix}gcc") if prefix else None, shutil.which(f"{prefix}size")
    if compiler is None or objdump is None:
        why = f"{prefix}gcc is not on the PATH" if prefix else f"the processor of {soc.name} is not known"
        raise ToolError("MATCH-T010", "code cannot be measured", str(directory), why, ("match doctor lists all tools",))
    flags = (flag.format(soc.processor), *(("-mthumb",) if prefix.startswith("arm") else ()), *_FLAGS)
    files: dict[str, int] = {}
    with TemporaryDirectory(prefix="match-code-") as temporary:
        for source in sorted(directory.glob("*.c")):
            target = Path(temporary) / f"{source.stem}.o"
            command = [compiler, *flags, "-I", str(directory), str(source), "-o", str(target)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                why = next((line for line in done.stderr.splitlines() if "error" in line), "the compiler failed")
                raise ToolError("MATCH-T011", f"{source.name} does not compile", str(directory), why)
            listed = subprocess.run([objdump, "-A", str(target)], capture_output=True, text=True, check=True).stdout
            files[source.name] = sum(int(size) for size in re.findall(r"^\.text\S*\s+(\d+)", listed, re.MULTILINE))
    place = code_memory(soc)
    called = " ".join((Path(compiler).name, *flags[:-1]))
    return CodeSize(files, called, place.name, constant_bytes, place.size_bytes)
