"""The packages that ``match new-target`` writes: a host, one unit of a kind, its tests, CI and documentation."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from match_core.contract.errors import UsageError, did_you_mean

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_TAKEN = frozenset({"match", "core", "host", "testing"})
#: Template -> file of the package; the scaffold replaces ``{name}`` and ``{module}``. Each kind adds its own.
_COMMON = {
    "pyproject.toml.mako": "pyproject.toml",
    "ci.yml.mako": ".github/workflows/ci.yml",
    "init.py.mako": "src/{module}/__init__.py",
    "plugin.py.mako": "src/{module}/plugin.py",
    "test_conformance.py.mako": "tests/test_conformance.py",
}
_OF_ALL = {
    "README.md.mako": "README.md",
    "page.md.mako": "docs/{name}.md",
    "hardware.py.mako": "src/{module}/hardware.py",
    "patterns.py.mako": "src/{module}/patterns.py",
    "cost.py.mako": "src/{module}/cost.py",
    "emit.py.mako": "src/{module}/emit.py",
    "conformance.py.mako": "src/{module}/conformance.py",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of package. ``files``: as ``_COMMON``, in the folder of the kind's templates; ``view``: words that common
    templates insert."""

    about: str
    files: Mapping[str, str]
    view: Mapping[str, str]


KINDS = {
    "tiles": Kind(
        "a small accelerator with a scratchpad and a DMA",
        {**_OF_ALL, "sdk.h.mako": "src/{module}/c/{name}_sdk.h", "twin.c.mako": "src/{module}/c/{name}_twin.c"},
        {"unit": "array", "costs": " and of its DMA", "calls": "The SDK's functions"},
    ),
    "regions": Kind(
        "an engine that runs chains of layers, whose weights stay in it",
        {
            **_OF_ALL,
            "program.py.mako": "src/{module}/program.py",
            "sdk.h.mako": "src/{module}/c/{name}_sdk.h",
            "regions.c.mako": "src/{module}/c/{name}_regions.c",
            "twin.c.mako": "src/{module}/c/{name}_twin.c",
        },
        {"unit": "engine", "costs": "'s regions", "calls": "The SDK's functions"},
    ),
    "library": Kind(
        "a library of operators, called from C",
        {
            **_OF_ALL,
            "source.py.mako": "src/{module}/source.py",
            "library.h.mako": "src/{module}/c/{name}.h",
            "library.c.mako": "src/{module}/c/{name}.c",
        },
        {"unit": "library", "costs": "'s regions", "calls": "The library's functions"},
    ),
}


def files_of(kind: str) -> dict[str, str]:
    """Template -> file of a package of this kind."""
    return {**_COMMON, **{f"{kind}/{name}": place for name, place in KINDS[kind].files.items()}}


def known_kind(text: str) -> str:
    """The kind; UsageError MATCH-U054 if there is none of this name."""
    if text in KINDS:
        return text
    raise UsageError(
        code="MATCH-U054",
        what="there is no such kind of package",
        where=f"option --kind, {text[:60]!r}",
        why=f"the kinds are {', '.join(f'{name} ({kind.about})' for name, kind in KINDS.items())}",
        help=did_you_mean(text, KINDS, "--kind {}") or ("for example --kind tiles",),
    )


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


def write_package(text: str, directory: Path | None = None, kind: str = "tiles") -> Path:
    """Write the package for a target of that name and kind, and return its folder: ``directory``, or ``match-NAME`` in
    the current folder. UsageError MATCH-U051 if the folder exists and is not empty, or cannot be written."""
    name, kind = target_name(text), known_kind(kind)
    folder = directory or Path(f"match-{name.replace('_', '-')}")
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise _unusable(folder, "it exists and is not an empty folder")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            for place, content in package_files(name, kind):
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


def package_files(name: str, kind: str = "tiles") -> Iterator[tuple[str, str]]:
    """(path, text) of each file of the package for a target of this name and kind."""
    from match_core.lower.templates import Templates
    from match_core.plugin.markers import CONTRACT_VERSION
    from match_core.version import __version__

    templates, module = Templates((_TEMPLATES,)), f"match_{name}"
    major, minor = __version__.split(".")[:2]
    versions = (f"{major}.{minor}", f"{major}.{int(minor) + 1}")
    view: dict[str, object] = {
        **KINDS[kind].view,
        "requires": () if kind == "tiles" else ("regions",),
        "name": name,
        "module": module,
        "distribution": f"match-{name.replace('_', '-')}",
        "guard": name.upper(),
        "contract": CONTRACT_VERSION,
        "core_version": versions[0],
        "core_bound": versions[1],
    }
    for template, place in files_of(kind).items():
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
