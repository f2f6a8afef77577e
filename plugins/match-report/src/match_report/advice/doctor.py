"""Checks that this machine has everything that match requires: compiler, sanitizers, cache, libraries, targets."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from match_core.contract.errors import MatchError, PluginError, ToolError
from match_core.contract.runner import Tool
from match_core.plugin.records import by_package

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

Status = Literal["ok", "missing", "failed"]
_PROGRAM = "#include <stdint.h>\nint main(void) { int8_t none = 0; return none; }\n"
_NEEDED = (
    "onnx",
    "onnx-graphsurgeon",
    "onnxruntime",
    "numpy",
    "ml_dtypes",
    "pluggy",
    "mako",
    "ortools",
    "rich",
    "typer",
)
#: Distributions that only one package requires: name, purpose, package.
_OPTIONAL = (("tflite", "read TFLite files", "match-tflite"),)
#: Programs that verbs and tests use if they are there, besides those of runners.
_TOOLS = (
    Tool("valgrind", "count the instructions of kernels on this machine", "apt-get install valgrind"),
    Tool("chromium", "test the pages of reports", "apt-get install chromium"),
)
#: A tool says its version within this (an estimate).
_ASK_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. ``needed`` False: only the part of match that ``detail`` names is affected."""

    name: str
    status: Status
    detail: str
    needed: bool = True
    help: str = ""


def examine(plugins: Plugins) -> tuple[Finding, ...]:
    """All findings, in a fixed order."""
    return (
        Finding("python", "ok", f"{platform.python_version()} at {sys.executable}"),
        *(_distribution(name) for name in _NEEDED),
        *(_extra(*extra) for extra in _OPTIONAL),
        *_compiler(),
        _cache(),
        *_targets(plugins),
        *(_tool(tool) for runner in plugins.runners() for tool in runner.tools),
        *(_tool(tool) for tool in _TOOLS),
    )


def _distribution(name: str) -> Finding:
    try:
        return Finding(name, "ok", version(name))
    except PackageNotFoundError:
        return Finding(name, "missing", "not installed", help=f"pip install {name}")


def _extra(name: str, use: str, extra: str) -> Finding:
    found = _distribution(name)
    if found.status == "ok":
        return replace(found, needed=False)
    return Finding(name, "missing", f"not installed; required to {use}", False, f"pip install '{extra}'")


def _compiler() -> Iterator[Finding]:
    from match_core.run.compiler import SANITIZE, STRICT, host_compiler

    try:
        command = host_compiler()
    except MatchError as error:
        yield Finding("C compiler", "missing", f"{error.where}: {error.why}", help=error.help[0])
        return
    yield _built("C compiler", command, STRICT, needed=True)
    yield _built("sanitizers", command, (*STRICT, *SANITIZE), needed=False)


def _built(name: str, command: list[str], flags: tuple[str, ...], needed: bool) -> Finding:
    """Build and run a program with the flags of the twin's build."""
    with tempfile.TemporaryDirectory(prefix="match-doctor-") as folder:
        source, program = Path(folder, "main.c"), Path(folder, "main")
        source.write_text(_PROGRAM, encoding="utf-8")
        build = [*command, *flags, str(source), "-o", str(program)]
        failure = _first_error(build) or _first_error([str(program)])
    if failure:
        return Finding(
            name, "failed", failure, needed, "install gcc or clang with its runtime, or set CC to another one"
        )
    return Finding(name, "ok", " ".join((*command, *flags)) if name == "C compiler" else " ".join(flags), needed)


def _first_error(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]}: {error}"
    if done.returncode == 0:
        return ""
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    return lines[0] if lines else f"exit status {done.returncode}"


def _cache() -> Finding:
    from match_core.io.cache_dir import cache_directory

    folder = cache_directory("schedules")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        return Finding("cache", "failed", f"{folder} cannot be written", False, "set MATCH_CACHE_DIR to another folder")
    return Finding("cache", "ok", str(folder), needed=False)


def _targets(plugins: Plugins) -> Iterator[Finding]:
    """Call the hooks of every target and its units, as a compilation does, and look for libraries in source form."""
    from match_core.run.compiler import own_folders

    for soc in sorted(plugins.hardware().socs, key=lambda soc: soc.name):
        try:
            units = plugins.units_of(soc)
            for unit in units:
                plugins.patterns(soc, unit)
            own_folders({unit.name: plugins.emit_api(soc, unit) for unit in units})
        except PluginError as error:
            yield Finding(f"target {soc.name}", "failed", f"{error.where}: {error.why} [{error.code}]", False)
            continue
        except ToolError as error:  # it compiles, and neither the twin nor a runner builds what it compiles
            yield Finding(f"target {soc.name}", "missing", f"{error.where}: {error.why}", False, error.help[0])
            continue
        names = ", ".join(unit.name for unit in units)
        yield Finding(f"target {soc.name}", "ok", f"units {names}", needed=False)
    for first, *others in by_package(plugins.faults):
        stages = ", ".join(fault.stage for fault in (first, *others))
        detail = f"{first.distribution} {first.version}, {stages}: {first.cause} [{first.code}]"
        yield Finding(f"plugin {first.entry_point}", "failed", detail, False, first.how_to_disable)


def _tool(tool: Tool) -> Finding:
    path = shutil.which(tool.command)
    if path is None:
        missing = f"not on the PATH; required to {tool.purpose}"
        return Finding(tool.command, "missing", missing, False, tool.install)
    return Finding(tool.command, "ok", f"{_version(path)}; used to {tool.purpose}", needed=False)


def _version(path: str) -> str:
    """The first line that a tool says about itself, and where it is."""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, errors="replace", timeout=_ASK_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return path
    line = next((line.strip() for line in done.stdout.splitlines() if line.strip()), "")
    return f"{line}, {path}" if line else path
