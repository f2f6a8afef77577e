"""The one place that knows the order of the stages: load, transform, match, schedule, map, plan, emit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from match_core.observe import Facts, NullObserver, StageObserver
from match_core.options import CompileOptions, adapted_soc, enabled_units
from match_core.transforms.base import PassContext

if TYPE_CHECKING:
    from match_core.emit.api import UnitApi
    from match_core.emit.program import EmitRequest
    from match_core.emit.sources import Sources
    from match_core.hardware import Soc, Unit
    from match_core.ir.model import Model
    from match_core.mapping.result import Assignment, Candidates, Refusal
    from match_core.mapping.result import Mapping as UnitMapping
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
class Compilation:
    """Everything the stages produced, up to the source files. ``source`` is the loaded model before transforms,
    ``model`` the integer graph: the contract that the program meets bit for bit."""

    source: Model
    model: Model
    soc: Soc
    units: tuple[Unit, ...]
    objective: Objective
    mapping: UnitMapping
    program: Program
    apis: Mapping[str, UnitApi]
    sources: Sources
    refused: tuple[Refusal, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the passes want the user to know."""
        return self.model.notes


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
    soc = adapted_soc(plugins.soc(request.target), request.preset, request.memory)
    all_units = plugins.units_of(soc)
    units = enabled_units(soc, all_units, request.only_units, request.without_units)
    context = PassContext(soc, all_units, request.precision)

    source = _stage(observer, "load", lambda: _load(request), _nodes)
    model = _stage(observer, "transform", lambda: _transform(source, context, plugins), _nodes)
    for note in model.notes:
        observer.note(note)
    candidates = _stage(
        observer, "match", lambda: _match(model, units, plugins), lambda found: {"candidates": len(found.legal)}
    )
    scheduled, unfit = _stage(
        observer,
        "schedule",
        lambda: _schedule(request, candidates, soc, units, plugins),
        lambda answer: {"schedules": len(answer[0]), "refused": len(answer[1])},
    )
    refused = (*candidates.refused, *unfit)
    mapping = _stage(
        observer,
        "map",
        lambda: _map(request.objective, model, soc, units, scheduled, refused),
        lambda chosen: {"nodes": len(chosen.assignments)},
    )
    apis = {unit.name: plugins.emit_api(soc, unit) for unit in units if unit.name in mapping.units}
    planned = _stage(
        observer,
        "plan",
        lambda: _plan(source, model, mapping, soc, apis),
        lambda plan: {f"{use.memory}_bytes": use.used_bytes for use in plan.program.memory},
    )
    sources = _stage(
        observer,
        "emit",
        lambda: _emit(request, planned, mapping, plugins),
        lambda made: {"files": len(made.files), "bytes": sum(len(file.content) for file in made.files)},
    )
    return Compilation(source, model, soc, units, request.objective, mapping, planned.program, apis, sources, refused)


def _stage(observer: StageObserver, name: str, work: Callable[[], T], facts: Callable[[T], Facts]) -> T:
    observer.stage_started(name)
    result = work()
    observer.stage_finished(name, facts(result))
    return result


def _nodes(model: Model) -> Facts:
    return {"nodes": len(model.graph.nodes)}


def _load(request: CompileRequest) -> Model:
    from match_core.frontend.load import load_model

    return load_model(request.model, request.name)


def _transform(model: Model, context: PassContext, plugins: Plugins) -> Model:
    from match_core.transforms.pipeline import core_passes, run_passes

    passes = (*core_passes(context.soc, context.units), *plugins.transforms(context.soc))
    return run_passes(model, passes, context)


def _match(model: Model, units: tuple[Unit, ...], plugins: Plugins) -> Candidates:
    from match_core.patterns.candidates import find_candidates

    return find_candidates(model.graph, [(unit, plugins.patterns(unit)) for unit in units])


def _schedule(
    request: CompileRequest, candidates: Candidates, soc: Soc, units: tuple[Unit, ...], plugins: Plugins
) -> tuple[tuple[Assignment, ...], tuple[Refusal, ...]]:
    from match_core import __version__
    from match_core.schedule.cache import ScheduleCache, schedule_directory
    from match_core.schedule.candidates import Scheduler

    code = plugins.schedule_code() if request.cache else None
    cache = ScheduleCache(schedule_directory() if code else None, __version__, code or "")
    return Scheduler(soc, units, request.objective, plugins, cache).schedule_all(candidates)


def _map(
    objective: Objective,
    model: Model,
    soc: Soc,
    units: tuple[Unit, ...],
    scheduled: tuple[Assignment, ...],
    refused: tuple[Refusal, ...],
) -> UnitMapping:
    from match_core.mapping.mapper import choose
    from match_core.mapping.validate import validate_mapping
    from match_core.schedule.validate import validate_schedule

    mapping = choose(model, scheduled, refused, objective)
    validate_mapping(model.graph, mapping)
    for assignment in mapping.assignments:
        candidate, schedule = assignment.candidate, assignment.schedule
        unit = next(unit for unit in units if unit.name == candidate.unit)
        validate_schedule(candidate.workload, schedule, unit, soc, streamed=schedule.streamed(soc.home))
    return mapping


def _plan(source: Model, model: Model, mapping: UnitMapping, soc: Soc, apis: Mapping[str, UnitApi]) -> EmitRequest:
    """The planned program with everything that the emitter needs."""
    from match_core import __version__
    from match_core.emit.constants import ConstantPool
    from match_core.emit.lower import lower
    from match_core.emit.program import EmitRequest
    from match_core.planning.plan import plan
    from match_core.planning.validate import validate_program
    from match_core.report.titles import source_operators, task_title

    title = partial(task_title, model, source_operators(source))
    draft = ConstantPool(model.name)
    sizes = lower(model.name, mapping.assignments, apis, draft, title, soc)
    scratch = {i: low.scratch_bytes for i, low in enumerate(sizes) if low is not None and low.scratch_bytes}
    program = plan(model, mapping, soc, constants=draft.sizes(), scratch_bytes=scratch)
    validate_program(model.graph, program)
    # Lowered again in the planned order, so that functions and constants are numbered as the program runs.
    pool = ConstantPool(model.name)
    lowered = lower(model.name, tuple(task.assignment for task in program.tasks), apis, pool, title, soc)
    return EmitRequest(model, title, program, lowered, pool, apis, __version__)


def _emit(request: CompileRequest, planned: EmitRequest, mapping: UnitMapping, plugins: Plugins) -> Sources:
    from match_core.emit.manifest import manifest
    from match_core.emit.program import ProgramEmitter
    from match_core.emit.sources import SourceFile, Sources
    from match_core.mapping.partition import partition

    emitter = ProgramEmitter(planned)
    mapped = partition(planned.model, mapping).SerializeToString(deterministic=True)
    files = (*emitter.emit(), SourceFile(f"{emitter.name}.onnx", mapped))
    files = tuple(sorted(files, key=lambda file: file.name))
    options: dict[str, object] = {
        "only_units": sorted(request.only_units),
        "without_units": sorted(request.without_units),
        "precision": request.precision,
        "preset": planned.program.soc.preset,
        "memory": dict(sorted(request.memory)),
        "objective": request.objective,
    }
    return Sources((*files, manifest(emitter, mapping, files, _versions(plugins), options)))


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
