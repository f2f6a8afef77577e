"""The timeline of a run on the twin as a file that Perfetto (ui.perfetto.dev) and Chrome show: Google's Trace Event
Format, complete events ("X") with names of tracks ("M")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from match_core.io.files import whole_file
from match_core.twin.run import RunResult

#: Numbers of the two groups of tracks, which the format calls processes.
TASKS, CLOCKS = 1, 2
#: Node, start, end.
Span = tuple[int, int, int]


def trace(result: RunResult) -> dict[str, Any]:
    """The document: under "tasks" a track per context, where a task lasts from its first event to its last; under
    "clocks" a track per clock with all that occupies it. One cycle is written as one microsecond."""
    titles = {node.index: node.title for node in result.nodes}
    clocks = {int(event["clock"]): str(event["name"]) for event in result.events}
    tasks = _tasks(result)
    events = [_name("process_name", TASKS, 0, "tasks"), _name("process_name", CLOCKS, 0, "clocks")]
    for track, (context, spans) in enumerate(tasks):
        events.append(_name("thread_name", TASKS, track, context))
        events += [_event(TASKS, track, titles[node], node, start, end) for node, start, end in spans]
    events += [_name("thread_name", CLOCKS, clock, clocks[clock]) for clock in sorted(clocks)]
    events += [_event(CLOCKS, e["clock"], e["kind"], e["node"], e["start"], e["end"]) for e in result.events]
    return {"traceEvents": events, "otherData": {"unit": "1 us is 1 cycle on the twin"}}


def write_trace(path: Path, result: RunResult) -> None:
    """Write the document. UsageError MATCH-U045 where the place cannot be written."""
    with whole_file(path, "the timeline") as file:
        file.write((json.dumps(trace(result)) + "\n").encode("utf-8"))


def _tasks(result: RunResult) -> list[tuple[str, list[Span]]]:
    """Tracks of tasks: (context, its tasks as (node, start, end)). A context that works on several tasks at once has
    several tracks, because what is on one track must not overlap."""
    spans: dict[tuple[str, int], tuple[int, int]] = {}
    for event in result.events:
        if event["node"] >= 0:
            key = str(event["context"]), int(event["node"])
            start, end = spans.get(key, (event["start"], event["end"]))
            spans[key] = min(start, int(event["start"])), max(end, int(event["end"]))
    lanes: list[tuple[str, list[Span]]] = []
    for (context, node), (start, end) in sorted(spans.items(), key=lambda item: (item[0][0], item[1])):
        free = next((lane for name, lane in lanes if name == context and lane[-1][2] <= start), None)
        if free is None:
            lanes.append((context, [(node, start, end)]))
        else:
            free.append((node, start, end))
    return lanes


def _name(kind: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": process, "tid": track, "args": {"name": name}}


def _event(process: int, track: int, name: str, node: int, start: int, end: int) -> dict[str, Any]:
    where = {"ph": "X", "name": name, "pid": process, "tid": track}
    return {**where, "ts": start, "dur": end - start, "args": {"node": node} if node >= 0 else {}}
