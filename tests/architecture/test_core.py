"""The core knows no target, prints nothing, and starts fast."""

from __future__ import annotations

import ast
import re
import resource
import subprocess
from pathlib import Path

import pytest

from tests.architecture.sources import CORE, TARGETS, python_files
from tests.conftest import MATCH, ROOT

_NAMES = re.compile(r"gap9|ne16|diana|carfield|spatz|snitch|\bita\b", re.IGNORECASE)
_TEXT = (".py", ".c", ".h", ".mako", ".txt", ".json", ".toml")


def test_the_core_names_no_target() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(CORE.rglob("*"))
        if path.suffix in _TEXT
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if _NAMES.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", [CORE, *TARGETS.values()], ids=lambda folder: folder.name)
def test_the_library_does_not_print(folder: Path) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files(folder)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "input")
    ]
    assert not found, "\n".join(found)


def test_modules_hold_one_idea() -> None:
    """No module is longer than 350 lines."""
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for folder in (CORE, *TARGETS.values())
        for path in python_files(folder)
    }
    assert {path: count for path, count in lengths.items() if count > 350} == {}


def test_help_starts_under_half_a_second() -> None:
    """In processor time, so that whatever else the machine does does not count."""
    best = float("inf")
    for _ in range(5):
        before = _children_seconds()
        done = subprocess.run([*MATCH, "--help"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("Usage: match")
        best = min(best, _children_seconds() - before)
    assert best < 0.5


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
