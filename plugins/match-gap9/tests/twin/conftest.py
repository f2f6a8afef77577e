"""Builds the twin with a small script interpreter (driver.c) and runs scripts on it."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from match_gap9.timing import HEADER_NAME, render_timing_header
from numpy.typing import NDArray

from tests.c_objects import link_cached

HERE = Path(__file__).resolve().parent
# Tests are imported by path; this makes the harness modules beside them importable.
sys.path.insert(0, str(HERE))
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITIZE = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def repository() -> Path:
    """The folder with core/ and plugins/ above this file."""
    return next(p for p in HERE.parents if (p / "core").is_dir() and (p / "plugins").is_dir())


def sources() -> tuple[list[Path], list[Path]]:
    """C files of the twin and the folders to include."""
    root = repository()
    package = root / "plugins/match-gap9/src/match_gap9"
    runtime = root / "core/src/match_core/run/runtime"
    files = sorted(package.glob("twin/src/*.c")) + sorted(runtime.glob("*.c"))
    files += [package / f"runtime/match_gap9_{name}.c" for name in ("kernels", "ne16_stride2")]
    files.append(HERE / "ne16_setters.c")
    return files, [HERE, package / "twin/include", package / "twin/src", package / "runtime", runtime]


@dataclass(frozen=True)
class Driver:
    """An executable that runs scripts; see driver.c for the commands."""

    program: Path

    def run(self, script: str, *arguments: str) -> list[str]:
        """Output lines of a script that must succeed."""
        done = self.attempt(script, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def attempt(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.program), *arguments], input=script, capture_output=True, text=True, timeout=300, check=False
        )

    def fault(self, script: str, *arguments: str) -> str:
        """The message of a script that must end in a twin fault."""
        done = self.attempt(script, *arguments)
        assert done.returncode == -6, f"no fault: {done.stdout}{done.stderr}"
        assert "match twin fault: " in done.stderr, done.stderr
        return done.stderr.split("match twin fault: ")[1].strip()


@dataclass
class Script:
    """Commands in order, with an L1 allocator; several cases go into one run of the driver."""

    lines: list[str] = field(default_factory=list)
    top: int = 0

    def place(self, data: NDArray[np.generic], alignment: int = 4) -> int:
        """Writes the array to L1 and returns its offset."""
        offset = self.reserve(data.nbytes, alignment)
        self.lines.append(f"write l1 {offset} {data.tobytes().hex()}")
        return offset

    def reserve(self, size_bytes: int, alignment: int = 4) -> int:
        offset = -(-self.top // alignment) * alignment
        self.top = offset + size_bytes
        assert self.top <= 131072
        return offset

    def add(self, *words: object) -> None:
        self.lines.append(" ".join(str(word) for word in words))

    def dump(self, offset: int, size_bytes: int) -> None:
        self.add("dump l1", offset, size_bytes)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def parse(line: str, dtype: type[np.generic] = np.uint8) -> NDArray[np.generic]:
    """An array from a dumped line."""
    return np.frombuffer(bytes.fromhex(line), dtype=dtype)


def _compile(output: Path, preset: str, flags: Sequence[str], main: Path) -> Driver:
    files, folders = sources()
    generated = output.parent / preset
    generated.mkdir(exist_ok=True)
    (generated / HEADER_NAME).write_text(render_timing_header(preset))
    link_cached(output, (*WARNINGS, *flags), (main, *files), (generated, *folders))
    return Driver(output)


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Driver]:
    """``build(preset, flags, main)``: compiles once per session and combination."""
    folder = tmp_path_factory.mktemp("twin")
    built: dict[tuple[str, tuple[str, ...], str], Driver] = {}

    def get(preset: str, flags: Sequence[str] = SANITIZE, main: Path = HERE / "driver.c") -> Driver:
        key = (preset, tuple(flags), str(main))
        if key not in built:
            built[key] = _compile(folder / f"driver{len(built)}", preset, flags, main)
        return built[key]

    return get


@pytest.fixture(scope="session")
def driver(build: Callable[..., Driver]) -> Driver:
    """The twin with the published figures, under address and undefined-behaviour sanitizers."""
    return build("as-published")


@pytest.fixture(scope="session")
def engine_driver(build: Callable[..., Driver]) -> Driver:
    """The twin with the open simulator's figures."""
    return build("engine")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def new_script() -> type[Script]:
    return Script


@pytest.fixture(scope="session")
def dumped() -> Callable[..., NDArray[np.generic]]:
    return parse


@pytest.fixture(scope="session")
def referee() -> Callable[[str], list[dict[str, str]]]:
    """``referee(name)``: rows of a measured csv; skips where the shared data are absent."""

    def read(name: str) -> list[dict[str, str]]:
        path = repository().parent / "shared/data/referee" / name
        if not path.is_file():
            pytest.skip(f"measured data {path} are absent")
        lines: Iterable[str] = path.read_text(encoding="utf-8").splitlines()
        return list(csv.DictReader(line for line in lines if not line.startswith("#")))

    return read
