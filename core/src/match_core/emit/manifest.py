"""``match.lock.json``: what was compiled, with versions and options, and the digest of every file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.sources import SourceFile

if TYPE_CHECKING:
    from match_core.contract.mapping import Mapping as UnitMapping
    from match_core.contract.mapping import SolverStatus
    from match_core.contract.program import Program, Task
    from match_core.contract.quantisation import Quantisation
    from match_core.contract.views import TensorView
    from match_core.emit.program_files import ProgramEmitter
    from match_core.lower.lower import Lowered

NAME = "match.lock.json"
#: The schema of the manifest of a folder inside a program that tools derived from it, such as its report.
DERIVED = "match.derived"
#: The JSON Schema of what readers of a manifest rely on.
SCHEMA_FILE = Path(__file__).with_name("manifest-schema.json")
SCHEMA_VERSION = 1


def manifest(
    emitter: ProgramEmitter,
    mapping: UnitMapping,
    files: tuple[SourceFile, ...],
    versions: Mapping[str, str],
    options: Mapping[str, object],
    board: str = "",
) -> SourceFile:
    """The manifest of a program as stable text: sorted keys, no time, no path. ``board``: the board file, if the target
    is one; the twin uses it to find the target."""
    request = emitter.request
    program = request.program
    document = {
        "schema": "match.lock",
        "schema_version": SCHEMA_VERSION,
        "name": emitter.name,
        "target": program.soc.name,
        **({"board": board} if board else {}),
        "source": {"file": request.model.source, "sha256": request.model.source_sha256},
        "versions": dict(versions),
        "options": dict(options),
        "inputs": [_tensor(view, request.model.quantised_ends) for view in emitter.inputs],
        "outputs": [_tensor(view, request.model.quantised_ends) for view in emitter.outputs],
        **({"states": [asdict(state) for state in request.model.states]} if request.model.states else {}),
        "arenas": [_fields(a, "memory field size_bytes alignment_bytes") for a in emitter.arenas],
        "stores": [_fields(s, "memory field file size_bytes alignment_bytes") for s in emitter.stores],
        "swap": next((_fields(a, "memory field size_bytes alignment_bytes") for a in emitter.swap_areas), None),
        "state": "state",
        "state_bytes": emitter.state_bytes,
        "memory": {
            use.memory: _fields(use, "used_bytes available_bytes arena_bytes constant_bytes caller_bytes")
            for use in program.memory
        },
        "nodes": [_node(emitter, task, lowered) for task, lowered in zip(program.tasks, request.lowered, strict=True)],
        "queues": [{**_fields(q, "name kind"), "tasks": list(q.tasks)} for q in program.queues],
        "signalling": _signalling(program),
        "regions": emitter.regions.manifest(),
        "swaps": [
            {
                **_fields(s, "index source target size_bytes start_cycles cycles"),
                "needs": dict(s.needs),
                **({} if program.queues else _fields(s, "source_start target_start")),
            }
            for s in program.swaps
        ],
        "images": {
            image.name: list(image.sources) for image in emitter.images(emitter.c_files(file.name for file in files))
        },
        "predicted_cycles": program.predicted_cycles,
        "solvers": {"mapping": _solver(mapping.solver), "allocation": _solver(program.allocation)},
        "files": {file.name: file.sha256 for file in files},
    }
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
    return SourceFile(NAME, text.encode("utf-8"))


def _node(emitter: ProgramEmitter, task: Task, lowered: Lowered | None) -> dict[str, object]:
    candidate, schedule = task.assignment.candidate, task.assignment.schedule
    node: dict[str, object] = {
        "index": task.index,
        "title": emitter.title(task),
        "onnx_names": list(emitter.request.model.origin(candidate.match.nodes)),
        "unit": candidate.unit,
        "pattern": candidate.pattern.name,
        "predicted_cycles": schedule.cost.total_cycles,
        "emitted": lowered is not None,
        "steps": schedule.steps,
        "buffers": [_fields(placement, "operand memory buffers size_bytes") for placement in schedule.placements],
    }
    if candidate.share is not None:
        node["share"] = _fields(candidate.share, "dim first size")
    if emitter.request.program.queues:
        times = {"start_cycles": task.start_cycles, "cycles": task.cycles}
        node |= {"queue": task.queue, "needs": dict(task.needs), **times}
    return node


def _signalling(program: Program) -> dict[str, object] | None:
    """The Soc's figures, in a concurrent program."""
    figures = program.soc.signalling
    if not program.queues or figures is None:
        return None
    return _fields(figures, "kind post_cycles wake_cycles notify_cycles task_cycles")


def _fields(view: object, names: str) -> dict[str, object]:
    return {name: getattr(view, name) for name in names.split()}


def _tensor(view: TensorView, ends: Mapping[str, Quantisation]) -> dict[str, object]:
    sizes = {"dtype": view.dtype, "shape": list(view.shape)}
    quantised = {"quantisation": ends[view.name].as_json()} if view.name in ends else {}
    return {"name": view.name, "field": view.field, "memory": view.memory, **sizes, **quantised}


def _solver(status: SolverStatus) -> dict[str, object]:
    return _fields(status, "solver status objective bound")
