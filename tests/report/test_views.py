"""Lanes, memory maps, roofs and places that all renderers draw, on a report small enough to know them by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_report.view.layout import layered_layout
from match_report.view.network import network_view
from match_report.view.palette import unit_colours
from match_report.view.rectangles import Peak, Rectangle, memory_maps, peak
from match_report.view.roofline import layer_rows, link_roofs, unit_roofs
from match_report.view.timeline import Span, covered_cycles, modelled_lanes, twin_lanes

from tests.examples import examples
from tests.report.documents import small_report


@pytest.fixture
def report() -> dict[str, Any]:
    return small_report()


def test_modelled_lanes_are_units_and_links(report: dict[str, Any]) -> None:
    lanes = {lane.name: lane for lane in modelled_lanes(report)}
    assert [lane.kind for lane in lanes.values()] == ["unit", "unit", "unit", "link", "link"]
    assert {name: lane.busy for name, lane in lanes.items()} == pytest.approx(
        {"host": 0.2, "core": 0.3, "array": 0.8, "dma": 0.4, "flash": 0.45}
    )
    assert [name for name, lane in lanes.items() if lane.bottleneck] == ["array"]
    assert [span.text for span in lanes["array"].spans] == ["conv (K 0 to 11)", "dense"]
    assert {span.text for span in lanes["flash"].spans} == {"swap image to image_stored", "copies of dense"}
    assert [span.layer for span in lanes["dma"].spans] == [1, 4]


def test_twin_lanes_are_contexts_and_clocks(report: dict[str, Any]) -> None:
    lanes = [(lane.name, lane.kind, round(lane.busy * 1100)) for lane in twin_lanes(report)]
    contexts = [("array", "context", 880), ("core", "context", 300), ("host", "context", 210)]
    assert lanes[:3] == contexts
    assert lanes[3:] == [("host", "clock", 220), ("core", "clock", 300), ("array", "clock", 600), ("dma", "clock", 280)]
    (hot,) = [lane for lane in twin_lanes(report) if lane.bottleneck]
    assert (hot.name, hot.kind) == ("array", "clock")
    report["queues"] = []
    assert {lane.kind for lane in twin_lanes(report)} == {"clock"}
    report["measured"] = None
    assert twin_lanes(report) == ()


def test_waits_are_idle(report: dict[str, Any]) -> None:
    idle = [span.text for lane in twin_lanes(report) if lane.kind == "clock" for span in lane.spans if span.idle]
    assert idle == ["wait for array", "wait for dma of conv"]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20))))
@settings(max_examples=examples(100))
def test_covered_cycles_are_those_with_a_span(pairs: list[tuple[int, int]]) -> None:
    spans = [Span(start, start + length, None, "") for start, length in pairs]
    counted = {cycle for start, length in pairs for cycle in range(start, start + length)}
    assert covered_cycles(spans) == len(counted)


def test_memory_maps_hold_buffers_and_working_sets(report: dict[str, Any]) -> None:
    l1, l2, l3 = memory_maps(report)
    assert [(r.offset_bytes, r.size_bytes, r.label) for r in l1.rectangles] == [
        (0, 512, "input of conv"),
        (1024, 256, "output, buffer 1 of 2 of conv"),
        (1280, 256, "output, buffer 2 of 2 of conv"),
        (1536, 128, "scratch of conv"),
        (0, 1024, "weight of dense"),
        (1024, 64, "input of dense"),
    ]
    assert [r.label for r in l2.rectangles] == ["image_tensor", "features_tensor", "scratch of dense"]
    assert l2.arena_bytes == 6144 and l2.peak == Peak(200, 600, 4096)
    assert "holds weight: 1 x 1,024 bytes" in l2.rectangles[2].facts
    assert "swap: image to image_stored" in l2.rectangles[0].facts
    assert [(r.label, r.unit) for r in l3.rectangles] == [("image_stored_tensor", "array")]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10), st.integers(0, 20), st.integers(1, 9))))
@settings(max_examples=examples(100))
def test_the_peak_is_the_most_bytes_alive(entries: list[tuple[int, int, int, int]]) -> None:
    rectangles = [Rectangle(at, at + length, low, size, None, None, "", "", ()) for at, length, low, size in entries]
    found = peak(rectangles)
    alive = [
        len({byte for at, length, low, size in entries if at <= cycle < at + length for byte in range(low, low + size)})
        for cycle in range(41)
    ]
    if found is None:
        assert max(alive) == 0
    else:
        assert found.size_bytes == max(alive)
        assert all(alive[cycle] == max(alive) for cycle in range(found.start_cycles, found.end_cycles))


def test_rows_use_twin_cycles_where_there_are_any(report: dict[str, Any]) -> None:
    rows = {row.index: row for row in layer_rows(report)}
    assert list(rows) == [0, 1, 2, 4]
    assert rows[0].rate is None and rows[0].limit is None
    conv, dense = rows[1], rows[4]
    assert conv.rate == 64_000 / 400 and dense.rate == pytest.approx(2_000 / 480)
    assert dense.error == pytest.approx(400 / 480 - 1)
    assert conv.intensity == 32.0
    roofs = unit_roofs(report)
    assert roofs == {"array": pytest.approx(64_000 / 300), "core": pytest.approx(16_000 / 300)}
    assert conv.limit == "array" and conv.utilisation == conv.roof_share == pytest.approx(160 / roofs["array"])
    assert dense.limit == "dma" and dense.roof_share == pytest.approx(2_000 / 480 / 8)
    report["measured"] = None
    assert {row.index: row.rate for row in layer_rows(report)}[1] == 160.0
    assert all(row.twin_cycles is None and row.error is None for row in layer_rows(report))


def test_link_roofs_are_of_links_that_are_used(report: dict[str, Any]) -> None:
    assert link_roofs(report) == {"dma": 8, "flash": 1}
    report["layers"][4]["schedule"]["streamed"] = []
    assert link_roofs(report) == {"dma": 8}
    report["links"][1] = {**report["links"][0], "name": "second"}
    assert link_roofs(report) == {"dma, second": 8}


def test_units_have_colours_of_their_own(report: dict[str, Any]) -> None:
    assert len(set(unit_colours(report).values())) == 3


def test_weights_stand_above_their_consumer(report: dict[str, Any]) -> None:
    view = network_view(report)
    rows = {view.boxes[number].name: row for number, (_, row) in view.full.layout.nodes.items()}
    assert rows == {
        "image": 0,
        "quantise": 1,
        "dequantise": 2,
        "weight": 2,
        "conv": 3,
        "flatten": 4,
        "dense": 5,
        "scores": 6,
    }


def test_the_brief_drawing_bridges_what_only_converts(report: dict[str, Any]) -> None:
    view = network_view(report)
    shown = {view.boxes[number].name for number in view.brief.layout.nodes}
    assert shown == {"image", "conv", "dense", "scores"}
    edges = {(view.boxes[a].name, view.boxes[b].name) for a, b, _ in view.brief.edges}
    assert edges == {("image", "conv"), ("conv", "dense"), ("dense", "scores")}
    columns = {column for column, _ in view.brief.layout.nodes.values()}
    assert max(columns) - min(columns) < 0.01, "a chain is straight"


@st.composite
def _graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, 14))
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=25)) if pairs else []
    return count, edges


@given(_graphs())
@settings(max_examples=examples(150), deadline=None)
def test_a_layout_goes_down_and_nothing_overlaps(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = graph
    layout = layered_layout(range(count), edges, {0})
    assert set(layout.nodes) == set(range(count))
    for (a, b), points in zip(edges, layout.edges, strict=True):
        assert layout.nodes[a][1] < layout.nodes[b][1]
        assert points[0] == layout.nodes[a] and points[-1] == layout.nodes[b]
        assert [row for _, row in points] == list(range(points[0][1], points[-1][1] + 1))
    places = sorted((row, column) for column, row in layout.nodes.values())
    for (row, column), (next_row, next_column) in pairwise(places):
        assert row != next_row or next_column - column > 0.99
    consumers = {a: min(layout.nodes[b][1] for c, b in edges if c == a) for a, _ in edges}
    sources = set(consumers) - {b for _, b in edges}
    assert all(layout.nodes[node][1] == consumers[node] - 1 for node in sources)
