"""The one place that knows the order of the stages: load, transform, match, schedule, map, plan, emit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from match_core.deploying import Deploying, stage
from match_core.observe import Facts, NullObserver, StageObserver
from match_core.options import CompileOptions, adapted_soc, enabled_units, kept_passes
from match_core.transforms.base import PassContext

if TYPE_CHECKING:
    from match_core.emit.api import UnitApi
    from match_core.emit.lower import Title
    from match_core.emit.sources import Sources
    from match_core.hardware import Soc, Unit
    from match_core.ir.model import Model
    from match_core.mapping.result import Assignment, Candidates, Refusal
    from match_core.mapping.result import Mapping as UnitMapping
    from match_core.planning.deploy import Deployment
    from match_core.planning.program import Program
    from match_core.plugin.host import Plugins
    from match_core.schedule.loops import Objective

T = TypeVar("T")


@dataclass(frozen=True)
class CompileRequest(CompileOptions):
    """What to compile. ``target`` None: the only one installed; ``output`` None: nothing is written."""

    model: Path
    target: str | None = None
    output: Path | None = None


@dataclass(frozen=True)
class Prepared:
    """A transformed model and everything that could run somewhere. ``source`` is the loaded model before transforms;
    ``units``: those that are enabled."""

    request: CompileRequest
    source: Model
    model: Model
    soc: Soc
    units: tuple[Unit, ...]
    candidates: Candidates


@dataclass(frozen=True, kw_only=True)
class Planned:
    """What the stages decided. ``source`` is the loaded model before transforms, ``model`` the integer graph: the
    contract that the program meets bit for bit. ``offered``: the candidates with schedules that the mapping was chosen
    from. ``sequential_cycles``: modelled cycles of the program that runs one task after another, None where none was
    made."""

    source: Model
    model: Model
    soc: Soc
    units: tuple[Unit, ...]
    objective: Objective
    mapping: UnitMapping
    program: Program
    refused: tuple[Refusal, ...]
    offered: tuple[Assignment, ...]
    sequential_cycles: int | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the passes want the user to know."""
        return self.model.notes


@dataclass(frozen=True, kw_only=True)
class Compilation(Planned):
    """What the stages decided, and the source files made of it."""

    apis: Mapping[str, UnitApi]
    sources: Sources


@dataclass(frozen=True)
class CompileResult:
    """A compilation and where its files were written."""

    compilation: Compilation
    output: Path | None


def compile_model(request: CompileRequest, plugins: Plugins, observer: StageObserver | None = None) -> CompileResult:
    """Compile and, if ``request.output`` is given, write the program there (all files or none)."""
    from match_core.emit.write import check_output_directory, write_sources

    if request.output is not None:
        check_output_directory(request.output)
    compilation = build_program(request, plugins, observer or NullObserver())
    if request.output is not None:
        write_sources(compilation.sources, request.output)
    return CompileResult(compilation, request.output)


def build_program(request: CompileRequest, plugins: Plugins, observer: StageObserver) -> Compilation:
    """All stages from the model file to source files in memory."""
    planned, deployed = decide(prepare(request, plugins, observer), plugins, observer)
    sources = stage(
        observer,
        "emit",
        lambda: _emit(request, planned, deployed, plugins),
        lambda made: {"files": len(made.files), "bytes": sum(len(file.content) for file in made.files)},
    )
    decided = {entry.name: getattr(planned, entry.name) for entry in fields(Planned)}
    return Compilation(**decided, apis=deployed.apis, sources=sources)


def prepare(request: CompileRequest, plugins: Plugins, observer: StageObserver) -> Prepared:
    """Load, transform, match: what could run where."""
    soc = adapted_soc(plugins.soc(request.target), request.preset, request.memory)
    all_units = plugins.units_of(soc)
    units = enabled_units(soc, all_units, request.only_units, request.without_units)
    context = PassContext(soc, all_units, request.precision)
    source = stage(observer, "load", lambda: _load(request), _nodes)
    model = stage(observer, "transform", lambda: _transform(source, context, plugins, request), _nodes)
    for note in model.notes:
        observer.note(note)
    candidates = stage(
        observer,
        "match",
        lambda: _match(model, units, plugins, context, request),
        lambda found: {"candidates": len(found.legal)},
    )
    return Prepared(request, source, model, soc, units, candidates)


def decide(prepared: Prepared, plugins: Plugins, observer: StageObserver) -> tuple[Planned, Deployment]:
    """Schedule, map, plan: what runs where and when."""
    request, soc, units = prepared.request, prepared.soc, prepared.units
    titles = partial(_titles, prepared.source)
    made = Deploying(request, soc, units, plugins, observer, prepared.model, prepared.candidates, titles).run()
    deployed = made.deployment
    planned = Planned(
        source=prepared.source,
        model=made.model,
        soc=deployed.program.soc,
        units=units,
        objective=request.objective,
        mapping=deployed.mapping,
        program=deployed.program,
        refused=made.refused,
        offered=made.offered,
        sequential_cycles=made.sequential_cycles,
    )
    return planned, deployed


def _nodes(model: Model) -> Facts:
    return {"nodes": len(model.graph.nodes)}


def _load(request: CompileRequest) -> Model:
    from match_core.frontend.load import load_model

    return load_model(request.model, request.name)


def _transform(model: Model, context: PassContext, plugins: Plugins, options: CompileOptions) -> Model:
    from match_core.transforms.pipeline import core_passes, run_passes

    passes = (*core_passes(context.soc, context.units, options.quantized_io), *plugins.transforms(context.soc))
    return run_passes(model, kept_passes(passes, options.without_passes, context.soc.name), context)


def _match(
    model: Model, units: tuple[Unit, ...], plugins: Plugins, context: PassContext, options: CompileOptions
) -> Candidates:
    from match_core.patterns.candidates import find_candidates
    from match_core.regions.choice import with_minimum

    asked = [
        (unit, [with_minimum(pattern, options.region_min) for pattern in plugins.patterns(unit, context)])
        for unit in units
    ]
    return find_candidates(model.graph, asked)


def _titles(source: Model, model: Model) -> Title:
    from match_core.report.titles import source_operators, task_title

    return partial(task_title, model, source_operators(source))


def _emit(request: CompileRequest, planned: Planned, deployed: Deployment, plugins: Plugins) -> Sources:
    from match_core import __version__
    from match_core.emit.manifest import manifest
    from match_core.emit.program import EmitRequest, ProgramEmitter
    from match_core.emit.sources import SourceFile, Sources
    from match_core.mapping.partition import partition
    from match_core.report.document import NAME, report_document, report_text

    model, program, mapping = planned.model, planned.program, planned.mapping
    title = _titles(planned.source, model)
    emitter = ProgramEmitter(
        EmitRequest(model, title, program, deployed.lowered, deployed.pool, deployed.apis, __version__)
    )
    mapped = partition(model, mapping).SerializeToString(deterministic=True)
    options = chosen_options(request, program.soc.preset)
    report = report_text(report_document(planned, options)).encode("utf-8")
    files = (*emitter.emit(), SourceFile(f"{emitter.name}.onnx", mapped), SourceFile(NAME, report))
    files = tuple(sorted(files, key=lambda file: file.name))
    board = plugins.board_of(program.soc)
    text = board.text if board is not None else ""
    return Sources((*files, manifest(emitter, mapping, files, _versions(plugins), options, text)))


def chosen_options(request: CompileRequest, preset: str) -> dict[str, object]:
    """What the user chose, as manifest and report state it; of regions where it is not the default."""
    regions: dict[str, object] = {} if request.regions == "cheapest" else {"regions": request.regions}
    if request.region_min:
        regions["region_min"] = dict(sorted(request.region_min))
    return {
        **regions,
        "only_units": sorted(request.only_units),
        "without_units": sorted(request.without_units),
        "without_passes": sorted(request.without_passes),
        "quantized_io": request.quantized_io,
        "precision": request.precision,
        "preset": preset,
        "memory": dict(sorted(request.memory)),
        "objective": request.objective,
    }


def _versions(plugins: Plugins) -> dict[str, str]:
    """Versions of the libraries that shape the result and of the packages whose units it uses."""
    names = ["onnx", "onnx-graphsurgeon", "numpy", "mako", "ortools"]
    used = {answer.plugin for answer in plugins.answers if answer.hook in ("match_cost", "match_emit_api")}
    names += [info.distribution for info in plugins.plugins() if info.name in used]
    found = {}
    for name in sorted(set(names)):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
