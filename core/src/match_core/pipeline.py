"""The one place that knows the order of the stages: load, transform, match, schedule, map, plan, emit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from match_core.observe import NullObserver, StageObserver
from match_core.transforms.base import PassContext, Precision

if TYPE_CHECKING:
    from collections.abc import Callable

    from match_core.emit.api import UnitApi
    from match_core.emit.sources import Sources
    from match_core.hardware import Soc, Unit
    from match_core.ir.model import Model
    from match_core.mapping.result import Assignment, Candidate, Candidates, Refusal
    from match_core.mapping.result import Mapping as UnitMapping
    from match_core.patterns.language import Pattern
    from match_core.planning.program import Program
    from match_core.plugin.host import Plugins

T = TypeVar("T")


@dataclass(frozen=True)
class CompileRequest:
    """What to compile. ``target`` None: the only one installed. ``only_units``: the host and these; ``without_units``
    are left out (``host`` may be named there too)."""

    model: Path
    target: str | None = None
    output: Path | None = None
    only_units: tuple[str, ...] = ()
    without_units: tuple[str, ...] = ()
    precision: Precision = "exact"


@dataclass(frozen=True)
class Compilation:
    """Everything the stages produced, up to the source files. ``source`` is the loaded model before transforms,
    ``model`` the integer graph: the contract that the program meets bit for bit."""

    source: Model
    model: Model
    soc: Soc
    units: tuple[Unit, ...]
    mapping: UnitMapping
    program: Program
    apis: Mapping[str, UnitApi]
    sources: Sources
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CompileResult:
    """A compilation and where its files were written."""

    compilation: Compilation
    output: Path | None


def compile_model(
    request: CompileRequest, plugins: Plugins, observer: StageObserver | None = None
) -> CompileResult:
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
    from match_core.units import enabled_units

    soc = plugins.soc(request.target)
    all_units = plugins.units_of(soc)
    units = enabled_units(soc, all_units, request.only_units, request.without_units)
    source = _stage(observer, "load", lambda: _load(request.model), _load_facts)
    model, notes = _stage(
        observer, "transform", lambda: _transform(source, PassContext(soc, all_units, request.precision), plugins), lambda r: _graph_facts(r[0])
    )
    for note in notes:
        observer.note(note)
    found = _stage(
        observer, "match", lambda: _match(model, soc, units, plugins), lambda r: {"candidates": len(r[0].legal)}
    )
    candidates, patterns = found
    scheduled = _stage(
        observer,
        "schedule",
        lambda: _schedule(candidates, soc, units, plugins),
        lambda r: {"schedules": len(r[0]), "refused": len(r[1])},
    )
    refused = (*candidates.refused, *scheduled[1])
    mapping = _stage(
        observer, "map", lambda: _map(model, scheduled[0], refused), lambda r: {"nodes": len(r.assignments)}
    )
    apis = {
        name: plugins.emit_api(soc, next(u for u in units if u.name == name))
        for name in sorted({a.candidate.unit for a in mapping.assignments})
    }
    program, request_emit = _stage(
        observer, "plan", lambda: _plan(source, model, mapping, soc, apis), lambda r: _plan_facts(r[0])
    )
    sources = _stage(
        observer,
        "emit",
        lambda: _emit(request, request_emit, mapping, plugins),
        lambda r: {"files": len(r.files), "bytes": sum(len(f.content) for f in r.files)},
    )
    return Compilation(source, model, soc, units, mapping, program, apis, sources, refused, notes)


def _stage(
    observer: StageObserver,
    name: str,
    work: Callable[[], T],
    facts: Callable[[T], Mapping[str, int | float | str]],
) -> T:
    observer.stage_started(name)
    result = work()
    observer.stage_finished(name, facts(result))
    return result


def _load(path: Path) -> Model:
    from match_core.frontend.load import load_model

    return load_model(path)


def _load_facts(model: Model) -> Mapping[str, int | float | str]:
    return {"nodes": len(model.graph.nodes)}


def _graph_facts(model: Model) -> Mapping[str, int | float | str]:
    return {"nodes": len(model.graph.nodes)}


def _plan_facts(program: Program) -> Mapping[str, int | float | str]:
    return {f"{use.memory}_bytes": use.used_bytes for use in program.memory}


def _transform(model: Model, context: PassContext, plugins: Plugins) -> tuple[Model, tuple[str, ...]]:
    from match_core.transforms.pipeline import core_passes, run_passes

    passes = (*core_passes(context.soc, context.units), *plugins.transforms(context.soc))
    result = run_passes(model, passes, context)
    return result, result.notes


def _match(
    model: Model, soc: Soc, units: tuple[Unit, ...], plugins: Plugins
) -> tuple[Candidates, Mapping[str, tuple[Pattern, ...]]]:
    from match_core.patterns.candidates import find_candidates

    patterns = {unit.name: tuple(plugins.patterns(unit)) for unit in units}
    return find_candidates(model.graph, [(unit, patterns[unit.name]) for unit in units]), patterns


def _schedule(
    candidates: Candidates, soc: Soc, units: tuple[Unit, ...], plugins: Plugins
) -> tuple[tuple[Assignment, ...], tuple[Refusal, ...]]:
    from match_core.mapping.result import Assignment, Refusal
    from match_core.schedule.loops import LoopSchedule

    by_name = {unit.name: unit for unit in units}
    assignments, refused = [], []
    cache: dict[object, object] = {}
    for candidate in candidates.legal:
        unit = by_name[candidate.unit]
        key = (unit.name, candidate.pattern.name, candidate.workload)
        if key not in cache:
            cache[key] = _schedule_one(candidate, soc, unit, plugins)
        result = cache[key]
        if isinstance(result, LoopSchedule):
            assignments.append(Assignment(candidate, result))
        else:
            need, have = result.need_bytes, result.have_bytes  # type: ignore[attr-defined]
            refused.append(
                Refusal(
                    candidate.unit,
                    candidate.pattern.name,
                    candidate.node_names,
                    f"the smallest tile fits {unit.memory}",
                    f"needs {need} bytes, {have} available",
                )
            )
    return tuple(assignments), tuple(refused)


def _schedule_one(candidate: Candidate, soc: Soc, unit: Unit, plugins: Plugins) -> object:
    from match_core.schedule.loops import ScheduleRequest

    budget = soc.memory(unit.memory).size_bytes if unit.memory else 0
    cost = plugins.cost(soc, unit, candidate.pattern)
    return plugins.schedule(
        ScheduleRequest(soc, unit, candidate.pattern.name, candidate.workload, cost, budget)
    )


def _map(model: Model, scheduled: tuple[Assignment, ...], refused: tuple[Refusal, ...]) -> UnitMapping:
    from match_core.mapping.mapper import choose
    from match_core.mapping.validate import validate_mapping

    mapping = choose(model, scheduled, refused)
    validate_mapping(model.graph, mapping)
    return mapping


def _plan(
    source: Model, model: Model, mapping: UnitMapping, soc: Soc, apis: Mapping[str, UnitApi]
) -> tuple[Program, object]:
    from match_core import __version__
    from match_core.emit.constants import ConstantPool
    from match_core.emit.lower import lower
    from match_core.emit.program import EmitRequest
    from match_core.planning.plan import plan
    from match_core.planning.validate import validate_program
    from match_core.report.titles import source_operators

    draft = ConstantPool(model.name)
    sizes = lower(model.name, mapping.assignments, apis, draft)
    scratch = {i: low.scratch_bytes for i, low in enumerate(sizes) if low is not None and low.scratch_bytes}
    program = plan(model, mapping, soc, constants=draft.sizes(), scratch_bytes=scratch)
    validate_program(model.graph, program)
    # Lowered again in the planned order, so that functions and constants are numbered as the program runs.
    pool = ConstantPool(model.name)
    lowered = lower(model.name, tuple(task.assignment for task in program.tasks), apis, pool)
    return program, EmitRequest(model, source_operators(source), program, lowered, pool, apis, __version__)


def _emit(
    request: CompileRequest, emit_request: object, mapping: UnitMapping, plugins: Plugins
) -> Sources:
    from match_core.emit.manifest import manifest
    from match_core.emit.program import EmitRequest, ProgramEmitter
    from match_core.emit.sources import SourceFile, Sources
    from match_core.mapping.partition import partition

    assert isinstance(emit_request, EmitRequest)
    emitter = ProgramEmitter(emit_request)
    mapped = partition(emit_request.model, mapping)
    graph = SourceFile(f"{emitter.name}.onnx", mapped.SerializeToString(deterministic=True))
    files = tuple(sorted((*emitter.emit(), graph), key=lambda file: file.name))
    options: dict[str, object] = {"only_units": sorted(request.only_units), "without_units": sorted(request.without_units)}
    options["precision"] = request.precision
    lock = manifest(emitter, mapping, files, _versions(plugins), options)
    return Sources((*files, lock))


def _versions(plugins: Plugins) -> dict[str, str]:
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
