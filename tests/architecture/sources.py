"""The Python sources of the workspace and what each of them imports, read without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

CORE = ROOT / "core" / "src" / "match_core"
#: Import name -> source folder of every target package.
TARGETS = {folder.name: folder for folder in sorted((ROOT / "plugins").glob("*/src/*")) if folder.is_dir()}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module; ``typing_only``: under ``if TYPE_CHECKING``; ``at_load``: runs when the file is imported."""

    path: Path
    line: int
    module: str
    typing_only: bool
    at_load: bool

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} imports {self.module}"


def python_files(folder: Path) -> tuple[Path, ...]:
    """All modules below a folder, sorted."""
    return tuple(sorted(folder.rglob("*.py")))


def imports_of(path: Path) -> tuple[Import, ...]:
    """Every import statement of a file; ``from a import b`` counts as ``a``."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return tuple(_walk(tree, path, typing_only=False, at_load=True))


def _walk(node: ast.AST, path: Path, *, typing_only: bool, at_load: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(path, child.lineno, alias.name, typing_only, at_load)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{path}: relative import in line {child.lineno}"
            yield Import(path, child.lineno, child.module or "", typing_only, at_load)
        else:
            inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            checking = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            yield from _walk(child, path, typing_only=typing_only or checking, at_load=at_load and not inside)
