"""Who may import what."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.sources import CORE, TARGETS, imports_of, python_files
from tests.conftest import ROOT

#: What a target package may import of the core: the root, and these modules that docs/plugins.md lists.
PUBLIC = (
    "match_core",
    "match_core.cost",
    "match_core.counting",
    "match_core.emit.api",
    "match_core.emit.half",
    "match_core.emit.interfaces",
    "match_core.emit.templates",
    "match_core.host.cost",
    "match_core.ir.editor",
    "match_core.ir.model",
    "match_core.regions.graph",
    "match_core.testing",
    "match_core.transforms.expectation",
    "match_core.transforms.geometry",
    "match_core.transforms.quant",
)

HEAVY = ("onnx", "onnx_graphsurgeon", "onnxruntime", "ortools", "mako", "rich", "typer", "google.protobuf", "numpy")


def _loaded(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import match_core",
        "from match_core.plugin.specs import cost, emit, hardware, patterns, schedule, transforms",
        *(f"import {name}.plugin" for name in TARGETS),
    ],
)
def test_importing_is_light(statement: str) -> None:
    assert not _loaded(statement) & set(HEAVY)


def test_listing_targets_loads_no_solver_and_no_onnx() -> None:
    loaded = _loaded("from match_core.plugin.host import Plugins\nPlugins.load().hardware()")
    assert not loaded & (set(HEAVY) - {"numpy"})


def test_the_library_does_not_import_the_command_line() -> None:
    wrong = [
        found
        for path in python_files(CORE)
        if CORE / "cli" not in path.parents
        for found in imports_of(path)
        if found.module.startswith("match_core.cli") or found.module.split(".")[0] in ("typer", "click")
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_only_the_plugin_room_imports_pluggy() -> None:
    users = {path for path in python_files(CORE) for found in imports_of(path) if found.module == "pluggy"}
    assert {path.parent for path in users} == {CORE / "plugin"}
    for folder in TARGETS.values():
        assert not [found for path in python_files(folder) for found in imports_of(path) if found.module == "pluggy"]


def test_only_the_terminal_imports_rich() -> None:
    folders = [CORE, *TARGETS.values()]
    users = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in python_files(folder)
        for found in imports_of(path)
        if found.module.split(".")[0] == "rich"
    }
    assert users == {"core/src/match_core/cli/terminal.py"}


def test_heavy_modules_of_the_terminal_and_of_solvers_are_imported_where_they_are_used() -> None:
    wrong = [
        found
        for path in python_files(CORE)
        for found in imports_of(path)
        if found.module.split(".")[0] in ("rich", "ortools", "mako", "onnxruntime")
        and found.at_load
        and not found.typing_only
    ]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_imports_the_public_core_only(target: str) -> None:
    wrong = [
        found
        for path in python_files(TARGETS[target])
        for found in imports_of(path)
        if found.module.split(".")[0] == "match_core" and found.module not in PUBLIC
    ]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("target", TARGETS)
def test_no_target_imports_another(target: str) -> None:
    others = set(TARGETS) - {target}
    wrong = [
        found
        for path in python_files(TARGETS[target])
        for found in imports_of(path)
        if found.module.split(".")[0] in others
    ]
    assert not wrong, "\n".join(map(str, wrong))


def test_the_public_modules_are_documented() -> None:
    text = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    assert [name for name in PUBLIC if f"`{name}`" not in text] == []
