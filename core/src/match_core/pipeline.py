"""The one place that knows the order of the stages: load, transform, match, schedule, map, plan, emit."""

from __future__ import annotations

import gc
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from match_core.board.target import target_soc
from match_core.contract.candidate import DISABLED, Candidates, Refusal
from match_core.contract.compilation import Compilation, Planned
from match_core.contract.errors import PluginError
from match_core.contract.exactness import Exact, ExactRequest
from match_core.contract.fallback import Left
from match_core.contract.observe import Facts, NullObserver, StageObserver
from match_core.contract.passes import PassContext
from match_core.contract.sources import SourceFile, Sources
from match_core.deploy.compile_options import CompileOptions, adapted_soc, check_exact, enabled_units, kept_passes
from match_core.deploy.deploying import Deploying
from match_core.deploy.deployment import stage
from match_core.deploy.figures import with_figures
from match_core.emit.code_size import code_notes
from match_core.emit.manifest import manifest
from match_core.emit.partition import partition
from match_core.emit.program_files import EmitRequest, ProgramEmitter
from match_core.emit.stated_ends import stated_ends
from match_core.emit.write import check_output_directory, write_sources
from match_core.ir.functions import ARITH
from match_core.ir.titles import source_operators, task_title
from match_core.load.load import load_model
from match_core.load.states import with_states
from match_core.match.candidates import find_candidates
from match_core.passes.pipeline import run_passes
from match_core.regions.body import with_passes
from match_core.regions.choice import with_minimum
from match_core.summary.document import NAME, report_document, report_text
from match_core.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from match_core.contract.exactness import ExactChoice
    from match_core.contract.hardware import Soc, Unit
    from match_core.contract.model import Model
    from match_core.contract.passes import Observer
    from match_core.contract.pattern import Pattern
    from match_core.deploy.deployment import Deployment
    from match_core.lower.lower import Title
    from match_core.plugin.facade import Plugins

T = TypeVar("T")


@dataclass(frozen=True)
class CompileRequest(CompileOptions):
    """What to compile. ``target`` None: the only one installed; ``output`` None: no files are written."""

    model: Path
    target: str | None = None
    output: Path | None = None


@dataclass(frozen=True)
class Prepared:
    """A transformed model with its candidates. ``request``: with the nodes that are exact for its ``max_loss``, which
    ``choice`` explains; ``source``: the loaded model before transforms; ``units``: the enabled ones."""

    request: CompileRequest
    source: Model
    model: Model
    soc: Soc
    units: tuple[Unit, ...]
    candidates: Candidates
    choice: ExactChoice | None = None


@dataclass(frozen=True)
class CompileResult:
    """A compilation and where its files were written."""

    compilation: Compilation
    output: Path | None


def compile_model(request: CompileRequest, plugins: Plugins, observer: StageObserver | None = None) -> CompileResult:
    """Compile and, if ``request.output`` is given, write the program there (all files or none)."""
    if request.output is not None:
        check_output_directory(request.output)
    compilation = build_program(request, plugins, observer or NullObserver())
    if request.output is not None:
        for name in write_sources(compilation.sources, request.output):
            note = f"{name} in {request.output} was changed after match wrote it: the changed file is now {name}.kept"
            (observer or NullObserver()).note(note)
    return CompileResult(compilation, request.output)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Graphs are large webs that live long: by default, a tenth of the time goes into searching them for garbage."""
    before = gc.get_threshold()
    gc.set_threshold(1_000_000, 5, 5)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_rare_collections()
def build_program(request: CompileRequest, plugins: Plugins, observer: StageObserver) -> Compilation:
    """All stages from the model file to source files in memory."""
    prepared = prepare(request, plugins, observer)
    request = prepared.request
    planned, deployed = decide(prepared, plugins, observer)
    sources = stage(
        observer,
        "emit",
        lambda: _emit(request, planned, deployed, plugins),
        lambda made: {"files": len(made.files), "bytes": sum(len(file.content) for file in made.files)},
    )
    stored = deployed.pool.sizes() if planned.soc.mapped else deployed.pool.stored_sizes()
    for note in code_notes(planned.model, planned.soc, stored, sources):
        observer.note(note)
    decided = {entry.name: getattr(planned, entry.name) for entry in fields(Planned)}
    return Compilation(**decided, apis=deployed.apis, sources=sources)


def prepare(request: CompileRequest, plugins: Plugins, observer: StageObserver) -> Prepared:
    """Load, transform, match: the candidates of all units."""
    soc = target_soc(plugins, request.target)
    all_units = plugins.units_of(soc)
    soc = with_figures(adapted_soc(soc, request.preset, request.memory), request.preset, all_units, request.figures)
    units = enabled_units(soc, all_units, request.only_units, request.without_units)
    source = stage(observer, "load", lambda: _load(request, plugins), _nodes)
    if request.max_loss is None:
        return _transformed(request, source, soc, units, plugins, observer)
    asked = _exact_request(request, source, soc, units, plugins)
    choice = stage(observer, "exact", lambda: plugins.exact(asked, soc), lambda made: {"nodes": len(made.exact)})
    request = replace(request, exact=(*request.exact, *choice.exact))
    prepared = _transformed(request, source, soc, units, plugins, observer)
    for note in choice.notes:
        observer.note(note)
    model = replace(prepared.model, notes=(*choice.notes, *prepared.model.notes))
    return replace(prepared, model=model, choice=choice)


def _exact_request(
    request: CompileRequest, source: Model, soc: Soc, units: tuple[Unit, ...], plugins: Plugins
) -> ExactRequest:
    """What a package needs to choose the nodes that are exact."""

    def trial(exact: Exact) -> CompileRequest:
        return replace(request, exact=(*request.exact, *exact), execution="sequential", max_loss=None)

    def made(exact: Exact, observers: Sequence[Observer]) -> Model:
        options = trial(exact)
        return transform(source, pass_context(options, soc, plugins.units_of(soc)), plugins, options, observers)

    def cycles(exact: Exact) -> list[tuple[tuple[str, ...], int]]:
        quiet = NullObserver()
        planned, _ = decide(_transformed(trial(exact), source, soc, units, plugins, quiet), plugins, quiet)
        found = planned.mapping.assignments
        return [(planned.model.origin(item.candidate.match.nodes), item.schedule.cost.total_cycles) for item in found]

    assert request.max_loss is not None
    return ExactRequest(source, request.max_loss, request.samples, made, cycles)


def _transformed(
    request: CompileRequest, source: Model, soc: Soc, units: tuple[Unit, ...], plugins: Plugins, observer: StageObserver
) -> Prepared:
    all_units = plugins.units_of(soc)
    context = replace(pass_context(request, soc, all_units), metadata=source.metadata)
    model = stage(observer, "transform", lambda: transform(source, context, plugins, request), _nodes)
    for note in model.notes:
        observer.note(note)
    candidates = stage(
        observer,
        "match",
        lambda: _match(model, units, all_units, plugins, context, request),
        lambda found: {"candidates": len(found.legal)},
    )
    return Prepared(request, source, model, soc, units, candidates)


def decide(prepared: Prepared, plugins: Plugins, observer: StageObserver) -> tuple[Planned, Deployment]:
    """Schedule, map, plan: what runs where and when."""
    request, soc, units = prepared.request, prepared.soc, prepared.units
    titles = partial(_titles, prepared.source)
    again = partial(
        _match,
        units=units,
        all_units=plugins.units_of(soc),
        plugins=plugins,
        context=pass_context(request, soc, plugins.units_of(soc)),
        options=request,
    )
    deploying = Deploying(request, soc, units, plugins, observer, prepared.model, prepared.candidates, titles, again)
    made = deploying.run()
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
        declined_cycles=made.declined_cycles,
        choice=prepared.choice,
        operators=prepared.candidates.operators,
    )
    return planned, deployed


def pass_context(options: CompileOptions, soc: Soc, units: tuple[Unit, ...]) -> PassContext:
    """What passes may know of an adapted Soc with these units."""
    return PassContext(soc, units, options.precision, options.quantized_io, frozenset(options.exact))


def transform(
    model: Model, context: PassContext, plugins: Plugins, options: CompileOptions, observers: Sequence[Observer] = ()
) -> Model:
    """The integer graph of a loaded model. UsageError MATCH-U039 if ``options.exact`` names a node that it lacks."""
    passes = kept_passes(plugins.transforms(context.soc), options.without_passes, context.soc.name)
    check_exact(options.exact, model.origin(model.graph.nodes), passes)
    made = run_passes(model, passes, context, observers)
    quantised = any("Quantize" in node.op or node.op.startswith("QLinear") for node in made.graph.nodes)
    integer = any(node.op.endswith("Integer") or node.domain == ARITH for node in made.graph.nodes)
    if not quantised or integer or made.left:
        return made
    rule, value = "a package makes quantised operators integer", "no active package does"
    left = Left(made.origin(made.graph.nodes), rule, value, ("Conv", "MatMul", "Add"), plugins.missing(context.soc))
    return replace(made, left=(left,))


def _nodes(model: Model) -> Facts:
    return {"nodes": len(model.graph.nodes)}


def _load(request: CompileRequest, plugins: Plugins) -> Model:
    model = load_model(request.model, request.name, plugins.front_ends(), request.dims)
    return with_states(model, request.states)


def _match(
    model: Model,
    units: tuple[Unit, ...],
    all_units: tuple[Unit, ...],
    plugins: Plugins,
    context: PassContext,
    options: CompileOptions,
) -> Candidates:
    """The candidates of the enabled ``units``; what others could run is among the refusals."""

    def offer(unit: Unit) -> tuple[Unit, list[Pattern]]:
        found = plugins.patterns(context.soc, unit, partial(with_passes, context=context))
        return unit, [with_minimum(pattern, options.region_min) for pattern in found]

    candidates = find_candidates(model.graph, [offer(unit) for unit in units])
    for unit in (unit for unit in all_units if unit not in units):
        with suppress(PluginError):  # it may be why the user disabled the unit
            idle = find_candidates(model.graph, [offer(unit)])
            omitted = f"--without-unit {unit.name} disables it" if unit.name in options.without_units else ""
            value = omitted or "--only-unit omits it"
            more = (Refusal(unit.name, c.pattern.name, c.node_names, DISABLED, value) for c in idle.legal)
            operators = {**candidates.operators, **idle.operators}
            candidates = replace(candidates, refused=(*candidates.refused, *more), operators=operators)
    return candidates


def _titles(source: Model, model: Model) -> Title:
    return partial(task_title, model, source_operators(source))


def _emit(request: CompileRequest, planned: Planned, deployed: Deployment, plugins: Plugins) -> Sources:

    model, program, mapping = planned.model, planned.program, planned.mapping
    title, ends = _titles(planned.source, model), stated_ends(planned.source.graph)
    emitter = ProgramEmitter(
        EmitRequest(model, title, program, deployed.lowered, deployed.pool, deployed.apis, __version__, ends)
    )
    mapped = partition(model, mapping).SerializeToString(deterministic=True)
    options = chosen_options(request, program.soc)
    report = report_text(report_document(planned, options)).encode("utf-8")
    files = (*emitter.emit(), SourceFile(f"{emitter.name}.onnx", mapped), SourceFile(NAME, report))
    files = tuple(sorted(files, key=lambda file: file.name))
    board = plugins.board_of(program.soc)
    text = board.text if board is not None else ""
    return Sources((*files, manifest(emitter, mapping, files, _versions(plugins, program.soc), options, text)))


def chosen_options(request: CompileRequest, soc: Soc) -> dict[str, object]:
    """The user's options, as manifest and report state them; those that change few programs only if they are given."""
    if_given: dict[str, object] = {
        "regions": "" if request.regions == "cheapest" else request.regions,
        "region_min": dict(sorted(request.region_min)),
        "figures": [list(figure) for figure in soc.figures],
        "dims": dict(request.dims),
        "states": dict(request.states),
        "exact": sorted(request.exact),
        "max_loss": request.max_loss,
    }
    return {
        **{name: value for name, value in if_given.items() if value not in ("", None, [], {})},
        "only_units": sorted(request.only_units),
        "without_units": sorted(request.without_units),
        "without_passes": sorted(request.without_passes),
        "quantized_io": request.quantized_io,
        "precision": request.precision,
        "preset": soc.preset,
        "memory": dict(sorted(request.memory)),
        "objective": request.objective,
    }


def _versions(plugins: Plugins, soc: Soc) -> dict[str, str]:
    """Versions of the libraries that affect the result and of the packages that define the target and its units."""
    names = ["onnx", "onnx-graphsurgeon", "numpy", "mako", "ortools"]
    infos = plugins.plugins()
    names += [info.distribution for info in infos if soc.name in info.targets or {*info.units} & {*soc.units}]
    found = {}
    for name in sorted(set(names)):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
