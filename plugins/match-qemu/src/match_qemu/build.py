"""The image of a program: its own files, the application of a run, and the board's start-up code."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from match_core.contract.element_types import c_type
from match_core.contract.errors import ToolError
from match_core.contract.runner import RunRequest
from match_core.lower.templates import Templates
from match_core.run.compiler import own_folders

from match_qemu.machines import Family, Machine
from match_qemu.tools import PREFIXES, flags_of, found

C_FILES = Path(__file__).resolve().parent / "c"
STACK_BYTES = 256 << 10
#: For one source (an estimate).
LIMIT_SECONDS = 600
_OVERFLOW = re.compile(r"region [`'](\w+)' overflowed by (\d+) bytes")
_STARTS = {"arm": "cortexm.c", "riscv": "riscv.S"}


@dataclass(frozen=True, slots=True)
class Board:
    """What the image is linked with: the board's ``sources``, the linker's ``script``, macros. ``name``: for errors."""

    name: str
    sources: tuple[Path, ...]
    script: Path
    defines: tuple[str, ...] = ()


class Core(Protocol):
    """What code is built for."""

    @property
    def family(self) -> Family:
        """Which compiler builds for it."""

    @property
    def processor(self) -> str:
        """As the compiler names it."""


@dataclass(frozen=True, slots=True)
class Image:
    """``symbols``: (address, bytes) by name; ``sizes``: bytes of ``text``, ``constants``, ``data`` and ``bss``
    of the program alone."""

    elf: Path
    symbols: Mapping[str, tuple[int, int]]
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Tensor:
    field: str
    ctype: str
    elements: int
    size_bytes: int


def emulated_board(machine: Machine, work: Path) -> Board:
    """The board of an emulated machine, which reads and writes files by semihosting."""
    view = {
        "machine": machine,
        "stack_bytes": STACK_BYTES,
        "entry": "_start" if machine.family == "riscv" else "vectors",
    }
    script = work / "board.ld"
    script.write_text(Templates((C_FILES,)).render("board.ld.mako", view), encoding="utf-8")
    sources = (C_FILES / _STARTS[machine.family], C_FILES / "semihost.c")
    return Board(machine.name, sources, script, ("MATCH_COUNTED_OUTSIDE=1",))


def build_image(request: RunRequest, core: Core, board: Board, flags: tuple[str, ...] = ()) -> Image:
    """Compile and link; ``flags`` come after the usual ones. ToolError MATCH-T010 without a compiler, MATCH-T011 if it
    rejects a file, MATCH-T012 if the machine's memory is too small."""
    prefix = PREFIXES[core.family]
    compiler = (found(f"{prefix}gcc"), *flags_of(core.family, core.processor), *flags)
    work = request.work
    own = [*_application(request.document, request.folder, work), *board.sources, C_FILES / "match_counts.c"]
    program = program_sources(request)
    includes = [f"-I{path}" for path in (request.folder, work, C_FILES)]
    includes += [f"-isystem{path}" for path in own_folders(request.apis)]
    defines = ["-DMATCH_PROFILE", *(f"-D{name}" for name in board.defines)]

    def compile_one(source: Path) -> Path:
        target = work / f"{'program' if source in program else 'run'}_{source.stem}.o"
        call([*compiler, "-Wall", "-Wextra", *defines, *includes, "-c", str(source), "-o", str(target)], source.name)
        return target

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compile_one, (*program, *own)))
    elf = work / "run.elf"
    link = ["-nostartfiles", f"-T{board.script}", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments"]
    call([*compiler, *link, *map(str, objects), "-lm", "-o", str(elf)], f"{request.document['name']} on {board.name}")
    sizes = _sizes(call([f"{prefix}size", "-A", *map(str, objects[: len(program)])], "size"))
    return Image(elf, symbols_of(call([f"{prefix}nm", "-S", str(elf)], "nm")), sizes)


def program_sources(request: RunRequest) -> list[Path]:
    """The C files of the program's library: those that the manifest lists, without applications."""
    names = [name for name in request.document["files"] if name.endswith(".c") and "/" not in name]
    return [request.folder / name for name in sorted(names)]


# ---- the application ---------------------------------------------------------------------------------------------


def _application(document: Mapping[str, Any], folder: Path, work: Path) -> list[Path]:
    inputs, outputs = ([_tensor(row) for row in document[kind]] for kind in ("inputs", "outputs"))
    given = {row["name"]: tensor for row, tensor in zip(document["inputs"], inputs, strict=True)}
    results = {row["name"]: tensor for row, tensor in zip(document["outputs"], outputs, strict=True)}
    view = {
        **{name: document[name] for name in ("name", "arenas", "stores", "state")},
        "guard": document["name"].upper(),
        "inputs": inputs,
        "outputs": outputs,
        "states": [
            (kept.field, made.field, min(kept.size_bytes, made.size_bytes))
            for state in document.get("states", ())
            for kept, made in [(given[state["input"]], results[state["output"]])]
        ],
        "nodes": mark_count(document),
    }
    templates = Templates((C_FILES,))
    for name in ("main.c", "match_counts.h"):
        (work / name).write_text(templates.render(f"{name}.mako", view), encoding="utf-8")
    lines = [
        f'.balign 64\n.globl match_{s["field"]}\nmatch_{s["field"]}: .incbin "{folder / s["file"]}"\n'
        for s in document["stores"]
    ]
    (work / "stores.S").write_text('.section .rodata.stores, "a"\n' + "".join(lines), encoding="utf-8")
    return [work / "main.c", *([work / "stores.S"] if lines else [])]


def mark_count(document: Mapping[str, Any]) -> int:
    """One more than the last node's number."""
    return max((int(node["index"]) for node in document["nodes"]), default=-1) + 1


def _tensor(row: Mapping[str, Any]) -> _Tensor:
    elements = prod(row["shape"])
    return _Tensor(row["field"], c_type(row["dtype"]), elements, elements * np.dtype(row["dtype"]).itemsize)


# ---- tools -------------------------------------------------------------------------------------------------------


def call(command: Sequence[str], what: str) -> str:
    """What a tool prints. ToolError MATCH-T011 if it fails, MATCH-T012 if the linker finds too little memory."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise _rejected(command[0], what, f"it did not end within {LIMIT_SECONDS} s") from None
    if done.returncode == 0:
        return done.stdout
    overflows = [(name, int(count)) for name, count in _OVERFLOW.findall(done.stderr)]
    if overflows:
        raise ToolError(
            code="MATCH-T012",
            what="the program does not fit into the memory of the machine",
            where=what,
            why="; ".join(f"{name} is {count:,} bytes too small" for name, count in overflows),
            help=("run it on another machine: --on qemu:MACHINE", "compile for less memory: --memory NAME=SIZE"),
        )
    lines = [line[:300] for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
    raise _rejected(command[0], what, "; ".join(lines[:3]) or f"exit status {done.returncode}")


def _rejected(tool: str, what: str, why: str) -> ToolError:
    return ToolError(
        code="MATCH-T011",
        what="the program cannot be built for the machine",
        where=f"{Path(tool).name}, {what}",
        why=why,
        help=("this is a fault of match or of the target package: please report it with the model",),
    )


def _sizes(text: str) -> dict[str, int]:
    """Bytes by kind of section, from what ``size -A`` says."""
    sizes = dict.fromkeys(("text", "constants", "data", "bss"), 0)
    kinds = {".text": "text", ".rodata": "constants", ".srodata": "constants", ".data": "data", ".sdata": "data"}
    kinds |= {".bss": "bss", ".sbss": "bss"}
    for words in (line.split() for line in text.splitlines()):
        kind = kinds.get("." + words[0].split(".")[1]) if words and words[0].startswith(".") else None
        if kind is not None:
            sizes[kind] += int(words[1])
    return sizes


def symbols_of(text: str) -> dict[str, tuple[int, int]]:
    """(address, bytes) by name, from what ``nm -S`` says."""
    rows = [line.split() for line in text.splitlines()]
    return {row[3]: (int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4}
