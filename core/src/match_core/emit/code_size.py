"""Bytes of a program's code: its C files as objects of a compiler for the target's processor."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from match_core.contract.errors import ToolError
from match_core.plan.shortage import largest, store_shortage

if TYPE_CHECKING:
    from match_core.contract.hardware import Memory, Soc
    from match_core.contract.model import Model
    from match_core.contract.sources import Sources

#: Starts of processors' names -> prefix of the compiler, its flags for the processor.
_COMPILERS = {
    "cortex-": ("arm-none-eabi-", "-mcpu={} -mthumb"),
    "rv32": ("riscv64-unknown-elf-", "-march={} -mabi=ilp32"),
    "rv64": ("riscv64-unknown-elf-", "-march={} -mabi=lp64"),
}
_FLAGS = ("-std=c11", "-Os", "-ffunction-sections", "-fdata-sections", "-w")
#: Sections in the memory of the code; initial values of variables lie there too.
_SECTIONS = re.compile(r"^\.(?:text|rodata|data)\S*\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CodeSize:
    """Bytes of instructions and tables, by file; ``linked_bytes``: without what the program's ``init`` and ``run`` do
    not reach; ``compiler`` as it was called."""

    files: dict[str, int]
    linked_bytes: int
    compiler: str


def code_memory(soc: Soc) -> Memory:
    """Where code lies: in the read-only memory, or in the home memory of a Soc without one."""
    return next((memory for memory in soc.memories if memory.kind == "read-only"), soc.memory(soc.home))


def code_size(directory: Path, name: str, soc: Soc) -> CodeSize:
    """The code of every C file of the program ``name``, without its constants.

    ToolError MATCH-T010 without a compiler for the processor, MATCH-T011 if it refuses a file.
    """
    prefix, flags = next((known for start, known in _COMPILERS.items() if soc.processor.startswith(start)), ("", ""))
    compiler, size = shutil.which(f"{prefix}gcc") if prefix else None, shutil.which(f"{prefix}size")
    if compiler is None or size is None:
        why = f"{prefix}gcc is not on the PATH" if prefix else f"the processor of {soc.name} is not known"
        raise ToolError("MATCH-T010", "code cannot be measured", str(directory), why, ("match doctor lists all tools",))
    command = [compiler, *flags.format(soc.processor).split(), *_FLAGS]
    roots = ["-nostdlib", "-r", "-Wl,--gc-sections", f"-Wl,-u,{name}_init", f"-Wl,-u,{name}_run"]
    files: dict[str, int] = {}
    with TemporaryDirectory(prefix="match-code-") as temporary:
        made = [Path(temporary, "linked.o")]
        for source in sorted(set(directory.glob("*.c")) - {directory / f"{name}_weights.c"}):
            made.append(Path(temporary, f"_{source.stem}.o"))
            _run([*command, "-c", "-I", str(directory), str(source), "-o", str(made[-1])], source)
            files[source.name] = _bytes(size, made[-1])
        _run([*command, *roots, *map(str, made[1:]), "-o", str(made[0])], directory)
        return CodeSize(files, _bytes(size, made[0]), " ".join((Path(compiler).name, *command[1:])))


def code_notes(model: Model, soc: Soc, constants: Sequence[tuple[str, int]], sources: Sources) -> list[str]:
    """Checks that code fits beside ``constants`` in the read-only memory, if there is one; a note if that is not known.
    Nothing is compiled if even the text of the C files fits, which is larger (an estimate). InfeasibleError MATCH-M001.
    """
    memory, fixed = code_memory(soc), sum(size for _, size in constants)
    written = [file for file in sources.files if file.name.endswith((".c", ".h"))]
    text = sum(len(file.content) for file in written if file.name != f"{model.name}_weights.c")
    if memory.kind != "read-only" or fixed + text <= memory.size_bytes:
        return []
    with TemporaryDirectory(prefix="match-code-") as temporary:
        for file in (file for file in written if "/" not in file.name):
            Path(temporary, file.name).write_bytes(file.content)
        try:
            found = code_size(Path(temporary), model.name, soc)
        except ToolError as error:
            used = f"constants take {fixed} of {memory.size_bytes} bytes of {memory.name}"
            return [f"{used}, and code that lies there too is not counted: {error.why}"]
    if fixed + found.linked_bytes <= memory.size_bytes:
        return []
    code = f"before linking {largest([*found.files.items()])}; {found.compiler}, without application and C library"
    raise store_shortage(model, memory, constants, found.linked_bytes, code)


def _run(command: list[str], made_from: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        why = next((line for line in done.stderr.splitlines() if "error" in line), "the compiler failed")
        raise ToolError("MATCH-T011", f"{made_from.name} does not compile", str(made_from.parent), why)


def _bytes(size: str, of: Path) -> int:
    listed = subprocess.run([size, "-A", str(of)], capture_output=True, text=True, check=True).stdout
    return sum(map(int, _SECTIONS.findall(listed)))
