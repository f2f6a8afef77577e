"""The timeline as a trace: every event is there, tracks are named, nothing overlaps on a track."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.errors import UsageError
from match_core.twin.run import NodeCycles, RunResult
from match_core.twin.timeline import CLOCKS, TASKS, trace, write_trace

CONTEXTS = ("host", "array")
LENGTH = 50


def _result(events: list[dict[str, Any]]) -> RunResult:
    nodes = tuple(NodeCycles(n, f"node {n}", (), "array", 1, 1) for n in range(4))
    return RunResult({}, LENGTH, {}, {}, nodes, tuple(events))


@st.composite
def _runs(draw: st.DrawFn) -> RunResult:
    """Clocks that advance, with events of any node, or of none."""
    events = []
    for clock, context in enumerate(CONTEXTS):
        times = sorted(draw(st.sets(st.integers(0, LENGTH), min_size=2)))
        for start, end in pairwise(times):
            node = draw(st.integers(-1, 3))
            event = {"clock": clock, "name": context, "kind": "work", "start": start, "end": end}
            events.append({**event, "node": node, "context": context})
    return _result(events)


def _tracks(document: dict[str, Any]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    tracks: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    return tracks


@given(_runs())
def test_every_event_is_on_a_named_track_without_overlap(result: RunResult) -> None:
    document = trace(result)
    tracks = _tracks(document)
    named = {(e["pid"], e["tid"]) for e in document["traceEvents"] if e["name"] == "thread_name"}
    assert set(tracks) <= named
    shown = sorted(
        (e["tid"], e["ts"], e["dur"]) for (process, _), es in tracks.items() for e in es if process == CLOCKS
    )
    assert shown == sorted((e["clock"], e["start"], e["end"] - e["start"]) for e in result.events)
    for events in tracks.values():
        ordered = sorted(events, key=lambda event: event["ts"])
        assert all(a["ts"] + a["dur"] <= b["ts"] for a, b in pairwise(ordered))


@given(_runs())
def test_a_task_lasts_from_its_first_event_to_its_last(result: RunResult) -> None:
    document = trace(result)
    contexts = {e["tid"]: e["args"]["name"] for e in document["traceEvents"] if e["ph"] == "M" and e["pid"] == TASKS}
    shown = {
        (contexts[track], e["args"]["node"]): (e["name"], e["ts"], e["ts"] + e["dur"])
        for (process, track), events in _tracks(document).items()
        if process == TASKS
        for e in events
    }
    expected = {}
    for context, node in {(e["context"], e["node"]) for e in result.events if e["node"] >= 0}:
        own = [e for e in result.events if (e["context"], e["node"]) == (context, node)]
        expected[context, node] = (f"node {node}", min(e["start"] for e in own), max(e["end"] for e in own))
    assert shown == expected


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write_trace(tmp_path / "no" / "trace.json", _result([]))
    assert caught.value.code == "MATCH-U045"
