"""The programs that host_speed.py compares: C that this compiler and emx-onnx-cgen write for a model, each with a
driver that gives both the same functions."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from match_core.emit.manifest import NAME as MANIFEST
from match_core.lower.templates import Templates

from benchmarks.tables import ROOT

#: The environment that `make bench-host` makes.
EMX_VERSION = "1.4.0"
EMX = ROOT / "build" / "emx" / "bin" / "emx-onnx-cgen"
#: Constants in the C file and no heap, as in our programs.
EMX_OPTIONS = ("--model-name", "emx", "--large-weight-threshold", "0", "--large-temp-threshold", "0")
#: Programs of emx-onnx-cgen are kept here; they change only with the model and the version.
KEPT = ROOT / "build" / "host" / "emx"

Tool = Literal["match", "emx"]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A graph input or output of a model."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def size_bytes(self) -> int:
        """Bytes of one sample."""
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class Ends:
    """Inputs and outputs of a model, in its order."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class CProgram:
    """C of one tool for one model. ``sources``: without the driver; ``entry``: the function of one inference;
    ``compile_seconds``: of the tool's process; ``document``: our manifest, else empty; ``arena_bytes``: None where
    activations are on the stack; ``libraries``: options of the linker."""

    tool: Tool
    sources: tuple[Path, ...]
    driver: Path
    entry: str
    compile_seconds: float
    document: Mapping[str, Any]
    arena_bytes: int | None = None
    libraries: tuple[str, ...] = ()


def ends(model: Path) -> Ends:
    """What a model takes and gives."""
    graph = onnx.load(model).graph
    constants = {initializer.name for initializer in graph.initializer}
    return Ends(
        tuple(_tensor(value) for value in graph.input if value.name not in constants),
        tuple(_tensor(value) for value in graph.output),
    )


def _tensor(value: onnx.ValueInfoProto) -> Tensor:
    kind = value.type.tensor_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
    return Tensor(value.name, tuple(dim.dim_value for dim in kind.shape.dim), str(dtype))


def match_program(model: Path, folder: Path, preset: str = "generic") -> CProgram:
    """Our C for the host, as ``match compile`` writes it for a core that the ``preset`` describes."""
    options = ("compile", model, "-t", "host", "--preset", preset)
    started = time.perf_counter()
    _call(sys.executable, "-m", "match_core.cli.main", *options, "-o", folder, "-q", "--no-cache")
    return program_in(folder, model, time.perf_counter() - started)


def program_in(folder: Path, model: Path, seconds: float) -> CProgram:
    """Our C that lies in a folder; compiling it took so long."""
    document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    driver = _write_driver(folder, ends(model), document)
    sources = sorted(path for path in folder.glob("*.c") if path.name != driver.name)
    arena_bytes = sum(arena["size_bytes"] for arena in document["arenas"])
    linked = re.findall(r"^LDLIBS = (.*)$", (folder / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    libraries = tuple(option for line in linked for option in line.split())
    entry = f"{document['name']}_run"
    return CProgram("match", tuple(sources), driver, entry, seconds, document, arena_bytes, libraries)


def emx_program(model: Path, kept: bool = False) -> CProgram:
    """C of emx-onnx-cgen; ``kept``: that of an earlier run will do, with its objects. RuntimeError with what the tool
    says where it refuses the model."""
    digest = hashlib.sha256(" ".join((EMX_VERSION, *EMX_OPTIONS)).encode() + model.read_bytes()).hexdigest()[:16]
    folder = KEPT / f"{model.parent.name}-{digest}"
    if not kept or not (folder / "seconds").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        started = time.perf_counter()
        _call(EMX, "compile", model, folder / "emx.c", *EMX_OPTIONS)
        (folder / "seconds").write_text(str(time.perf_counter() - started), encoding="utf-8")
    driver = _write_driver(folder, ends(model), {})
    return CProgram("emx", (folder / "emx.c",), driver, "emx", float((folder / "seconds").read_text()), {})


def _write_driver(folder: Path, about: Ends, document: Mapping[str, Any]) -> Path:
    text = Templates((Path(__file__).parent,)).render("host_driver.c.mako", {"about": about, "document": document})
    path = folder / "bench_driver.c"
    path.write_text(text, encoding="utf-8")
    return path


def _call(*command: str | Path) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{(done.stderr or done.stdout)[-2000:]}")
    return done.stdout
