"""A report as a file for Perfetto (ui.perfetto.dev) and Chrome: Google's Trace Event Format, complete events ("X")
with names of tracks ("M"). One cycle is written as one microsecond."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from match_core.io.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

#: The three groups of tracks; the format calls them processes.
MODELLED, TASKS, CLOCKS = 1, 2, 3
#: Layer, start, end.
Span = tuple[int, int, int]


def trace(report: Mapping[str, Any]) -> dict[str, Any]:
    """The document. "modelled": a track per unit, and one for swaps. If the twin was run, "tasks" has a track per
    context, in which a task lasts from its first event to its last, and "clocks" a track per clock with all events that
    occupy it."""
    titles = {layer["index"]: layer["title"] for layer in report["layers"]}
    events = [*_modelled(report)]
    if report["measured"] is not None:
        events += _measured(report["measured"], titles)
    return {"traceEvents": events, "otherData": {"unit": "1 us is 1 cycle", "program": report["name"]}}


def write_trace(path: Path, report: Mapping[str, Any]) -> None:
    """Write the document. UsageError MATCH-U045 if the file cannot be written."""
    with whole_file(path, "the timeline") as file:
        file.write((json.dumps(trace(report)) + "\n").encode("utf-8"))


def _modelled(report: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    yield _name("process_name", MODELLED, 0, "modelled")
    units = [unit["name"] for unit in report["units"]]
    for track, unit in enumerate(units):
        yield _name("thread_name", MODELLED, track, unit)
    for layer in report["layers"]:
        if not layer["view"]:
            track, span = units.index(layer["unit"]), (layer["start_cycles"], layer["end_cycles"])
            yield _event(MODELLED, track, layer["title"], layer["index"], *span)
    if report["swaps"]:
        yield _name("thread_name", MODELLED, len(units), "swaps")
    for swap in report["swaps"]:
        title, span = f"{swap['source']} to {swap['target']}", (swap["start_cycles"], swap["end_cycles"])
        yield _event(MODELLED, len(units), title, None, *span)


def _measured(measured: Mapping[str, Any], titles: Mapping[int, str]) -> Iterable[dict[str, Any]]:
    yield _name("process_name", TASKS, 0, "tasks")
    yield _name("process_name", CLOCKS, 0, "clocks")
    for track, (context, spans) in enumerate(lanes(measured)):
        yield _name("thread_name", TASKS, track, context)
        yield from (_event(TASKS, track, titles[layer], layer, start, end) for layer, start, end in spans)
    clocks = {int(event["clock"]): str(event["name"]) for event in measured["events"]}
    for clock in sorted(clocks):
        yield _name("thread_name", CLOCKS, clock, clocks[clock])
    for event in measured["events"]:
        span = (event["start_cycles"], event["end_cycles"])
        yield _event(CLOCKS, event["clock"], event["kind"], event["layer"], *span)


def lanes(measured: Mapping[str, Any]) -> list[tuple[str, list[Span]]]:
    """Tracks of tasks: (context, its tasks). A context that works on several tasks at once has several tracks, because
    tasks on one track must not overlap."""
    spans: dict[tuple[str, int], tuple[int, int]] = {}
    for event in measured["events"]:
        if event["layer"] is not None:
            key = str(event["context"]), int(event["layer"])
            start, end = spans.get(key, (event["start_cycles"], event["end_cycles"]))
            spans[key] = min(start, int(event["start_cycles"])), max(end, int(event["end_cycles"]))
    found: list[tuple[str, list[Span]]] = []
    for (context, layer), (start, end) in sorted(spans.items(), key=lambda item: (item[0][0], item[1])):
        free = next((lane for name, lane in found if name == context and lane[-1][2] <= start), None)
        if free is None:
            found.append((context, [(layer, start, end)]))
        else:
            free.append((layer, start, end))
    return found


def _name(kind: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": track, "args": {"name": name}}


def _event(process: int, track: int, name: str, layer: int | None, start: int, end: int) -> dict[str, Any]:
    where = {"ph": "X", "name": name, "pid": process, "tid": track}
    return {**where, "ts": start, "dur": end - start, "args": {} if layer is None else {"layer": layer}}
