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
    from match_core.contract.views import TensorView
    from match_core.emit.program_files import ProgramEmitter
    from match_core.emit.view import SwapAreaView
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
        "inputs": [_tensor(view) for view in emitter.inputs],
        "outputs": [_tensor(view) for view in emitter.outputs],
        **({"states": [asdict(state) for state in request.model.states]} if request.model.states else {}),
        "arenas": [
            {"memory": a.memory, "field": a.field, "size_bytes": a.size_bytes, "alignment_bytes": a.alignment_bytes}
            for a in emitter.arenas
        ],
        "stores": [
            {
                "memory": s.memory,
                "field": s.field,
                "file": s.file,
                "size_bytes": s.size_bytes,
                "alignment_bytes": s.alignment_bytes,
            }
            for s in emitter.stores
        ],
        "swap": _swap_area(emitter.swap_areas),
        "state": "state",
        "state_bytes": emitter.state_bytes,
        "memory": {
            use.memory: {
                "used_bytes": use.used_bytes,
                "available_bytes": use.available_bytes,
                "arena_bytes": use.arena_bytes,
                "constant_bytes": use.constant_bytes,
                "caller_bytes": use.caller_bytes,
            }
            for use in program.memory
        },
        "nodes": [_node(emitter, task, lowered) for task, lowered in zip(program.tasks, request.lowered, strict=True)],
        "queues": [{"name": q.name, "kind": q.kind, "tasks": list(q.tasks)} for q in program.queues],
        "signalling": _signalling(program),
        "regions": emitter.regions.manifest(),
        "swaps": [
            {
                "index": swap.index,
                "source": swap.source,
                "target": swap.target,
                "size_bytes": swap.size_bytes,
                "start_cycles": swap.start_cycles,
                "cycles": swap.cycles,
                "needs": dict(swap.needs),
            }
            for swap in program.swaps
        ],
        "images": {image.name: list(image.sources) for image in emitter.images(emitter.c_files(files))},
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
        "buffers": [
            {"operand": p.operand, "memory": p.memory, "buffers": p.buffers, "size_bytes": p.size_bytes}
            for p in schedule.placements
        ],
    }
    if candidate.share is not None:
        node["share"] = {"dim": candidate.share.dim, "first": candidate.share.first, "size": candidate.share.size}
    if emitter.request.program.queues:
        times = {"start_cycles": task.start_cycles, "cycles": task.cycles}
        node |= {"queue": task.queue, "needs": dict(task.needs), **times}
    return node


def _signalling(program: Program) -> dict[str, object] | None:
    """The Soc's figures, in a concurrent program."""
    figures = program.soc.signalling
    if not program.queues or figures is None:
        return None
    return {
        "kind": figures.kind,
        "post_cycles": figures.post_cycles,
        "wake_cycles": figures.wake_cycles,
        "notify_cycles": figures.notify_cycles,
        "task_cycles": figures.task_cycles,
    }


def _swap_area(areas: tuple[SwapAreaView, ...]) -> dict[str, object] | None:
    for area in areas:
        return {
            "memory": area.memory,
            "field": area.field,
            "size_bytes": area.size_bytes,
            "alignment_bytes": area.alignment_bytes,
        }
    return None


def _tensor(view: TensorView) -> dict[str, object]:
    sizes = {"dtype": view.dtype, "shape": list(view.shape)}
    quantised = {} if view.quantisation is None else {"quantisation": view.quantisation.as_json()}
    return {"name": view.name, "field": view.field, "memory": view.memory, **sizes, **quantised}


def _solver(status: SolverStatus) -> dict[str, object]:
    return {"solver": status.solver, "status": status.status, "objective": status.objective, "bound": status.bound}
