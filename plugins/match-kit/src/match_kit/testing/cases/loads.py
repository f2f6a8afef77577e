"""Level ``loads``: the package is found, imported, written for this contract, and complete."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from match_kit.testing.findings import Case, Finding

if TYPE_CHECKING:
    from match_kit.testing.subject import Subject

LEVEL = "loads"
#: Libraries that a hook module must not import: listing targets would load them.
HEAVY = ("onnx", "onnx_graphsurgeon", "onnxruntime", "ortools", "mako", "numpy")
#: Files of a package's project, and the purpose of each.
PROJECT_FILES = (
    ("pyproject.toml", "states how to build it, and its plugin"),
    ("README.md", "is its description in package indexes"),
    ("tests/test_conformance.py", "runs the conformance cases"),
)
CI_FOLDERS = (".github/workflows", ".gitlab-ci.yml", ".ci", ".circleci")


def _found(subject: Subject) -> Iterator[Finding]:
    if not subject.infos:
        yield Finding(
            "entry point",
            f"{subject.capabilities.package} is not installed, or has no entry point in the group match.plugins",
        )
    for fault in subject.plugins.faults:
        if fault.distribution in {info.distribution for info in subject.infos}:
            yield Finding(f"plugin {fault.entry_point}, {fault.stage}", f"{fault.code}: {fault.cause}")
    for info in subject.infos:
        if info.status == "active" and not info.targets and not info.units:
            yield Finding("match_hardware", f"plugin {info.name} defines no unit and no target")


def _light(subject: Subject) -> Iterator[Finding]:
    from match_core.plugin.places import module_of

    modules = [module_of(info.distribution, info.name) for info in subject.infos]
    code = f"import sys\n{''.join(f'import {name}{chr(10)}' for name in modules)}print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    for name in sorted(set(done.stdout.split()) & set(HEAVY)):
        yield Finding(f"module {', '.join(modules)}", f"importing it imports {name}; import that inside the hooks")


def _described(subject: Subject) -> Iterator[Finding]:
    from match_kit.testing.packages import description_of

    found = description_of(subject.capabilities.package)
    if found is None:
        yield Finding("metadata", "the package is not installed with its metadata", "skip")
        return
    core = next((text for text in found.requires if text.split(";")[0].startswith("match-core")), "")
    if "<" not in core:
        yield Finding("pyproject.toml, dependencies", f"match-core has no upper bound ({core or 'not named'})")
    if not found.text.strip():
        yield Finding("pyproject.toml, readme", "the package has no description")
    if not found.licence:
        yield Finding("pyproject.toml, license", "the package states no licence")


def _whole(subject: Subject) -> Iterator[Finding]:
    from match_core.plugin.places import import_folder

    for info in subject.infos:
        folder = import_folder(info.distribution, info.name)
        for name, use in (("__init__.py", "makes it a package"), ("py.typed", "states that it has types")):
            if folder is not None and not (folder / name).is_file():
                yield Finding(f"{folder.name}/{name}", f"the file is missing; it {use}")


def _project(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    if project is None or not (project / "src").is_dir():
        yield Finding("project", "its source folder is not known", "skip")
        return
    for name, use in PROJECT_FILES:
        if not (project / name).is_file():
            yield Finding(name, f"the file is missing; it {use}")
    roots = (project, project.parent, project.parent.parent)
    if not any(_holds_files(root / name) for root in roots for name in CI_FOLDERS):
        yield Finding(CI_FOLDERS[0], "it is missing: no CI runs the tests when the package changes")
    pages = [*project.glob("docs/*.md"), *(page for root in roots[1:] for page in root.glob("docs/*.md"))]
    for target in subject.targets:
        named = (
            page for page in pages if target.split("_")[0] in page.stem or f"`{target}`" in page.read_text("utf-8")
        )
        if not any(named):
            yield Finding(f"docs/{target}.md", "it is missing: no page describes the target to users")


def _holds_files(path: Path) -> bool:
    return path.is_file() or (path.is_dir() and any(inner.is_file() for inner in path.iterdir()))


def _capabilities(subject: Subject) -> Iterator[Finding]:
    from match_kit.testing.packages import capabilities_module

    for info in subject.infos:
        module, why = capabilities_module(info.distribution, info.name)
        if why:
            yield Finding(f"module {module}", why)
    unknown = set(subject.targets) - {name for info in subject.infos for name in info.targets}
    for name in sorted(unknown):
        yield Finding(f"target {name}", "the capabilities name it, but the package does not define it")


CASES = (
    Case(LEVEL, "found", "its entry point is found, its module can be imported, its hooks are valid", _found),
    Case(LEVEL, "light", "importing its hooks imports no slow library", _light),
    Case(LEVEL, "described", "its metadata bounds match-core, describes it and states a licence", _described),
    Case(LEVEL, "whole", "it is a typed package", _whole),
    Case(LEVEL, "project", "its project has a build file, README, tests, CI and a page for each target", _project),
    Case(LEVEL, "capabilities", "the capabilities that it declares exist", _capabilities),
)
