"""Instructions that a program took on an emulator before: the same code with the same samples takes the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from subprocess import run
from typing import NamedTuple

import numpy as np
from match_core.contract.runner import Place
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_qemu.build import C_FILES
from numpy.typing import NDArray

from benchmarks.tables import OUTPUT

FOLDER = OUTPUT / "cortexm-counts"
#: What comments say of costs, which changes with figures and is not compiled.
_MODELLED = re.compile(rb"\d+ cycles \(modelled\)")
_SOURCES = (".c", ".h", ".bin")


class Count(NamedTuple):
    """Of one task, whose number is ``index``."""

    index: int
    title: str
    instructions: int


def counted(directory: Path, inputs: Mapping[str, NDArray[np.generic]], plugins: Plugins, place: Place) -> list[Count]:
    """Instructions of each task of the program in ``directory``, from an emulator or from a file of ``FOLDER``, whose
    name is a digest of the code, the samples, the machine, the runner's files and the tools' versions."""
    path = FOLDER / f"{_digest(directory, inputs, place)}.json"
    if path.exists():
        return [Count(*row) for row in json.loads(path.read_text(encoding="utf-8"))]
    result = run_program(directory, inputs, plugins, place=place)
    found = [Count(node.index, node.title, node.cycles) for node in result.nodes if node.cycles]
    FOLDER.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found), encoding="utf-8")
    return found


def _digest(directory: Path, inputs: Mapping[str, NDArray[np.generic]], place: Place) -> str:
    made = hashlib.sha256(repr((place.detail, _tools())).encode())
    runner = C_FILES.parent
    for root, kinds in ((directory, _SOURCES), (runner, (*_SOURCES, ".py", ".S", ".mako"))):
        for path in sorted(path for path in root.rglob("*") if path.suffix in kinds):
            made.update(str(path.relative_to(root)).encode() + b"\0")
            made.update(_MODELLED.sub(b"", path.read_bytes()) + b"\0")
    for name, array in sorted(inputs.items()):
        made.update(repr((name, array.dtype.str, array.shape)).encode() + np.ascontiguousarray(array).tobytes())
    return made.hexdigest()


def _tools() -> list[str]:
    names = ("arm-none-eabi-gcc", "qemu-system-arm")
    return [run([name, "--version"], capture_output=True, text=True, check=True).stdout for name in names if which(name)]
