"""The hook specifications: complete prose, no heavy imports, and pluggy kept in one place."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from functools import cache
from pathlib import Path

import match_core
import pytest
from match_core.plugin.registry import HOOKS, SPECS

SOURCES = Path(match_core.__file__).parent
PARTS = (
    "Called:",
    "Arguments:",
    "Returns:",
    "Several answers:",
    "Nobody answers:",
    "May be changed:",
    "Example::",
)
SPEC_OF = {hook: getattr(spec, hook) for spec in SPECS for hook in HOOKS if hasattr(spec, hook)}


def test_the_hooks_are_specified() -> None:
    assert HOOKS == (
        "match_hardware",
        "match_load",
        "match_transforms",
        "match_patterns",
        "match_cost",
        "match_schedule",
        "match_map",
        "match_plan",
        "match_emit_api",
        "match_runners",
        "match_commands",
        "match_exact",
        "match_fit",
    )


@pytest.mark.parametrize("hook", HOOKS)
def test_docstring_has_every_part_in_order(hook: str) -> None:
    text = inspect.getdoc(SPEC_OF[hook])
    assert text is not None
    positions = [text.find(f"\n{part}") for part in PARTS]
    assert -1 not in positions, [part for part, at in zip(PARTS, positions, strict=True) if at < 0]
    assert positions == sorted(positions)
    for part, start, end in zip(PARTS, positions, [*positions[1:], len(text)], strict=True):
        body = text[start + 1 + len(part) : end].strip()
        assert len(body) > 3, f"{hook}: nothing under {part}"


@pytest.mark.parametrize("hook", HOOKS)
def test_docstring_tells_of_each_argument(hook: str) -> None:
    text = inspect.getdoc(SPEC_OF[hook]) or ""
    arguments = text[text.index("Arguments:") : text.index("Returns:")]
    for name in inspect.signature(SPEC_OF[hook]).parameters:
        assert f"    {name}: " in arguments


@pytest.mark.parametrize("hook", HOOKS)
def test_docstring_example_is_three_lines_of_python(hook: str) -> None:
    text = inspect.getdoc(SPEC_OF[hook]) or ""
    example = inspect.cleandoc(text.split("Example::")[1])
    assert len(example.splitlines()) == 3
    function = ast.parse(example).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert function.name == hook
    assert [argument.arg for argument in function.args.args] == list(inspect.signature(SPEC_OF[hook]).parameters)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.__name__.rpartition(".")[2])
def test_specification_modules_hold_signatures_only(spec: object) -> None:
    tree = ast.parse(inspect.getsource(spec))  # type: ignore[arg-type]
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        assert len(function.body) == 1
        assert isinstance(function.body[0], ast.Expr)


@cache
def _imported() -> dict[str, set[str]]:
    """The packages that each module of the core imports."""
    found: dict[str, set[str]] = {}
    for path in SOURCES.rglob("*.py"):
        names = found.setdefault(path.relative_to(SOURCES).as_posix(), set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add((node.module or "").split(".")[0])
    return found


def _importers_of(package: str) -> set[str]:
    return {path for path, packages in _imported().items() if package in packages}


def test_pluggy_is_touched_in_one_place() -> None:
    assert _importers_of("pluggy") == {"plugin/markers.py", "plugin/registry.py"}


def test_the_core_never_imports_a_target() -> None:
    packages = sorted(path.parent.name for path in SOURCES.parents[2].glob("plugins/*/src/*/__init__.py"))
    assert packages
    assert {package: _importers_of(package) for package in packages} == {package: set() for package in packages}


def test_loading_plugins_imports_nothing_heavy() -> None:
    code = (
        "import sys; from match_core.plugin.facade import Plugins; Plugins.load()\n"
        "print(sorted({'onnx', 'onnx_graphsurgeon', 'onnxruntime', 'ortools', 'mako', 'numpy', 'rich', 'typer'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
