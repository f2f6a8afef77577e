"""The timeline as a trace: every event is there, tracks are named, nothing overlaps on a track."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_core.contract.errors import UsageError
from match_report.trace import CLOCKS, MODELLED, TASKS, trace, write_trace

CONTEXTS = ("host", "array")
LENGTH = 50


def _report(events: list[dict[str, Any]]) -> dict[str, Any]:
    layers = [
        {"index": n, "title": f"layer {n}", "unit": "array", "view": n == 3, "start_cycles": n, "end_cycles": n + 1}
        for n in range(4)
    ]
    units = [{"name": name} for name in CONTEXTS]
    return {"name": "net", "units": units, "layers": layers, "swaps": [], "measured": {"events": events}}


@st.composite
def _runs(draw: st.DrawFn) -> dict[str, Any]:
    """Clocks that advance, with events of any node, or of none."""
    events = []
    for clock, context in enumerate(CONTEXTS):
        times = sorted(draw(st.sets(st.integers(0, LENGTH), min_size=2)))
        for start, end in pairwise(times):
            node = draw(st.integers(-1, 3))
            event = {"clock": clock, "name": context, "kind": "work", "start_cycles": start, "end_cycles": end}
            events.append({**event, "layer": node if node >= 0 else None, "context": context})
    return _report(events)


def _tracks(document: dict[str, Any]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    tracks: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    return tracks


@given(_runs())
def test_every_event_is_on_a_named_track_without_overlap(report: dict[str, Any]) -> None:
    document = trace(report)
    tracks = _tracks(document)
    named = {(e["pid"], e["tid"]) for e in document["traceEvents"] if e["name"] == "thread_name"}
    assert set(tracks) <= named
    shown = sorted(
        (e["tid"], e["ts"], e["dur"]) for (process, _), es in tracks.items() for e in es if process == CLOCKS
    )
    events = report["measured"]["events"]
    assert shown == sorted((e["clock"], e["start_cycles"], e["end_cycles"] - e["start_cycles"]) for e in events)
    for on_track in tracks.values():
        ordered = sorted(on_track, key=lambda event: event["ts"])
        assert all(a["ts"] + a["dur"] <= b["ts"] for a, b in pairwise(ordered))


@given(_runs())
def test_a_task_lasts_from_its_first_event_to_its_last(report: dict[str, Any]) -> None:
    document = trace(report)
    contexts = {e["tid"]: e["args"]["name"] for e in document["traceEvents"] if e["ph"] == "M" and e["pid"] == TASKS}
    shown = {
        (contexts[track], e["args"]["layer"]): (e["name"], e["ts"], e["ts"] + e["dur"])
        for (process, track), events in _tracks(document).items()
        if process == TASKS
        for e in events
    }
    expected = {}
    events = [event for event in report["measured"]["events"] if event["layer"] is not None]
    for context, layer in {(e["context"], e["layer"]) for e in events}:
        own = [e for e in events if (e["context"], e["layer"]) == (context, layer)]
        span = (min(e["start_cycles"] for e in own), max(e["end_cycles"] for e in own))
        expected[context, layer] = (f"layer {layer}", *span)
    assert shown == expected


def test_what_was_modelled_is_there_without_views() -> None:
    report = {**_report([]), "measured": None}
    report["swaps"] = [{"source": "a", "target": "b", "start_cycles": 3, "end_cycles": 9}]
    document = trace(report)
    tracks = _tracks(document)
    assert [event["name"] for event in tracks[MODELLED, 1]] == ["layer 0", "layer 1", "layer 2"]
    assert [(event["name"], event["ts"], event["dur"]) for event in tracks[MODELLED, 2]] == [("a to b", 3, 6)]
    assert {process for process, _ in tracks} == {MODELLED}


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write_trace(tmp_path / "no" / "trace.json", _report([]))
    assert caught.value.code == "MATCH-U045"
