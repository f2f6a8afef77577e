"""Searches for the smallest change of a layer that moves it to another unit."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.errors import MatchError
from match_core.contract.observe import NullObserver
from match_core.pipeline import decide, prepare

from match_report.advice.edits import LESS, edits_of
from match_report.advice.isolate import layer_graph, to_proto
from match_report.advice.runner import runner

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx
    import onnx_graphsurgeon as gs
    from match_core.contract.model import Model
    from match_core.pipeline import CompileRequest
    from match_core.plugin.facade import Plugins

    from match_report.advice.edits import Edit


@dataclass(frozen=True)
class Flip:
    """With ``parameter`` of the layer changed from ``before`` to ``after``, ``unit_after`` runs it. Cycles are modelled
    for the layer as a separate network; ``model`` is that network with the change; ``less_work``: it does less."""

    parameter: str
    before: str
    after: str
    unit_before: str
    unit_after: str
    cycles_before: int
    cycles_after: int
    model: onnx.ModelProto
    less_work: bool

    @property
    def saves_cycles(self) -> int:
        """Modelled cycles that the layer takes less with the same work; 0 if it takes more, or does less."""
        return 0 if self.less_work else max(0, self.cycles_before - self.cycles_after)

    def change(self, node: str) -> str:
        """What to change, and what that does to the layer of ``node``."""
        moves = f"moves {node} from {self.unit_before} to {self.unit_after}"
        return f"{self.parameter} {self.before} -> {self.after} {moves}"


@dataclass(frozen=True)
class FlipSearch:
    """``unit``: the unit that runs the layer as a separate network, None if it cannot be separated; ``tried``: the
    number of changes tried; ``flip``: None if none of them moves the layer."""

    unit: str | None
    tried: int
    flip: Flip | None


def find_flip(source: Model, names: Sequence[str], request: CompileRequest, plugins: Plugins) -> FlipSearch:
    """Try the edits of a layer, smallest first and those that do less work last, until one moves it and makes it
    faster; if none does, return the smallest that moves it. ``names``: its source nodes, with the main computing node
    first."""
    graph = layer_graph(source, names)
    before = _run(graph, names[0], request, plugins)
    if before is None:
        return FlipSearch(None, 0, None)
    unit, cycles = before
    first: Flip | None = None
    tried = 0
    for edit in edits_of(graph):
        tried += 1
        changed = graph.copy()
        after = run_edit(changed, edit, names[0], request, plugins)
        if after is None or after[0] == unit:
            continue
        units, costs = (unit, after[0]), (cycles, after[1])
        less = edit.size >= LESS
        flip = Flip(edit.parameter, edit.before, edit.after, *units, *costs, to_proto(changed), less)
        if flip.cycles_after < cycles:
            return FlipSearch(unit, tried, flip)
        first = first or flip
    return FlipSearch(unit, tried, first)


def run_edit(
    graph: gs.Graph, edit: Edit, name: str, request: CompileRequest, plugins: Plugins
) -> tuple[str, int] | None:
    """Run the edited layer; None if the edit is not applicable: shapes contradict each other, or no unit runs it."""
    try:
        edit.apply(graph)
    except (ValueError, IndexError):
        return None
    return _run(graph, name, request, plugins)


def _run(graph: gs.Graph, name: str, request: CompileRequest, plugins: Plugins) -> tuple[str, int] | None:
    """The unit that computes the node, and the modelled cycles of the whole graph; None if the graph cannot run, also
    because of a fault of a package, which concerns no network of the user's."""
    import onnx

    with tempfile.TemporaryDirectory(prefix="match-explain-") as folder:
        path = Path(folder, "layer.onnx")
        onnx.save(to_proto(graph), str(path))
        alone = replace(request, model=path, name=None, execution="sequential", dims=())
        try:
            planned, _ = decide(prepare(alone, plugins, NullObserver()), plugins, NullObserver())
        except MatchError:
            return None
    step = runner(planned, name)
    return None if step is None else (step.candidate.unit, planned.program.predicted_cycles)
