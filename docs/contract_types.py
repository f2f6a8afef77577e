"""The types that hooks take and answer with, read from the sources: docstrings, fields, methods, comments.

From the signatures of the hooks on, every type of match_core that a field or a method names is followed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "core" / "src"
PACKAGE = "match_core"


@dataclass(frozen=True, slots=True)
class Member:
    """A field, a property, a method or a value of an enumeration. ``default`` None: it must be given."""

    name: str
    kind: str
    type: str
    default: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ContractType:
    """A class or an alias; ``mentions`` are the types of match_core that it names, as (module, name)."""

    module: str
    name: str
    kind: str
    text: str
    members: tuple[Member, ...]
    definition: str
    mentions: tuple[tuple[str, str], ...]


def reachable(module: str, annotations: Iterable[str]) -> tuple[ContractType, ...]:
    """All types that these annotations of a module lead to, the nearest first."""
    waiting = [place for text in annotations for place in mentioned(module, text)]
    found: dict[tuple[str, str], ContractType] = {}
    while waiting:
        place = waiting.pop(0)
        if place not in found:
            found[place] = _described(*place)
            waiting += found[place].mentions
    return tuple(found.values())


def mentioned(module: str, annotation: str) -> tuple[tuple[str, str], ...]:
    """The (module, name) of the types of match_core that an annotation in a module names."""
    names = [node.id for node in ast.walk(ast.parse(annotation, mode="eval")) if isinstance(node, ast.Name)]
    places = (_home(module, name) for name in dict.fromkeys(names))
    return tuple(place for place in places if place is not None)


@cache
def _source(module: str) -> tuple[str, ast.Module]:
    path = SOURCES / Path(*module.split("."))
    text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")
    return text, ast.parse(text)


@cache
def _home(module: str, name: str) -> tuple[str, str] | None:
    """Where a name that a module uses is defined, if that is in match_core."""
    if _definition(module, name) is not None:
        return module, name
    origin = _imported(module).get(name)
    return None if origin is None else _home(*origin)


@cache
def _imported(module: str) -> dict[str, tuple[str, str]]:
    """(module, name) of match_core behind each name that a module imports from there."""
    nodes = [node for node in ast.walk(_source(module)[1]) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in nodes if (node.module or "").startswith(PACKAGE)]
    return {alias.asname or alias.name: (str(node.module), alias.name) for node in ours for alias in node.names}


def _definition(module: str, name: str) -> ast.ClassDef | ast.Assign | None:
    for node in _source(module)[1].body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]:
            return node
    return None


def _described(module: str, name: str) -> ContractType:
    node = _definition(module, name)
    text = _source(module)[0]
    if isinstance(node, ast.ClassDef):
        members = tuple(_members(node, text))
        named = [item.type for item in members]
        kind = "protocol" if "Protocol" in map(ast.unparse, node.bases) else "class"
        return ContractType(
            module, name, kind, ast.get_docstring(node) or "", members, "", _all_mentioned(module, named)
        )
    assert node is not None, name
    definition = ast.unparse(node.value)
    return ContractType(
        module, name, "alias", _comment(text, node), (), definition, _all_mentioned(module, [definition])
    )


def _all_mentioned(module: str, annotations: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys(place for text in annotations if text for place in mentioned(module, text)))


def _members(node: ast.ClassDef, text: str) -> Iterator[Member]:
    for item in node.body:
        if isinstance(item, ast.AnnAssign):
            default = None if item.value is None else _default(item.value)
            yield Member(ast.unparse(item.target), "field", ast.unparse(item.annotation), default, _comment(text, item))
        elif isinstance(item, ast.Assign):
            yield Member(ast.unparse(item.targets[0]), "value", "", ast.unparse(item.value), _comment(text, item))
        elif isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            yield _method(item)


def _method(item: ast.FunctionDef) -> Member:
    returns = ast.unparse(item.returns) if item.returns else "None"
    words = ast.get_docstring(item) or ""
    if "property" in map(ast.unparse, item.decorator_list):
        return Member(item.name, "property", returns, None, words)
    arguments = ", ".join(ast.unparse(argument) for argument in item.args.args if argument.arg not in ("self", "cls"))
    return Member(f"{item.name}({arguments})", "method", returns, None, words)


def _default(value: ast.expr) -> str:
    factory = re.fullmatch(r"field\(default_factory=(\w+)\)", ast.unparse(value))
    return f"{factory[1]}()" if factory else ast.unparse(value)


def _comment(text: str, node: ast.stmt) -> str:
    """What stands behind a statement as a comment, or in the ``#:`` lines above it."""
    lines = text.splitlines()
    behind = re.search(r"  # (.+)$", lines[(node.end_lineno or node.lineno) - 1])
    if behind:
        return behind[1]
    above: list[str] = []
    at = node.lineno - 2
    while at >= 0 and lines[at].strip().startswith("#:"):
        above.insert(0, lines[at].strip().removeprefix("#:").strip())
        at -= 1
    return " ".join(above)
