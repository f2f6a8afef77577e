"""What packages import is public, documented and recorded: names of the scaffolds, the examples and the tutorials."""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module

import pytest
from hook_pages import contract_types
from match_core import CONTRACT_VERSION
from match_kit.scaffold import KINDS, package_files

from tests.conftest import ROOT
from tests.docs.pages import DOCS, text_of

RECORD = ROOT / "tests" / "docs" / f"public-names-{CONTRACT_VERSION}.json"
PAGES = ("tutorial.md", "tutorial-library.md", "tutorial-regions.md", "kinds.md", "regions.md", "plugins.md")
#: Examples of packages that work on compilations: they may use all of the core (docs/plugins.md).
_OTHERS = ("match-greedy", "match-textnet", "match-sizes")


def _texts() -> Iterator[str]:
    for kind in KINDS:
        yield from (text for place, text in package_files("sprout", kind) if place.endswith(".py"))
    for path in sorted((DOCS / "examples").glob("*/src/**/*.py")):
        if path.relative_to(DOCS / "examples").parts[0] not in _OTHERS:
            yield path.read_text(encoding="utf-8")
    for page in PAGES:
        yield from re.findall(r"```python\n(.*?)```", text_of(DOCS / page), re.DOTALL)
        yield from re.findall(r"^(?:from|import) match_\S+(?: import .*)?$", text_of(DOCS / page), re.MULTILINE)


def _imported() -> frozenset[tuple[str, str]]:
    """(module, name) of everything that is imported from match."""
    found: set[tuple[str, str]] = set()
    for text in _texts():
        with suppress(SyntaxError):  # parts of files on pages
            found |= _imports(ast.parse(text))
    return frozenset(found)


def _imports(tree: ast.Module) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and re.match(r"match_(core|regions|kit|host|quant)", node.module or ""):
            found |= {(str(node.module), alias.name) for alias in node.names}
    return found


def _is_listed(module: str, public: list[str]) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in public)


def test_they_are_in_public_modules() -> None:
    """The table of docs/plugins.md lists the modules, or those around them."""
    text = text_of(DOCS / "plugins.md")
    public = re.findall(r"^\| `(match_[\w.]+)` \|", text, re.MULTILINE)
    public += [
        "match_regions",
        "match_kit.testing",
        "match_kit.counting",
        "match_host.headers.half",
        "match_host.cost",
        "match_quant.bounds",
        "match_quant.double",
        "match_quant.expectation",
        "match_quant.linear",
        "match_quant.multipliers",
        "match_quant.powers",
        "match_quant.ranges",
    ]
    places = [f"{module}.{name}" if module == "match_host" else module for module, name in sorted(_imported())]
    assert [place for place in places if not _is_listed(place, [*public, "match_host.plugin"])] == []


def _definition(module: str, name: str, types: frozenset[str]) -> object:
    """The signature; of classes their members, of modules their names. Types of the contract are recorded with it."""
    thing = getattr(import_module(module), name, None) or import_module(f"{module}.{name}")
    if f"{getattr(thing, '__module__', '')}.{getattr(thing, '__name__', name)}" in types or f"{module}.{name}" in types:
        return "contract"
    if type(thing).__module__.startswith("pluggy") or getattr(thing, "__module__", "").startswith("pluggy"):
        return "pluggy"
    if inspect.ismodule(thing):
        tree = ast.parse(inspect.getsource(thing)).body
        defined = [node.name for node in tree if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        defined += [ast.unparse(node.targets[0]) for node in tree if isinstance(node, ast.Assign)]
        return sorted(each for each in defined if not each.startswith("_"))
    if inspect.isclass(thing):
        members = {each: value for each, value in vars(thing).items() if not each.startswith("_")}
        return {each: str(inspect.signature(value)) if callable(value) else "" for each, value in members.items()}
    return str(inspect.signature(thing)) if callable(thing) else type(thing).__name__


def test_they_are_as_recorded(request: pytest.FixtureRequest) -> None:
    """A name that is gone, or that takes other arguments, breaks packages: see docs/contract.md. New names are recorded
    by ``--update-golden``."""
    types = frozenset(f"{kind.module}.{kind.name}" for kind in contract_types())
    now = {f"{module}.{name}": _definition(module, name, types) for module, name in sorted(_imported())}
    if request.config.getoption("--update-golden"):
        RECORD.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    assert now == json.loads(RECORD.read_text(encoding="utf-8"))
