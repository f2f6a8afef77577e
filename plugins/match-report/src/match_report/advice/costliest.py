"""Explains a whole network: the layers that cost most, what limits each, and what would help."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from match_core.contract.observe import NullObserver
from match_core.ir.titles import SILENT, source_operators
from match_core.pipeline import chosen_options, decide, prepare
from match_core.summary.document import report_document

from match_report.advice.commands import command_of
from match_report.advice.explain import computing_first
from match_report.advice.flip import find_flip
from match_report.advice.nearest import obstacles
from match_report.advice.recommendation import Recommendation, ordered
from match_report.advice.variants import variants
from match_report.view.estimates import estimate_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from match_core.contract.compilation import Planned
    from match_core.contract.observe import StageObserver
    from match_core.pipeline import CompileRequest, Prepared
    from match_core.plugin.facade import Plugins

    from match_report.advice.nearest import Obstacle

#: Layers that are explained.
LAYERS_MAX = 5
#: Layers below this share of the cycles get no search for a change of their own.
SHARE_MIN = 0.02

_PARTS = ("compute", "transfer", "launch", "sync")
Limit = Literal["compute", "transfers", "launches"]


@dataclass(frozen=True, slots=True)
class CostlyLayer:
    """A step of the program. ``limit``: the largest part of its modelled cost, of ``limit_cycles``; ``node``: its main
    source node; ``help``: the change that saves most of its cycles, ``saves_cycles`` in this layer; None if nothing
    that was tried does; ``estimate``: what of its cycles is an estimate."""

    title: str
    node: str
    unit: str
    pattern: str
    macs: int
    cycles: int
    share: float
    limit: Limit
    limit_cycles: int
    help: Recommendation | None
    saves_cycles: int | None
    estimate: str = ""


@dataclass(frozen=True)
class NetworkExplanation:
    """``report``: the report document of the sequential program; ``layers``: the costliest first; ``recommendations``:
    for the whole network, by what they save."""

    report: Mapping[str, Any]
    layers: tuple[CostlyLayer, ...]
    recommendations: tuple[Recommendation, ...]


def explain_network(
    request: CompileRequest, plugins: Plugins, observer: StageObserver | None = None, *, flips: bool = True
) -> NetworkExplanation:
    """Plan the network, plan it with other options, and search a change of each costly layer that a faster unit refuses
    (``flips``). The errors of ``match check`` if the model cannot run."""
    observer = observer or NullObserver()
    prepared = prepare(replace(request, execution="sequential"), plugins, observer)
    planned, _ = decide(prepared, plugins, observer)
    report = report_document(planned, chosen_options(request, planned.soc))
    tried = tuple(variants(report, planned, request, plugins, 0))
    steps = _merged(layer for layer in report["layers"] if not layer["view"])
    places = obstacles(prepared.model, prepared.candidates)
    names = source_operators(prepared.source)
    #: Float layers of a network that should be quantised are not worth a search.
    search = flips and all(entry.advice.kind != "quantise" for entry in tried)
    layers, moves = [], []
    for step in steps[:LAYERS_MAX]:
        node = next(iter(computing_first(step["onnx_names"], names)), step["title"])
        own = [name for name in step["onnx_names"] if names.get(name) not in SILENT] or step["onnx_names"]
        helps = [(entry.saves(planned, own), entry.advice) for entry in tried]
        observer.progress({"layer": node})
        total = planned.program.predicted_cycles
        found = _moves(step, node, places, prepared, request, plugins, total) if search else ()
        for move in found:
            helps.append((move.saves_cycles or 0, move))
            moves.append(move)
        layers.append(_layer(step, node, planned, helps))
    return NetworkExplanation(report, tuple(layers), ordered((*(entry.advice for entry in tried), *moves)))


def _merged(layers: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Steps of the same source nodes as one, the costliest first; it has the unit and the pattern of its costliest
    step, and the sums of their costs."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for layer in sorted(layers, key=lambda layer: -layer["predicted_cycles"]):
        groups.setdefault(tuple(layer["onnx_names"]), []).append(layer)
    merged = [
        {
            **first,
            "predicted_cycles": sum(layer["predicted_cycles"] for layer in (first, *others)),
            "estimate": "; ".join(dict.fromkeys(filter(None, map(estimate_of, (first, *others))))),
            "cost": {
                part: sum(layer["schedule"]["cost"][f"{part}_cycles"] for layer in (first, *others)) for part in _PARTS
            },
        }
        for first, *others in groups.values()
    ]
    return sorted(merged, key=lambda layer: -layer["predicted_cycles"])


def _moves(
    step: Mapping[str, Any],
    node: str,
    places: Sequence[Obstacle],
    prepared: Prepared,
    request: CompileRequest,
    plugins: Plugins,
    total: int,
) -> Iterator[Recommendation]:
    """The smallest change with which a unit that refuses the layer runs it faster."""
    near = [place for place in places if place.unit != step["unit"] and set(place.onnx_names) & set(step["onnx_names"])]
    if not near or step["predicted_cycles"] < SHARE_MIN * total:
        return
    names = computing_first(step["onnx_names"], source_operators(prepared.source))
    flip = find_flip(prepared.source, names, request, plugins).flip
    if flip is None or not flip.saves_cycles:
        return
    place = next((entry for entry in near if entry.unit == flip.unit_after), near[0])
    rules = "; ".join(f"{rule}, but {value}" for rule, value in place.rules)
    yield Recommendation(
        "unit",
        f"{place.unit} requires: {rules}",
        flip.change(node),
        command_of("explain", request, node),
        step["predicted_cycles"],
        total,
        flip.saves_cycles,
    )


def _layer(
    step: Mapping[str, Any], node: str, planned: Planned, helps: Sequence[tuple[int, Recommendation]]
) -> CostlyLayer:
    cost = step["cost"]
    parts: dict[Limit, int] = {
        "compute": cost["compute"],
        "transfers": cost["transfer"],
        "launches": cost["launch"] + cost["sync"],
    }
    limit = max(parts, key=lambda part: parts[part])
    saved, best = max(
        ((min(saved, step["predicted_cycles"]), advice) for saved, advice in helps),
        key=lambda entry: entry[0],
        default=(0, None),
    )
    return CostlyLayer(
        title=step["title"],
        node=node,
        unit=step["unit"],
        pattern=step["pattern"],
        macs=step["macs"],
        cycles=step["predicted_cycles"],
        share=step["predicted_cycles"] / max(1, planned.program.predicted_cycles),
        limit=limit,
        limit_cycles=parts[limit],
        help=best if saved > 0 else None,
        saves_cycles=saved if saved > 0 else None,
        estimate=step["estimate"],
    )
