"""``match.lock.json``: what was compiled, with which versions and options, and the digest of every file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from match_core.emit.sources import SourceFile

if TYPE_CHECKING:
    from match_core.emit.program import ProgramEmitter
    from match_core.emit.view import TensorView
    from match_core.mapping.result import Mapping as UnitMapping
    from match_core.mapping.result import SolverStatus

NAME = "match.lock.json"
SCHEMA_VERSION = 1


def manifest(
    emitter: ProgramEmitter,
    mapping: UnitMapping,
    files: tuple[SourceFile, ...],
    versions: Mapping[str, str],
    options: Mapping[str, object],
) -> SourceFile:
    """The manifest of a program, stable text: sorted keys, no time, no path."""
    request = emitter.request
    program = request.program
    document = {
        "schema": "match.lock",
        "schema_version": SCHEMA_VERSION,
        "name": emitter.name,
        "target": program.soc.name,
        "source": {"file": request.model.source, "sha256": request.model.source_sha256},
        "versions": dict(versions),
        "options": dict(options),
        "inputs": [_tensor(view) for view in emitter.inputs],
        "outputs": [_tensor(view) for view in emitter.outputs],
        "arenas": [
            {
                "memory": a.memory,
                "field": a.field,
                "size_bytes": a.size_bytes,
                "alignment_bytes": a.alignment_bytes,
            }
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
        "nodes": [
            {
                "index": task.index,
                "title": emitter.title(task),
                "onnx_names": list(request.model.origin(task.assignment.candidate.match.nodes)),
                "unit": task.assignment.candidate.unit,
                "pattern": task.assignment.candidate.pattern.name,
                "predicted_cycles": task.assignment.schedule.cost.total_cycles,
                "emitted": lowered is not None,
                "steps": task.assignment.schedule.steps,
                "buffers": [
                    {"operand": p.operand, "memory": p.memory, "buffers": p.buffers, "size_bytes": p.size_bytes}
                    for p in task.assignment.schedule.placements
                ],
            }
            for task, lowered in zip(program.tasks, request.lowered, strict=True)
        ],
        "predicted_cycles": program.predicted_cycles,
        "solvers": {
            "mapping": _solver(mapping.solver),
            "allocation": _solver(program.allocation),
        },
        "files": {file.name: file.sha256 for file in files},
    }
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
    return SourceFile(NAME, text.encode("utf-8"))


def _tensor(view: TensorView) -> dict[str, object]:
    return {"name": view.name, "field": view.field, "dtype": view.dtype, "shape": list(view.shape)}


def _solver(status: SolverStatus) -> dict[str, object]:
    return {
        "solver": status.solver,
        "status": status.status,
        "objective": status.objective,
        "bound": status.bound,
    }
