"""What must never be imported by what: the rooms of the core, the files of a room, and packages among each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

import pytest
import tomllib
from match_core.plugin.registry import HOOKS

from tests.architecture.scan import PACKAGES, Import, imports, sources
from tests.conftest import ROOT

#: The rooms of the core from the ground up: an arrow never points to a room further right. The package's own
#: ``__init__`` hands on names of the contract and is imported by packages only.
ROOMS = (
    *("version", "contract", "io", "ir", "validate", "patterns", "regions", "plugin", "board", "cp_sat"),
    *("load", "passes", "own_plugin", "match", "schedule", "map", "plan", "lower", "deploy", "emit", "summary"),
    *("pipeline", "run", "cli"),
)
#: Rooms that import the contract (and what is named) only, beside themselves.
GROUND = {
    "contract": set(),
    "io": {"contract"},
    "ir": {"contract"},
    "validate": {"contract"},
    "patterns": {"contract", "ir"},
    "plugin": {"contract", "io"},
}
#: What chip packages may import of the core besides the contract: documented in docs/plugins.md.
PUBLIC = (
    "match_core",
    "match_core.contract",
    "match_core.plugin.markers",
    "match_core.ir",
    "match_core.patterns",
    "match_core.validate",
    "match_core.lower.interfaces",
    "match_core.lower.templates",
)
#: Packages that work on compilations rather than describe chips: they may import all of the core.
TOOLS = {
    "match_calibrate",
    "match_export",
    "match_explore",
    "match_report",
    "match_verify",
    "match_kit",
    "match_qemu",
    "match_quant",
    "match_schedule",
    "match_tflite",
    "match_map",
    "match_concurrent",
    "match_beyond",
    "match_python",
}
#: What chips share -> what it may import of the core besides the public modules.
SHARED: Mapping[str, tuple[str, ...]] = {"match_host": (), "match_regions": ("match_core.regions",)}
#: Own modules that the core imports inside functions: (importer, imported) -> why not when the file is loaded.
INSIDE_FUNCTIONS: Mapping[tuple[str, str], str] = {
    ("cli.choices", "deploy.compile_options"): "the help of a verb needs no compiler",
    ("cli.choices", "deploy.figures"): "as for deploy.compile_options",
    ("cli.choices", "load.dims"): "as for deploy.compile_options",
    ("cli.compile", "pipeline"): "the help of a verb needs no compiler",
    ("cli.compile", "summary.document"): "as for pipeline",
    ("cli.compile", "summary.program_json"): "as for pipeline",
    ("cli.main", "plugin.facade"): "the core's verbs do without packages' verbs",
    ("cli.main", "version"): "asked for by --version only",
    ("cli.parameters", "plugin.facade"): "asked for by completion only",
    ("cli.plugins", "plugin.badge"): "the help of a verb needs no plugins",
    ("cli.plugins", "plugin.markers"): "pluggy is not needed for help",
    ("cli.session", "plugin.facade"): "the help of a verb needs no plugins",
    ("cli.session", "plugin.records"): "the help of a verb needs no plugins",
    ("own_plugin", "passes.standard"): "listing targets needs no passes",
    ("schedule.evaluate", "schedule.timeline"): "a program without accelerators needs no replay",
    ("schedule.parallel", "plugin.facade"): "only worker processes load plugins",
    ("validate.schedule", "validate.schedule_run"): "only schedules with loops are run",
}
#: Libraries that are loaded where they are used, because starting them takes longer than most verbs.
HEAVY_LATE = ("rich", "ortools", "mako", "onnxruntime")


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _own(package: str) -> Iterator[Import]:
    return (found for found in imports(package) if found.module.partition(".")[0] == package)


def _lines(wrong: Iterable[object]) -> str:
    return "\n".join(map(str, wrong))


def test_every_room_has_its_place() -> None:
    assert {_room(source.module) for source in sources() if source.package == "match_core"} - {""} == set(ROOMS)


def test_no_arrow_points_to_the_right() -> None:
    place = {room: number for number, room in enumerate(ROOMS)}
    wrong = [
        found
        for found in _own("match_core")
        if found.importer != "match_core" and place.get(_room(found.module), len(ROOMS)) > place[_room(found.importer)]
    ]
    assert not wrong, _lines(wrong)


def test_the_ground_floor_stands_alone() -> None:
    wrong = [
        found
        for found in _own("match_core")
        if _room(found.importer) in GROUND
        and _room(found.module) not in GROUND[_room(found.importer)] | {_room(found.importer)}
    ]
    assert not wrong, _lines(wrong)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_files_import_each_other_in_a_circle(package: str) -> None:
    """At import time, in functions and for types."""
    graph: dict[str, set[str]] = {}
    for found in _own(package):
        if found.module != found.importer:
            graph.setdefault(found.importer, set()).add(found.module)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_imports_inside_functions_have_their_reasons() -> None:
    found = {
        (entry.importer.partition(".")[2], entry.module.partition(".")[2]): entry
        for entry in _own("match_core")
        if entry.when == "function"
    }
    assert not [str(entry) for pair, entry in found.items() if pair not in INSIDE_FUNCTIONS]
    assert not INSIDE_FUNCTIONS.keys() - found.keys(), "reasons of imports that are gone"
    assert len(found) <= 60


def test_the_core_imports_no_package() -> None:
    wrong = [
        found for found in imports("match_core") if found.module.partition(".")[0] in PACKAGES.keys() - {"match_core"}
    ]
    assert not wrong, _lines(wrong)


def test_no_string_of_the_core_names_a_module_of_a_package() -> None:
    others = PACKAGES.keys() - {"match_core"}
    wrong = [
        f"{source.module}:{line} {text!r}"
        for source in sources()
        if source.package == "match_core"
        for line, text in source.strings
        if text.partition(".")[0] in others and text not in HOOKS
    ]
    assert not wrong, _lines(wrong)


@pytest.mark.parametrize("package", sorted(PACKAGES.keys() - {"match_core"}))
def test_a_package_imports_only_packages_that_it_depends_on(package: str) -> None:
    project = tomllib.loads((PACKAGES[package].parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [entry for extra in project.get("optional-dependencies", {}).values() for entry in extra]
    needed = {entry.split(">")[0].strip().replace("-", "_") for entry in (*project["dependencies"], *extras)}
    wrong = [
        found for found in imports(package) if found.module.partition(".")[0] in PACKAGES.keys() - {package} - needed
    ]
    assert not wrong, _lines(wrong)


@pytest.mark.parametrize("package", sorted(PACKAGES.keys() - TOOLS - {"match_core"}))
def test_a_chip_imports_the_public_core_only(package: str) -> None:
    wrong = [
        found
        for found in imports(package)
        if found.module.partition(".")[0] == "match_core"
        and not _is_below(found.module, (*PUBLIC, *SHARED.get(package, ())))
    ]
    assert not wrong, _lines(wrong)


def _is_below(module: str, names: tuple[str, ...]) -> bool:
    return module in names or any(module.startswith(f"{name}.") for name in names if name != "match_core")


def test_no_chip_imports_another() -> None:
    shared = TOOLS | SHARED.keys() | {"match_core"}
    wrong = [
        found
        for found in imports()
        if found.module.partition(".")[0] in PACKAGES.keys() - shared
        and found.module.partition(".")[0] != found.importer.partition(".")[0]
    ]
    assert not wrong, _lines(wrong)


def test_the_library_does_not_import_the_command_line() -> None:
    wrong = [
        found
        for found in imports("match_core")
        if _room(found.importer) != "cli" and (_room(found.module) == "cli" or found.module.split(".")[0] == "typer")
    ]
    assert not wrong, _lines(wrong)


def test_one_module_knows_each_library_of_the_edge() -> None:
    """pluggy in the plug-in room, rich in the terminal; packages reach both through the core."""
    pluggy = {found.importer for found in imports() if found.module == "pluggy"}
    rich = {found.importer for found in imports() if found.module.split(".")[0] == "rich"}
    assert {_room(name) for name in pluggy} == {"plugin"}
    assert rich == {"match_core.cli.terminal", "match_explore.live"}  # a table that changes while a study runs


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    wrong = [
        found for found in imports("match_core") if found.module.split(".")[0] in HEAVY_LATE and found.when == "load"
    ]
    assert not wrong, _lines(wrong)


def test_the_public_modules_are_documented() -> None:
    text = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    assert [name for name in PUBLIC if f"`{name}`" not in text] == []
