"""Lanes of the planned timeline and of the twin's timeline, for every renderer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from match_report.trace import lanes as contexts
from match_report.view.links import copies_over

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Kind = Literal["unit", "link", "context", "clock"]


@dataclass(frozen=True, slots=True)
class Span:
    """[start, end) in cycles. ``idle``: a wait, which does not count as busy."""

    start_cycles: int
    end_cycles: int
    layer: int | None
    text: str
    idle: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """Spans by start; ``busy``: the fraction of the program's time that they cover; ``bottleneck``: the busiest lane of
    its kind (planned units, clocks of the twin)."""

    name: str
    kind: Kind
    unit: str | None
    spans: tuple[Span, ...]
    busy: float
    bottleneck: bool = False


def modelled_lanes(report: Mapping[str, Any]) -> tuple[Lane, ...]:
    """A lane per unit, per link that layers use, and one for swaps. Positions of copies within a layer are not
    modelled: they are one block at its start."""
    total = report["predicted_cycles"]
    lanes = [
        _lane(unit["name"], "unit", unit["name"], (_task(layer) for layer in computed(report, unit["name"])), total)
        for unit in report["units"]
    ]
    for link in report["links"]:
        copies = [_copies(layer) for layer in computed(report) if copies_over(report, link, layer)]
        swaps = [_swap(swap) for swap in report["swaps"] if _is_store_link(report, link)]
        if copies or swaps:
            lanes.append(_lane(link["name"], "link", None, (*copies, *swaps), total))
    return _marked(lanes, "unit")


def twin_lanes(report: Mapping[str, Any]) -> tuple[Lane, ...]:
    """A lane per clock of the twin; for concurrent programs, these follow a lane per context with its tasks from their
    first event to their last. Empty if the twin was not run."""
    measured = report["measured"]
    if measured is None:
        return ()
    total, titles = measured["cycles"], {layer["index"]: layer["title"] for layer in report["layers"]}
    lanes = []
    if report["queues"]:
        for context, tasks in contexts(measured):
            spans = (Span(start, end, layer, titles[layer]) for layer, start, end in tasks)
            lanes.append(_lane(context, "context", None, spans, total))
    by_clock: dict[int, list[Span]] = {}
    names: dict[int, str] = {}
    for event in measured["events"]:
        names[event["clock"]] = event["name"]
        by_clock.setdefault(event["clock"], []).append(_event(event, titles))
    units = {unit["name"] for unit in report["units"]}
    for clock in sorted(by_clock):
        unit = names[clock] if names[clock] in units else None
        lanes.append(_lane(names[clock], "clock", unit, by_clock[clock], total))
    return _marked(lanes, "clock")


def computed(report: Mapping[str, Any], unit: str | None = None) -> list[Mapping[str, Any]]:
    """Layers that run code, of one unit or of all."""
    return [layer for layer in report["layers"] if not layer["view"] and unit in (None, layer["unit"])]


def covered_cycles(spans: Iterable[Span]) -> int:
    """Cycles that at least one of the spans covers."""
    covered, end = 0, 0
    for span in sorted(spans, key=lambda span: span.start_cycles):
        covered += max(0, span.end_cycles - max(span.start_cycles, end))
        end = max(end, span.end_cycles)
    return covered


def _task(layer: Mapping[str, Any]) -> Span:
    share, more = layer["share"], ""
    if share is not None:
        more = f" ({share['dim']} {share['first']} to {share['first'] + share['size'] - 1})"
    return Span(layer["start_cycles"], layer["end_cycles"], layer["index"], layer["title"] + more)


def _copies(layer: Mapping[str, Any]) -> Span:
    end = min(layer["end_cycles"], layer["start_cycles"] + layer["schedule"]["cost"]["transfer_cycles"])
    return Span(layer["start_cycles"], end, layer["index"], f"copies of {layer['title']}")


def _swap(swap: Mapping[str, Any]) -> Span:
    return Span(swap["start_cycles"], swap["end_cycles"], None, f"swap {swap['source']} to {swap['target']}")


def _is_store_link(report: Mapping[str, Any], link: Mapping[str, Any]) -> bool:
    target = report["target"]
    return bool(link["near"] == target["home"] and link["far"] == target["store"])


def _event(event: Mapping[str, Any], titles: Mapping[int, str]) -> Span:
    layer = event["layer"]
    text = event["kind"] if layer is None else f"{event['kind']} of {titles[layer]}"
    return Span(event["start_cycles"], event["end_cycles"], layer, text, idle="wait" in event["kind"])


def _lane(name: str, kind: Kind, unit: str | None, spans: Iterable[Span], total_cycles: int) -> Lane:
    ordered = tuple(sorted(spans, key=lambda span: (span.start_cycles, span.end_cycles)))
    busy = covered_cycles(span for span in ordered if not span.idle)
    return Lane(name, kind, unit, ordered, busy / max(1, total_cycles))


def _marked(lanes: Sequence[Lane], kind: Kind) -> tuple[Lane, ...]:
    most = max((lane.busy for lane in lanes if lane.kind == kind), default=0.0)
    marked = []
    for lane in lanes:
        bottleneck = lane.kind == kind and 0 < lane.busy == most
        marked.append(Lane(lane.name, lane.kind, lane.unit, lane.spans, lane.busy, bottleneck))
    return tuple(marked)
