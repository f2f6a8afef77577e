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
from match_core.deploy.compile_options import adapted_soc
from match_core.deploy.figures import Figures, with_figures
from match_core.emit.manifest import NAME
from match_core.emit.write import is_ours
from match_core.io.arrays import TensorSpec, as_sequence
from match_core.run.build import build
from match_core.run.compiler import BuildOptions
from match_core.run.execute import RunResult, run_twin
from match_core.run.modes import check_mode, is_threads

if TYPE_CHECKING:
    from match_core.contract.observe import StageObserver
    from match_core.contract.unit_api import UnitApi
    from match_core.plugin.facade import Plugins


def read_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of a program directory. UsageError MATCH-U030 if match did not write it."""

    if not is_ours(directory):
        raise UsageError(
            code="MATCH-U030",
            what="the directory holds no compiled program",
            where=str(directory),
            why=f"{NAME} is missing or was not written by match",
            help=("compile a program: match compile MODEL -t TARGET -o DIR",),
        )
    document: dict[str, Any] = json.loads((directory / NAME).read_text(encoding="utf-8"))
    return document


def units_of_program(document: Mapping[str, Any], plugins: Plugins) -> tuple[str, dict[str, UnitApi]]:
    """The host unit's name, and the interfaces of the host and of the units that the program uses. ``document``: the
    manifest."""

    options = document["options"]
    if "board" in document:
        add_board(plugins, parse_board(document["board"], f"board of {document['name']}"))
    preset = options["preset"] or None
    soc = adapted_soc(plugins.soc(document["target"]), preset, tuple(options["memory"].items()))
    if options.get("figures"):
        values = tuple((str(unit), str(name), value) for unit, name, value in options["figures"])
        soc = with_figures(soc, preset, plugins.units_of(soc), Figures(NAME, soc.name, soc.preset, values))
    if document["queues"]:
        soc = replace(soc, mode="concurrent")
    used = {node["unit"] for node in document["nodes"] if node["emitted"]} | {soc.host}
    return soc.host, {unit.name: plugins.emit_api(soc, unit) for unit in plugins.units_of(soc) if unit.name in used}


def run_program(
    directory: Path,
    inputs: Mapping[str, NDArray[np.generic]],
    plugins: Plugins,
    sanitize: bool = False,
    mode: str = "eager",
    observer: StageObserver | None = None,
) -> RunResult:
    """Build the program with its target's twin and run every sample; the observer sees two stages.

    ``inputs`` by graph input name, with a leading sample axis or a single sample without one; the outputs have the same
    form. ``mode``: see ``run_twin``; the threads modes always run with the thread sanitizer. UsageError MATCH-U029 for
    a mode that the program does not support.
    """
    document = read_manifest(directory)
    check_mode(mode, document)
    specs = [TensorSpec(t["name"], tuple(t["shape"]), t["dtype"], _quantisation(t)) for t in document["inputs"]]
    samples = as_sequence(inputs, specs, "inputs", [State(**entry) for entry in document.get("states", ())])
    observer = observer or NullObserver()
    host, apis = units_of_program(document, plugins)
    with tempfile.TemporaryDirectory(prefix="match-twin-") as temporary:
        work = Path(temporary)
        threads = is_threads(mode)
        choices = BuildOptions(sanitize=sanitize and not threads, threads=threads)
        observer.stage_started("build")
        executable = build(directory, work, apis, host, choices)
        observer.stage_finished("build", {})
        observer.stage_started("run")
        result = run_twin(executable, document, samples.arrays, work, mode)
        count = len(next(iter(result.outputs.values()), ()))
        observer.stage_finished("run", {"samples": count, "cycles": result.cycles_total})
    return replace(result, outputs=samples.restore(result.outputs))


def _quantisation(tensor: Mapping[str, Any]) -> Quantisation | None:
    """Of a graph input in the manifest."""
    known = tensor.get("quantisation")
    return Quantisation(known["scale"], known["zero_point"]) if known else None
