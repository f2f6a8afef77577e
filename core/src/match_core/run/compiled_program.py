"""Running an emitted program directory on its target's twin."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from match_core.board.document import parse_board
from match_core.board.target import add_board
from match_core.contract.errors import UsageError
from match_core.contract.model import State
from match_core.contract.observe import NullObserver
from match_core.contract.quantisation import Quantisation
from match_core.contract.runner import RunRequest
from match_core.deploy.compile_options import adapted_soc
from match_core.deploy.figures import Figures, with_figures
from match_core.emit.manifest import NAME, SCHEMA_FILE
from match_core.emit.write import is_ours
from match_core.io.arrays import TensorSpec, as_sequence
from match_core.io.documents import read_document
from match_core.run.build import build
from match_core.run.compiler import BuildOptions
from match_core.run.execute import run_twin
from match_core.run.modes import check_mode, is_threads

if TYPE_CHECKING:
    from match_core.contract.hardware import Soc
    from match_core.contract.observe import StageObserver
    from match_core.contract.runner import Place, RunResult
    from match_core.contract.unit_api import UnitApi
    from match_core.plugin.facade import Plugins


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a program directory. UsageError MATCH-U030 if match did not write it, or it was changed so that
    it cannot be used."""
    if not is_ours(directory):
        raise _no_program(directory, f"{NAME} is missing or was not written by match")
    try:
        document = read_document(directory / NAME, json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
        for name in (store["file"] for store in document["stores"] if not (directory / store["file"]).is_file()):
            raise ValueError(f"there is no file {name}")
        names = {kind: {tensor["name"] for tensor in document[f"{kind}s"]} for kind in ("input", "output")}
        for state in document.get("states", ()):
            for kind in (kind for kind in names if state[kind] not in names[kind]):
                raise ValueError(f"there is no {kind} {state[kind][:80]!r}")
        return document
    except (OSError, ValueError) as error:
        raise _no_program(directory, f"{NAME} was changed: {error}") from error


def _no_program(where: object, why: str) -> UsageError:
    return UsageError(
        code="MATCH-U030",
        what="the directory holds no compiled program",
        where=str(where),
        why=why,
        help=("compile a program: match compile MODEL -t TARGET -o DIR",),
    )


def soc_of_program(document: Mapping[str, Any], plugins: Plugins) -> Soc:
    """The target of a program, with its options. ``document``: the manifest."""
    options = document["options"]
    if "board" in document:
        add_board(plugins, parse_board(document["board"], f"board of {document['name']}"))
    preset = options["preset"] or None
    soc = adapted_soc(plugins.soc(document["target"]), preset, tuple(options["memory"].items()))
    if options.get("figures"):
        values = tuple((str(unit), str(name), value) for unit, name, value in options["figures"])
        soc = with_figures(soc, preset, plugins.units_of(soc), Figures(NAME, soc.name, soc.preset, values))
    return replace(soc, mode="concurrent") if document["queues"] else soc


def units_of_program(document: Mapping[str, Any], plugins: Plugins) -> tuple[str, dict[str, UnitApi]]:
    """The host unit's name, and the interfaces of the host and of the units that the program uses, with one that the
    host copies with. ``document``: the manifest. UsageError MATCH-U030 if the target has no such units."""
    soc = soc_of_program(document, plugins)
    used = {node["unit"] for node in document["nodes"] if node["emitted"]} | {soc.host}
    copies = bool(document["stores"] or document["swap"])
    units = [unit for unit in plugins.units_of(soc) if copies or unit.name in used]
    apis = {unit.name: plugins.emit_api(soc, unit) for unit in units}
    for unit in sorted(used - set(apis)):
        raise _no_program(document["name"], f"{NAME} was changed: {soc.name} has no unit {unit[:80]!r}")
    stored = [name for name, api in sorted(apis.items()) if api.twin.load_store]
    apis = {name: api for name, api in apis.items() if name in used or (name in stored[:1] and used.isdisjoint(stored))}
    if copies and not stored:
        raise _no_program(document["name"], f"{NAME} was changed: it has a store, but the twin of {soc.name} has none")
    return soc.host, apis


def run_program(
    directory: Path,
    inputs: Mapping[str, NDArray[np.generic]],
    plugins: Plugins,
    sanitize: bool = False,
    mode: str = "eager",
    observer: StageObserver | None = None,
    place: Place | None = None,
    origin: str = "inputs",
) -> RunResult:
    """Build the program and run every sample, on its target's twin or at ``place``; the observer sees two stages.

    ``inputs`` by graph input name, with a leading sample axis or a single sample without one, from ``origin`` (for
    messages); the outputs have the same form. ``sanitize`` and ``mode`` (``run_twin``) are for the twin; the threads
    modes always run with the thread sanitizer. UsageError MATCH-U029 for a mode that the program does not support.
    """
    document, observer = read_manifest(directory), observer or NullObserver()
    check_mode(mode, document)
    states = [State(**entry) for entry in document.get("states", ())]
    samples = as_sequence(inputs, input_specs(document), origin, states, observer.note)
    soc, (_, apis) = soc_of_program(document, plugins), units_of_program(document, plugins)
    with tempfile.TemporaryDirectory(prefix="match-run-") as temporary:
        request = RunRequest(directory, document, samples.arrays, soc, apis, Path(temporary), observer)
        if place is None:
            result = _on_twin(request, sanitize, mode)
        else:
            result = place.runner.run(replace(request, detail=place.detail, options=place.options))
    return replace(result, outputs=samples.restore(result.outputs))


def _on_twin(request: RunRequest, sanitize: bool, mode: str) -> RunResult:
    observer, threads = request.observer, is_threads(mode)
    observer.stage_started("build")
    choices = BuildOptions(sanitize=sanitize and not threads, threads=threads)
    executable = build(request.folder, request.work, request.apis, request.soc.host, choices)
    observer.stage_finished("build", {})
    observer.stage_started("run")
    result = run_twin(executable, request.document, request.inputs, request.work, mode)
    count = len(next(iter(result.outputs.values()), ()))
    observer.stage_finished("run", {"samples": count, "cycles": result.cycles_total})
    return result


def input_specs(document: Mapping[str, Any]) -> list[TensorSpec]:
    """The form of the graph inputs that a manifest states."""
    return [TensorSpec(t["name"], tuple(t["shape"]), t["dtype"], _quantisation(t)) for t in document["inputs"]]


def _quantisation(tensor: Mapping[str, Any]) -> Quantisation | None:
    """Of a graph input in the manifest."""
    known = tensor.get("quantisation")
    return Quantisation(known["scale"], known["zero_point"]) if known else None
