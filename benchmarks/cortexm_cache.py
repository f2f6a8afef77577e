"""Instructions that a program took on an emulator before: the same code with the same samples takes the same."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from shutil import which
from subprocess import run
from typing import NamedTuple, TypeVar

import numpy as np
import onnx
from match_core.contract.runner import Place
from match_core.plugin.facade import Plugins
from match_core.run.compiled_program import run_program
from match_qemu.build import C_FILES
from numpy.typing import NDArray

from benchmarks.tables import OUTPUT, ROOT

FOLDER = OUTPUT / "cortexm-counts"
#: What comments say of costs, which changes with figures and is not compiled.
_MODELLED = re.compile(rb"\d+ cycles \(modelled\)")
_SOURCES = (".c", ".h", ".bin")
#: What compiles and runs a made network, and the modules that then decide nothing.
_PACKAGES = ("core/src", *(f"plugins/match-{name}" for name in ("host", "quant", "schedule", "regions", "qemu")))
_PACKAGES += ("plugins/match-cortexm/src/match_cortexm",)
_MODEL = ("cost", "counts", "own_counts", "figures", "forms", "moves", "products", "windows", "transposed")
#: A model, and its samples.
Network = tuple[onnx.ModelProto, Mapping[str, NDArray[np.generic]]]
T = TypeVar("T")


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


def kept(network: Network, how: str, tasks: Callable[[], list[T]]) -> list[T]:
    """The tasks of a network that is compiled without figures: those of a file of ``FOLDER`` whose name is a digest of
    the network, of ``how`` it is compiled, and of all code that compiles it, or those that are found."""
    model, inputs = network
    made = hashlib.sha256(repr((how, _tools(), _code())).encode() + model.SerializeToString())
    _add(made, inputs)
    path = FOLDER / f"{made.hexdigest()}.tasks"
    if not path.exists():
        found = tasks()
        FOLDER.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(found))
    found: list[T] = pickle.loads(path.read_bytes())
    return found


@cache
def _code() -> str:
    """A digest of the packages that compile, without the model of costs."""
    made = hashlib.sha256()
    for name in _PACKAGES:
        for path in sorted((ROOT / name).rglob("*")):
            prices = name.endswith("match_cortexm") and path.stem in _MODEL
            if path.suffix in (".py", ".mako", *_SOURCES) and not prices:
                made.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()


def _add(made: hashlib._Hash, inputs: Mapping[str, NDArray[np.generic]]) -> None:
    for name, array in sorted(inputs.items()):
        made.update(repr((name, array.dtype.str, array.shape)).encode() + np.ascontiguousarray(array).tobytes())


def _digest(directory: Path, inputs: Mapping[str, NDArray[np.generic]], place: Place) -> str:
    made = hashlib.sha256(repr((place.detail, _tools())).encode())
    runner = C_FILES.parent
    for root, kinds in ((directory, _SOURCES), (runner, (*_SOURCES, ".py", ".S", ".mako"))):
        for path in sorted(path for path in root.rglob("*") if path.suffix in kinds):
            made.update(str(path.relative_to(root)).encode() + b"\0")
            made.update(_MODELLED.sub(b"", path.read_bytes()) + b"\0")
    _add(made, inputs)
    return made.hexdigest()


@cache
def _tools() -> list[str]:
    tools = [name for name in ("arm-none-eabi-gcc", "qemu-system-arm") if which(name)]
    return [run([name, "--version"], capture_output=True, text=True, check=True).stdout for name in tools]
