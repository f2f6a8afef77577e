"""Building the programs of host_programs.py with gcc, and what a build shows: sizes, stack, instructions, times."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.host_programs import CProgram, Ends
from tests.stack import StackDepth, stack_depth

Build = Literal["native", "portable", "small", "avx2"]
#: Flags of the compiler, the same for all tools. valgrind 3.19 cannot run AVX-512, so ``avx2`` takes the place of
#: ``native`` where instructions are counted.
FLAGS: Mapping[Build, tuple[str, ...]] = {
    "native": ("-O3", "-march=native"),
    "portable": ("-O3",),
    "small": ("-Os",),
    "avx2": ("-O3", "-march=haswell"),
}
COMPILER = "gcc"
#: A line of ``size -A``; what is not written and no code is a constant.
_SECTION = re.compile(r"\.(?P<name>text|[sl]?rodata|data\.rel\.ro|[sl]?data|[sl]?bss)(?:\.\S*)?\s+(?P<size>\d+)\s")

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of a program's sections, without the driver and without libraries."""

    text_bytes: int
    constant_bytes: int
    data_bytes: int


@dataclass(frozen=True, slots=True)
class Built:
    """Objects of a program; ``seconds``: of the compiler, for all files one after another."""

    program: CProgram
    build: Build
    folder: Path
    objects: tuple[Path, ...]
    seconds: float

    def sizes(self) -> Sizes:
        """Of the objects."""
        return sizes_of(self.objects)

    def stack(self) -> StackDepth:
        """Of one inference."""
        graphs = [path.with_suffix(".ci").read_text(encoding="utf-8") for path in self.objects]
        return stack_depth(graphs, self.program.entry)

    def library(self, *defines: str) -> Library:
        """The program and its driver, loaded into this process."""
        path = self.folder / f"library{'-profile' if defines else ''}.so"
        _call(
            COMPILER,
            *_flags(self.program, self.build),
            *defines,
            "-shared",
            *_everything(self, defines),
            *self.program.libraries,
            "-lm",
            "-o",
            str(path),
        )
        return Library(ctypes.CDLL(str(path), mode=os.RTLD_LOCAL | os.RTLD_NOW))

    def instructions(self, inputs: Sequence[NDArray[np.generic]], about: Ends) -> int:
        """Instructions of one inference, counted by callgrind."""
        program = self.folder / "counted"
        _call(
            COMPILER,
            *_flags(self.program, self.build),
            "-DBENCH_MAIN",
            *_everything(self, ()),
            *self.program.libraries,
            "-lm",
            "-o",
            str(program),
        )
        with tempfile.TemporaryDirectory(prefix="match-count-") as name:
            folder = Path(name)
            files = [folder / f"in{n}" for n in range(len(inputs))]
            for path, values in zip(files, inputs, strict=True):
                path.write_bytes(np.ascontiguousarray(values).tobytes())
            files += [folder / f"out{n}" for n in range(len(about.outputs))]
            profile = folder / "callgrind.out"
            valgrind = (
                "valgrind",
                "--tool=callgrind",
                f"--toggle-collect={self.program.entry}",
                "--main-stacksize=67108864",
            )
            _call(*valgrind, f"--callgrind-out-file={profile}", str(program), "1", *map(str, files))
            (total,) = re.findall(r"^(?:totals|summary): (\d+)", profile.read_text(encoding="utf-8"), re.MULTILINE)[:1]
            return int(total)


class Library:
    """A program in this process."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def run(self, inputs: Sequence[NDArray[np.generic]], about: Ends) -> list[NDArray[np.generic]]:
        """One inference."""
        outputs: list[NDArray[np.generic]] = [np.zeros(tensor.shape, tensor.dtype) for tensor in about.outputs]
        if self._library.bench_run(_pointers(inputs), _pointers(outputs)):
            raise RuntimeError("the program did not take its inputs")
        return outputs

    def time(self, runs: int, inputs: Sequence[NDArray[np.generic]], about: Ends) -> list[float]:
        """Seconds of so many runs."""
        outputs = [np.zeros(tensor.shape, tensor.dtype) for tensor in about.outputs]
        seconds = (ctypes.c_double * runs)()
        if self._library.bench_time(runs, seconds, _pointers(inputs), _pointers(outputs)):
            raise RuntimeError("the program did not take its inputs")
        return list(seconds)

    def node_seconds(self, node: int) -> float:
        """The least seconds of a node in all runs so far; built with ``-DMATCH_PROFILE``."""
        self._library.bench_node.restype = ctypes.c_uint64
        return 1e-9 * float(self._library.bench_node(node))


def _pointers(arrays: Sequence[NDArray[np.generic]]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))


def build(program: CProgram, kind: Build, work: Path) -> Built:
    """Objects of a program, ours in ``work``; those of emx-onnx-cgen lie beside its C, and are made once."""
    folder = work / f"{program.tool}-{kind}"
    if program.tool != "match":
        version = _call(COMPILER, "-v", "-E", "-x", "c", "/dev/null", *FLAGS[kind])
        folder = program.sources[0].parent / f"{kind}-{hashlib.sha256(version.encode()).hexdigest()[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    objects = tuple(folder / f"{path.stem}.o" for path in program.sources)
    stamp = folder / "seconds"
    if program.tool != "match" and stamp.is_file():
        return Built(program, kind, folder, objects, float(stamp.read_text(encoding="utf-8")))
    started = time.perf_counter()
    for source, target in zip(program.sources, objects, strict=True):
        _call(COMPILER, *_flags(program, kind), "-fcallgraph-info=su", "-c", str(source), "-o", str(target))
    seconds = time.perf_counter() - started
    stamp.write_text(str(seconds), encoding="utf-8")
    return Built(program, kind, folder, objects, seconds)


def sizes_of(objects: Sequence[Path], tool: str = "size") -> Sizes:
    """By section: instructions, constants (what the loader relocates too), data that is written."""
    kinds = {"text": 0, "constant": 0, "data": 0}
    written = {"text": "text", **dict.fromkeys(("data", "bss", "sdata", "sbss", "ldata", "lbss"), "data")}
    for line in _call(tool, "-A", *map(str, objects)).splitlines():
        found = _SECTION.match(line)
        if found:
            kinds[written.get(found["name"], "constant")] += int(found["size"])
    return Sizes(kinds["text"], kinds["constant"], kinds["data"])


def _flags(program: CProgram, kind: Build) -> tuple[str, ...]:
    return (*FLAGS[kind], "-fPIC", "-fvisibility=hidden", f"-I{program.driver.parent}")


def _everything(built: Built, defines: Sequence[str]) -> list[str]:
    """The driver and the objects; with macros the sources in their place."""
    return [str(path) for path in (built.program.driver, *(built.program.sources if defines else built.objects))]


def _call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:6])} failed:\n{(done.stderr or done.stdout)[-2000:]}")
    return done.stdout + done.stderr
