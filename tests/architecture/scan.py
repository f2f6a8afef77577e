"""One scan of all Python sources of the distributions: what each file imports, calls and how long it is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from tests.conftest import ROOT

CORE = ROOT / "core" / "src" / "match_core"
#: Import name -> source folder of every package of the repository, the core among them.
PACKAGES = {"match_core": CORE} | {folder.name: folder for folder in sorted((ROOT / "plugins").glob("*/src/*"))}
When = Literal["load", "function", "typing"]


@dataclass(frozen=True, slots=True)
class Import:
    """``importer`` and ``module`` are dotted names; ``from a import b`` names ``a.b`` where that is a module. ``when``:
    as the file is imported, inside a function, or for types only."""

    importer: str
    line: int
    module: str
    when: When

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.module}"


@dataclass(frozen=True, slots=True)
class Source:
    """A file: its module, lines, imports, and (line, name) of plain function calls."""

    module: str
    path: Path
    lines: int
    imports: tuple[Import, ...]
    calls: tuple[tuple[int, str], ...]
    strings: tuple[tuple[int, str], ...]

    @property
    def package(self) -> str:
        """The import name of its distribution."""
        return self.module.partition(".")[0]


@cache
def sources() -> tuple[Source, ...]:
    """Every file once, sorted by module."""
    paths = {_module(folder, path): path for folder in PACKAGES.values() for path in folder.rglob("*.py")}
    return tuple(_source(name, path, paths.keys()) for name, path in sorted(paths.items()))


def imports(package: str = "") -> Iterator[Import]:
    """All imports, or those of one package's files."""
    for source in sources():
        if not package or source.package == package:
            yield from source.imports


def _module(folder: Path, path: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _source(module: str, path: Path, known: object) -> Source:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, str(path))
    found = tuple(_imports(tree, module, known, "load"))
    calls = tuple(
        (node.lineno, node.func.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )
    strings = tuple(
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"match_\w+(\.\w+)*", node.value)
    )
    return Source(module, path, len(text.splitlines()), found, calls, strings)


def _imports(node: ast.AST, importer: str, known: object, when: When) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(importer, child.lineno, alias.name, when) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0 and child.module, f"{importer}: relative import in line {child.lineno}"
            names = [f"{child.module}.{alias.name}" for alias in child.names]
            modules = dict.fromkeys(name if name in known else child.module for name in names)  # type: ignore[operator]
            yield from (Import(importer, child.lineno, module, when) for module in modules)
        else:
            inner: When = when
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and when == "load":
                inner = "function"
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                inner = "typing"
            yield from _imports(child, importer, known, inner)
