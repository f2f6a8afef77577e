"""The package that ``match new-target`` writes: a host, one small accelerator, its tests, CI and documentation."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from match_core.contract.errors import UsageError

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_TAKEN = frozenset({"match", "core", "host", "testing"})
#: Template -> file of the package; the scaffold replaces ``{name}`` and ``{module}``.
FILES = {
    "pyproject.toml.mako": "pyproject.toml",
    "README.md.mako": "README.md",
    "ci.yml.mako": ".github/workflows/ci.yml",
    "page.md.mako": "docs/{name}.md",
    "init.py.mako": "src/{module}/__init__.py",
    "plugin.py.mako": "src/{module}/plugin.py",
    "hardware.py.mako": "src/{module}/hardware.py",
    "patterns.py.mako": "src/{module}/patterns.py",
    "cost.py.mako": "src/{module}/cost.py",
    "emit.py.mako": "src/{module}/emit.py",
    "conformance.py.mako": "src/{module}/conformance.py",
    "sdk.h.mako": "src/{module}/c/{name}_sdk.h",
    "twin.c.mako": "src/{module}/c/{name}_twin.c",
    "test_conformance.py.mako": "tests/test_conformance.py",
}


def target_name(text: str) -> str:
    """The name of a target for C, Python and the command line. UsageError MATCH-U050 if the text is not a valid
    name."""
    from match_core.ir.program_name import program_name

    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_").removeprefix("match_")
    why = ""
    if not name or not name.isascii() or not name[0].isalpha():
        why = "a name starts with a letter and consists of letters, digits and dashes"
    elif len(name) > 40:
        why = f"it has {len(name)} characters; at most 40 are allowed"
    elif name in _TAKEN or program_name(name) != name:
        why = f"{name!r} is reserved by match or C"
    if why:
        raise UsageError(
            code="MATCH-U050",
            what="the name of the target is not valid",
            where=f"argument NAME, {text[:60]!r}",
            why=why,
            help=("use the chip's name, for example: match new-target sprout",),
        )
    return name


def write_package(text: str, directory: Path | None = None) -> Path:
    """Write the package for a target of that name, and return its folder: ``directory``, or ``match-NAME`` in the
    current folder. UsageError MATCH-U051 if the folder exists and is not empty, or cannot be written."""
    name = target_name(text)
    folder = directory or Path(f"match-{name.replace('_', '-')}")
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise _unusable(folder, "it exists and is not an empty folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            for place, content in package_files(name):
                path = staging / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            staging.chmod(0o755)
            staging.rename(folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise _unusable(folder, error.strerror or str(error)) from error
    return folder


def package_files(name: str) -> Iterator[tuple[str, str]]:
    """(path, text) of each file of the package for a target of this name."""
    from match_core.lower.templates import Templates
    from match_core.plugin.markers import CONTRACT_VERSION
    from match_core.version import __version__

    templates, module = Templates((_TEMPLATES,)), f"match_{name}"
    major, minor = __version__.split(".")[:2]
    view: dict[str, object] = {
        "name": name,
        "module": module,
        "distribution": f"match-{name.replace('_', '-')}",
        "guard": name.upper(),
        "contract": CONTRACT_VERSION,
        "core_version": f"{major}.{minor}",
        "core_bound": f"{major}.{int(minor) + 1}",
    }
    for template, place in FILES.items():
        yield place.format(name=name, module=module), templates.render(template, view)
    yield f"src/{module}/py.typed", ""


def _unusable(folder: Path, why: str) -> UsageError:
    return UsageError(
        code="MATCH-U051",
        what="the package cannot be written",
        where=str(folder),
        why=why,
        help=("choose another folder: -o DIR",),
    )
