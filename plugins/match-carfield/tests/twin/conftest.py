"""Builds the twin with the runtime and a driver of scenarios (carfield_driver.c)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from match_carfield.emit import config_header
from match_carfield.half.interfaces import HALF_INTERFACES
from match_carfield.int8.interfaces import INT8_INTERFACES
from match_carfield.timing import HEADER_NAME, render_timing_header
from match_core.lower.interfaces import context_header
from match_core.lower.templates import CORE_TEMPLATES, Templates
from match_host.headers.half import half_header

from tests.c_objects import link_cached

HERE = Path(__file__).resolve().parent
ROOT = next(p for p in HERE.parents if (p / "core").is_dir() and (p / "plugins").is_dir())
PACKAGE = ROOT / "plugins/match-carfield/src/match_carfield"
CORE = ROOT / "core/src/match_core/run/runtime"
PLATFORM = ("host", "dma", "pulp", "pulp_dma", "spatz", "spatz_dma")
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
SANITIZE = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
THREADS = ("-O1", "-g1", "-fsanitize=thread", "-fno-builtin", "-fPIE", "-DMATCH_TWIN_CONCURRENT")


@dataclass(frozen=True)
class Driver:
    """An executable that runs one scenario: mode, name, unit."""

    program: Path

    def attempt(self, scenario: str, unit: str = "pulp", mode: str = "eager") -> subprocess.CompletedProcess[str]:
        command = [str(self.program), mode, scenario, unit]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def run(self, scenario: str, unit: str = "pulp", mode: str = "eager") -> list[str]:
        """Lines of a scenario that must succeed."""
        done = self.attempt(scenario, unit, mode)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def fault(self, scenario: str) -> str:
        """The message of a scenario that must end in a twin fault."""
        done = self.attempt(scenario)
        assert done.returncode == -6 and "match twin fault: " in done.stderr, done.stdout + done.stderr
        return done.stderr.split("match twin fault: ")[1].strip()


def write_headers(folder: Path, signalling: str) -> None:
    """The generated headers that runtime and twin include."""
    interfaces = (*HALF_INTERFACES, *INT8_INTERFACES)
    files = (config_header(signalling), half_header(), *(context_header(interface) for interface in interfaces))
    for file in files:
        (folder / file.name).write_text(file.text, encoding="utf-8")
    (folder / HEADER_NAME).write_text(render_timing_header(signalling), encoding="utf-8")
    runtime = Templates((CORE_TEMPLATES,)).render("match_runtime.h.mako", {})
    (folder / "match_runtime.h").write_text(runtime, encoding="utf-8")
    shutil.copyfile(CORE_TEMPLATES / "match_float.h", folder / "match_float.h")


def _build(folder: Path, signalling: str, flags: tuple[str, ...]) -> Driver:
    write_headers(folder, signalling)
    sources = [HERE / "carfield_driver.c", *sorted((PACKAGE / "twin/src").glob("*.c")), *sorted(CORE.glob("*.c"))]
    sources += [PACKAGE / f"runtime/match_carfield_{name}.c" for name in PLATFORM]
    places = (folder, PACKAGE / "twin/include", PACKAGE / "twin/src", PACKAGE / "runtime", CORE)
    program = folder / "driver"
    sync = '-DMATCH_SYNC_HEADER="match_twin_sync.h"'
    link_cached(program, (*STRICT, *flags, sync, "-pthread"), sources, places)
    return Driver(program)


@pytest.fixture(scope="session")
def carfield(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Driver]:
    """``carfield(signalling, threads)``: the driver, compiled once per combination."""
    built: dict[tuple[str, bool], Driver] = {}

    def get(signalling: str = "event", threads: bool = False) -> Driver:
        if (signalling, threads) not in built:
            folder = tmp_path_factory.mktemp(f"carfield_{signalling}")
            built[signalling, threads] = _build(folder, signalling, THREADS if threads else SANITIZE)
        return built[signalling, threads]

    return get
