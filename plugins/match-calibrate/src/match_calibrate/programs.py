"""Measured programs: a compiled program's directory, its model compiled again with the same options, and its counters
joined to its layers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from match_core.board.document import parse_board
from match_core.board.target import add_board
from match_core.contract.errors import UsageError
from match_core.deploy.figures import Figures
from match_core.ir.titles import source_operators, task_title
from match_core.load.read import read_proto
from match_core.pipeline import CompileRequest, decide, prepare
from match_core.run.compiled_program import read_manifest

from match_calibrate.counters import Counter, read_counters
from match_calibrate.predict import Layer

if TYPE_CHECKING:
    from match_core.contract.compilation import Planned
    from match_core.contract.mapping import Assignment
    from match_core.contract.observe import StageObserver
    from match_core.plugin.facade import Plugins

    from match_calibrate.counters import Counters


@dataclass(frozen=True)
class Measured:
    """A layer with its counter. ``program``: the directory; ``title``: the source nodes; ``steps``: kernel calls."""

    program: str
    index: int
    title: str
    layer: Layer
    cycles: float

    @property
    def unit(self) -> str:
        """The unit that ran it."""
        return self.layer.assignment.candidate.unit

    @property
    def pattern(self) -> str:
        """The pattern that it matched."""
        return self.layer.assignment.candidate.pattern.name


@dataclass(frozen=True)
class Run:
    """A counter file with the program that it belongs to, compiled again."""

    directory: Path
    counters: Counters
    planned: Planned


def mismatch(where: str, why: str, *help_: str) -> UsageError:
    """MATCH-U074: counters and program do not belong together."""
    return UsageError("MATCH-U074", "the counters do not belong to the program", where, why, help_)


def pair(text: str) -> tuple[Path, Path]:
    """(directory, file) of ``DIR=FILE``. UsageError MATCH-U074 for another form."""
    directory, equals, file = text.partition("=")
    if not directory or not equals or not file:
        help_ = "name the program's directory: --counters build=counters.csv"
        raise mismatch(f"option --counters {text[:80]}", "it does not have the form DIR=FILE", help_)
    return Path(directory), Path(file)


def compiled_again(
    directory: Path, models: Mapping[str, Path], plugins: Plugins, observer: StageObserver, target: str | None
) -> Planned:
    """The decisions of a compiled program. UsageError MATCH-U074 if its model is not among ``models`` (by digest), or
    the same options now give another program."""
    manifest = read_manifest(directory)
    if manifest["queues"]:
        why = "its units run at the same time, so cycles of single layers say nothing about the model"
        raise mismatch(str(directory), why, "compile with --sequential, and measure again")
    if target not in (None, manifest["target"]) and not str(target).endswith(".toml"):
        raise mismatch(str(directory), f"it was compiled for {manifest['target']}, not for {target}")
    source = manifest["source"]
    if source["sha256"] not in models:
        names = ", ".join(str(path) for path in models.values())
        why = f"it was compiled from {source['file']} (sha256 {source['sha256'][:16]}); given: {names}"
        raise mismatch(str(directory), why, f"give this model too: match calibrate {source['file']} ...")
    request = _request(manifest, models[source["sha256"]], plugins)
    planned, _ = decide(prepare(request, plugins, observer), plugins, observer)
    now = [_facts(task.assignment) for task in planned.program.tasks]
    then = [_stated(node) for node in manifest["nodes"]]
    if now != then:
        index = next((n for n, (a, b) in enumerate(zip(now, then, strict=False)) if a != b), min(len(now), len(then)))
        why = "with the same options, the installed packages compile another program"
        raise mismatch(f"{directory}, layer {index}", why, "compile the model again, and measure again")
    return planned


def _request(manifest: Mapping[str, Any], model: Path, plugins: Plugins) -> CompileRequest:
    options = manifest["options"]
    if "board" in manifest:
        add_board(plugins, parse_board(manifest["board"], f"board of {manifest['name']}"))
    figures = None
    if "figures" in options:
        values = tuple((str(unit), str(name), value) for unit, name, value in options["figures"])
        figures = Figures(manifest["name"], manifest["target"], options["preset"], values)
    return CompileRequest(
        model,
        manifest["target"],
        only_units=tuple(options["only_units"]),
        without_units=tuple(options["without_units"]),
        without_passes=tuple(options["without_passes"]),
        quantized_io=options["quantized_io"],
        precision=options["precision"],
        preset=options["preset"] or None,
        memory=tuple(options["memory"].items()),
        objective=options["objective"],
        name=manifest["name"],
        dims=tuple(options.get("dims", {}).items()),
        states=tuple(options.get("states", {}).items()),
        execution="sequential",
        regions=options.get("regions", "cheapest"),
        region_min=tuple(options.get("region_min", {}).items()),
        figures=figures,
    )


def _facts(assignment: Assignment) -> tuple[object, ...]:
    schedule = assignment.schedule
    buffers = tuple((p.operand, p.memory, p.buffers, p.size_bytes) for p in schedule.placements)
    return assignment.candidate.unit, assignment.candidate.pattern.name, schedule.steps, buffers


def _stated(node: Mapping[str, Any]) -> tuple[object, ...]:
    buffers = tuple((b["operand"], b["memory"], b["buffers"], b["size_bytes"]) for b in node["buffers"])
    return node["unit"], node["pattern"], node["steps"], buffers


def digests(models: Sequence[Path], plugins: Plugins) -> dict[str, Path]:
    """The models by the digest that their programs state. ModelError if one cannot be read."""
    front_ends = plugins.front_ends()
    return {read_proto(path, front_ends)[1]: path for path in models}


def runs(
    pairs: Sequence[tuple[Path, Path]],
    models: Mapping[str, Path],
    plugins: Plugins,
    observer: StageObserver,
    target: str | None,
) -> tuple[Run, ...]:
    """All counter files with their programs; a program that has several files is compiled once."""
    counters = [read_counters(file) for _, file in pairs]
    planned: dict[Path, Planned] = {}
    for directory, _ in pairs:
        if directory not in planned:
            planned[directory] = compiled_again(directory, models, plugins, observer, target)
    made = tuple(Run(d, c, planned[d]) for (d, _), c in zip(pairs, counters, strict=True))
    figures = {(run.planned.soc.name, run.planned.soc.preset, run.planned.soc.figures) for run in made}
    if len(figures) > 1:
        told = "; ".join(sorted(f"{name}, preset {preset or '-'}" for name, preset, _ in figures))
        why = f"the programs were compiled for several targets, presets or figures files: {told}"
        raise mismatch("option --counters", why, "calibrate programs of one target and preset")
    return made


def measured(run: Run, plugins: Plugins) -> tuple[Measured, ...]:
    """The layers of a run that its file counts. UsageError MATCH-U074 for a layer that the program does not have, that
    is counted twice, or that another unit, pattern or number of tiles runs."""
    planned = run.planned
    operators = source_operators(planned.source)
    titles = {task.index: task_title(planned.model, operators, task.assignment) for task in planned.program.tasks}
    coded = {task.index: task for task in planned.program.tasks if not task.assignment.candidate.pattern.view}
    found: dict[int, Measured] = {}
    for row in run.counters.rows:
        where = f"{run.counters.file}, line {row.line}"
        index = _index(row, {n: titles[n] for n in coded if n not in found}, where, titles)
        if index in found or index not in coded:
            what = "counted twice" if index in found else "not a layer that has code"
            raise mismatch(where, f"layer {index} of {run.directory} is {what}")
        task = coded[index]
        layer = Layer.of(task.assignment, planned.soc, planned.units, plugins)
        made = Measured(str(run.directory), index, titles[index], layer, row.cycles)
        stated = {"unit": row.unit, "pattern": row.pattern, "tiles": row.tiles}
        actual = {"unit": made.unit, "pattern": made.pattern, "tiles": task.assignment.schedule.steps}
        for name, value in stated.items():
            if value not in ("", None, actual[name]):
                why = f"it states {name} {value}; layer {index} of {run.directory} has {actual[name]}"
                raise mismatch(where, why, "give the directory of the program that was measured")
        found[index] = made
    return tuple(found[index] for index in sorted(found))


def _index(row: Counter, left: Mapping[int, str], where: str, titles: Mapping[int, str]) -> int:
    if row.index is not None:
        return row.index
    wanted = _plain(row.title)
    cut = wanted if row.title.endswith("...") else None
    for index, title in left.items():
        plain = _plain(title)
        if plain == wanted or (cut is not None and plain.startswith(cut)):
            return index
    twice = any(_plain(title) == wanted for title in titles.values())
    why = f"layer {row.title[:80]!r} is " + ("counted twice, or has no code" if twice else "not in the program")
    raise mismatch(where, why, "use the titles of match compile, or an index column")


def _plain(title: str) -> str:
    """Titles without what applications and spreadsheets write differently."""
    return re.sub(r"[^0-9A-Za-z]+", "_", title).strip("_")
