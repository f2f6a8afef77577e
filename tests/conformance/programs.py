"""From a case to C through the whole compiler: ``match compile`` for the core's own target, in this process."""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import onnx
from match_core.contract.errors import MatchError
from match_core.contract.observe import NullObserver
from match_core.pipeline import CompileRequest, build_program
from match_core.plugin.facade import Plugins

from tests.base_packages import allowing
from tests.conformance.suite import Case

TARGET = "host"


@dataclass(frozen=True, slots=True)
class Tensor:
    """A graph input or output of an emitted program."""

    name: str
    field: str
    ctype: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many elements it has."""
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(frozen=True)
class Program:
    """An emitted program: its C files by name and its interface."""

    name: str
    files: dict[str, str]
    arenas: tuple[tuple[str, int], ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """No program: the compiler's coded error, or an internal one (``code`` empty)."""

    code: str
    reason: str


@lru_cache(maxsize=1)
def _plugins() -> Plugins:
    return Plugins.load(environment=allowing("match-tflite"))


def compile_case(case: Case, folder: Path) -> Program | Refused:
    """The program of a case; ``folder`` takes the model's file."""
    name = f"case_{sha256(case.name.encode()).hexdigest()[:12]}"  # names of programs are short
    path = folder / f"{name}.onnx"
    onnx.save(case.model, path)
    return compile_file(path, name)


def compile_file(path: Path, name: str) -> Program | Refused:
    """The program of a model file."""
    request = CompileRequest(model=path, target=TARGET, name=name, cache=False)
    try:
        compilation = build_program(request, _plugins(), NullObserver())
    except MatchError as error:
        return Refused(error.code, f"{error.what}: {error.why}")
    except Exception as error:  # a bug of the compiler, which is what the suite looks for
        frames = traceback.extract_tb(error.__traceback__)
        frame = next((f for f in reversed(frames) if "/src/match_" in f.filename), frames[-1])
        return Refused("", f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}: {error}"[:300])
    files = {
        file.name: file.content.decode("utf-8")
        for file in compilation.sources.files
        if file.name.endswith((".c", ".h")) and "/" not in file.name
    }
    manifest = json.loads(compilation.sources.text("match.lock.json"))
    arenas = tuple((a["field"], a["size_bytes"]) for a in manifest["arenas"])
    return Program(name, files, arenas, _tensors(manifest["inputs"]), _tensors(manifest["outputs"]))


def _tensors(entries: list[dict[str, Any]]) -> tuple[Tensor, ...]:
    from match_core.contract.element_types import c_type

    return tuple(Tensor(t["name"], t["field"], c_type(t["dtype"]), t["dtype"], tuple(t["shape"])) for t in entries)
