"""One page for each hook, made from its specification, and one for the types that hooks take and answer with."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import match_core
from contract_types import PACKAGE, ROOT, ContractType, Member, mentioned, reachable
from match_core.plugin.markers import CONTRACT_VERSION, PROJECT
from match_core.plugin.registry import SPECS

#: The sections of a specification, in their order.
SECTIONS = ("Called", "Arguments", "Returns", "Several answers", "Nobody answers", "May be changed")
TYPES_PAGE = "hooks/types.md"
#: Project files of packages, by the words under which the pages list them.
PACKAGES = {
    "package": (ROOT / "core" / "pyproject.toml", *sorted((ROOT / "plugins").glob("*/pyproject.toml"))),
    "example of the documentation": tuple(sorted((ROOT / "docs" / "examples").glob("*/pyproject.toml"))),
}


@dataclass(frozen=True, slots=True)
class Hook:
    """A hook as its specification describes it; ``arguments`` and ``returns`` are types as they stand there."""

    name: str
    module: str
    summary: str
    arguments: dict[str, str]
    returns: str
    first_result: bool
    sections: dict[str, str]
    example: str

    @property
    def signature(self) -> str:
        """With the types."""
        arguments = ", ".join(f"{name}: {kind}" for name, kind in self.arguments.items())
        return f"{self.name}({arguments}) -> {self.returns}"


def hooks(specs: tuple[ModuleType, ...] = SPECS) -> tuple[Hook, ...]:
    """All hooks of the specifications."""
    return tuple(
        described(function, spec.__name__)
        for spec in specs
        for name, function in vars(spec).items()
        if name.startswith("match_")
    )


def described(function: object, module: str) -> Hook:
    """One hook. ValueError for a specification that lacks a section, an argument's text or a type."""
    docstring = inspect.getdoc(function) or ""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    name = function.__name__  # type: ignore[attr-defined]
    body, _, example = docstring.partition("Example::")
    parts = re.split(rf"^({'|'.join(SECTIONS)}):", body, flags=re.MULTILINE)
    sections = {title: _flat(text) for title, text in zip(parts[1::2], parts[2::2], strict=True)}
    missing = [title for title in SECTIONS if not sections.get(title)]
    if missing or not example.strip() or not parts[0].strip():
        raise ValueError(f"{name}: nothing under {missing or 'the summary or the example'}")
    arguments = {parameter.name: str(parameter.annotation) for parameter in signature.parameters.values()}
    untyped = [argument for argument, kind in arguments.items() if "empty" in kind]
    if untyped or signature.return_annotation is inspect.Signature.empty:
        raise ValueError(f"{name}: no type of {untyped or 'the answer'}")
    explained = _explained(sections["Arguments"])
    if list(explained) != list(arguments):
        raise ValueError(f"{name}: the text explains {list(explained)}, the arguments are {list(arguments)}")
    options = getattr(function, f"{PROJECT}_spec")
    return Hook(
        name, module, _flat(parts[0]), arguments, str(signature.return_annotation), bool(options["firstresult"]),
        sections, dedent(example).strip(),
    )  # fmt: skip


def _explained(text: str) -> dict[str, str]:
    """Name -> text of the section on arguments."""
    if text == "none.":
        return {}
    parts = re.split(r"^(\w+): ", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (" ".join(part.split()) for part in parts[2::2]), strict=True))


def _flat(text: str) -> str:
    """Without the indentation; paragraphs that begin with ``name:`` stay on lines of their own."""
    lines = re.sub(r"\n\s*(?!\s*\w+: )", " ", text.strip())
    return "\n".join(line.strip() for line in lines.splitlines())


def _markdown(text: str) -> str:
    return re.sub(r"``([^`]+)``", r"`\1`", text)


def _sentence(text: str) -> str:
    return _markdown(text[:1].upper() + text[1:])


@lru_cache(maxsize=1)
def contract_types() -> tuple[ContractType, ...]:
    """All types that the hooks lead to, those of the first hook first."""
    found: dict[tuple[str, str], ContractType] = {}
    for hook in hooks():
        for kind in reachable(hook.module, (*hook.arguments.values(), hook.returns)):
            found.setdefault((kind.module, kind.name), kind)
    return tuple(found.values())


def implementers() -> dict[str, tuple[str, ...]]:
    """Hook -> the packages of the repository that implement it, each with where it is."""
    modules = [
        (f"`{_name(project)}`, {where}", project.parent / "src", entry)
        for where, projects in PACKAGES.items()
        for project in projects
        for entry in _entry_points(project)
    ]
    found: dict[str, tuple[str, ...]] = {}
    for words, sources, module in modules:
        tree = ast.parse((sources / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and any("hookimpl" in ast.unparse(d) for d in node.decorator_list):
                found[node.name] = (*found.get(node.name, ()), words)
    return found


def _name(project: Path) -> str:
    """The name of the distribution: that of its folder, but for the core."""
    return "match-core" if project.parent == ROOT / "core" else project.parent.name


def _entry_points(project: Path) -> tuple[str, ...]:
    """The modules that a pyproject.toml names as plugins (Python 3.10 has no reader of TOML)."""
    text = project.read_text(encoding="utf-8")
    table = re.search(r'^\[project\.entry-points\."match\.plugins"\]\n(.*?)(?=^\[|\Z)', text, re.MULTILINE | re.DOTALL)
    return tuple(re.findall(r'= "([\w.]+)', table[1])) if table else ()


def hook_pages() -> dict[str, str]:
    """By place in the site, the text of every page."""
    implemented = implementers()
    pages = {f"hooks/{hook.name}.md": _page(hook, implemented.get(hook.name, ())) for hook in hooks()}
    return {**pages, TYPES_PAGE: _types_page()}


def _page(hook: Hook, packages: tuple[str, ...]) -> str:
    which = "One answer is taken (`firstresult`)." if hook.first_result else "The answers of all packages are taken."
    lines = [f"# {hook.name}", "", _markdown(hook.summary), "", "```python", hook.signature, "```", ""]
    lines += [f"{which} Contract version {CONTRACT_VERSION}.", ""]
    for title in SECTIONS:
        lines += [f"## {title}", ""]
        if title == "Arguments" and hook.arguments:
            lines += ["| argument | type | what it is |", "|---|---|---|"]
            for name, text in _explained(hook.sections[title]).items():
                lines.append(f"| `{name}` | {_linked(hook, hook.arguments[name])} | {_cell(_sentence(text))} |")
        elif title == "Returns":
            lines += [f"{_linked(hook, hook.returns)}: {_markdown(hook.sections[title])}"]
        else:
            lines += [_sentence(hook.sections[title])]
        lines.append("")
    lines += ["## Example", "", "```python", hook.example, "```", "", "## Who implements it", ""]
    lines += [f"- {words}" for words in packages] or ["Nobody yet."]
    return "\n".join(lines) + "\n"


def _linked(hook: Hook, annotation: str) -> str:
    return _type(annotation, mentioned(hook.module, annotation), "types.md")


def _type(annotation: str, places: tuple[tuple[str, str], ...], page: str) -> str:
    """An annotation, with links to the types that it names."""
    code = f"`{annotation}`"
    if len(places) == 1:
        return f"[{code}]({page}#{places[0][1].lower()})"
    links = ", ".join(f"[{name}]({page}#{name.lower()})" for _, name in places)
    return f"{code} ({links})" if links else code


def _types_page() -> str:
    lines = [
        "# Types of the contract",
        "",
        "What hooks take and answer with, and what these hold. Made from the sources; values are frozen.",
        "",
    ]
    for kind in contract_types():
        lines += [f"## {kind.name}", "", f"`from {_public(kind)} import {kind.name}`", ""]
        if kind.definition:
            lines += ["```python", f"{kind.name} = {kind.definition}", "```", ""]
        lines += [_markdown(kind.text), ""]
        for heading, chosen in (("field", ("field", "value")), ("also has", ("property", "method"))):
            lines += _members(kind, heading, [member for member in kind.members if member.kind in chosen])
    return "\n".join(lines)


def _members(kind: ContractType, heading: str, members: list[Member]) -> list[str]:
    """A table, without the columns that no row has anything for."""
    rows = [
        (
            f"`{member.name}`",
            _type(member.type, mentioned(kind.module, member.type), "") if member.type else "",
            f"`{member.default}`" if member.default is not None else "",
            _cell(member.text),
        )
        for member in members
    ]
    used = [column for column in range(4) if any(row[column] for row in rows)]
    if not used:
        return []
    titles = (heading, "type", "default", "what it is")
    lines = [tuple(titles[column] for column in used), ("---",) * len(used)]
    lines += [tuple(row[column] for column in used) for row in rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _public(kind: ContractType) -> str:
    return PACKAGE if kind.name in match_core.__all__ else kind.module


def _cell(text: str) -> str:
    return _markdown(" ".join(text.split())).replace("|", "\\|")
