"""The cheapest change of a layer with which another unit runs it, found by trying."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from match_core.advice.edits import edits_of
from match_core.advice.isolate import layer_graph, to_proto
from match_core.advice.runner import runner
from match_core.errors import InfeasibleError, ModelError, UnsupportedError
from match_core.observe import NullObserver
from match_core.pipeline import decide, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

    import onnx
    import onnx_graphsurgeon as gs

    from match_core.advice.edits import Edit
    from match_core.ir.model import Model
    from match_core.pipeline import CompileRequest
    from match_core.plugin.host import Plugins


@dataclass(frozen=True)
class Flip:
    """``parameter`` of the layer from ``before`` to ``after``: then ``unit_after`` runs it. Cycles are modelled, of the
    layer as a network of its own; ``model`` is that network, changed."""

    parameter: str
    before: str
    after: str
    unit_before: str
    unit_after: str
    cycles_before: int
    cycles_after: int
    model: onnx.ModelProto


@dataclass(frozen=True)
class FlipSearch:
    """``unit``: what runs the layer where it is a network of its own, None where it cannot be one; ``tried``: how many
    changes were tried; ``flip``: None where none of them moves the layer."""

    unit: str | None
    tried: int
    flip: Flip | None


def find_flip(source: Model, names: Sequence[str], request: CompileRequest, plugins: Plugins) -> FlipSearch:
    """Try the edits of a layer, the smallest first, until one moves it and makes it faster; where none does, the
    smallest that moves it counts. ``names``: its source nodes, the one that tells what it computes first."""
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
        after = _run_edit(changed, edit, names[0], request, plugins)
        if after is None or after[0] == unit:
            continue
        flip = Flip(edit.parameter, edit.before, edit.after, unit, after[0], cycles, after[1], to_proto(changed))
        if flip.cycles_after < cycles:
            return FlipSearch(unit, tried, flip)
        first = first or flip
    return FlipSearch(unit, tried, first)


def _run_edit(
    graph: gs.Graph, edit: Edit, name: str, request: CompileRequest, plugins: Plugins
) -> tuple[str, int] | None:
    """None where the edit makes no sense here: its shapes contradict each other, or nothing runs the result."""
    try:
        edit.apply(graph)
    except (ValueError, IndexError):
        return None
    return _run(graph, name, request, plugins)


def _run(graph: gs.Graph, name: str, request: CompileRequest, plugins: Plugins) -> tuple[str, int] | None:
    """The unit that computes the node, and the modelled cycles of the whole."""
    import onnx

    with tempfile.TemporaryDirectory(prefix="match-explain-") as folder:
        path = Path(folder, "layer.onnx")
        onnx.save(to_proto(graph), str(path))
        alone = replace(request, model=path, name=None, execution="sequential")
        try:
            planned, _ = decide(prepare(alone, plugins, NullObserver()), plugins, NullObserver())
        except (ModelError, UnsupportedError, InfeasibleError):
            return None
    step = runner(planned, name)
    return None if step is None else (step.candidate.unit, planned.program.predicted_cycles)
