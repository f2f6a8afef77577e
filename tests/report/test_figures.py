"""Figures for papers: well-formed, plain text, deterministic, as looked at once."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from match_report.figures import figures
from match_report.figures.svg import Svg, fitted, log_ticks, ticks
from match_report.figures.timeline import joined
from match_report.view.timeline import Span

from tests.conftest import ROOT
from tests.examples import examples
from tests.report.documents import MARKUP, large_report, renamed, small_report

SVG = "{http://www.w3.org/2000/svg}"


def test_figures_as_golden_files(golden: Callable[[str, str], None]) -> None:
    for name, text in figures(small_report()).items():
        golden(name, text)


def test_files_are_the_same_in_two_processes() -> None:
    script = (
        "import hashlib; from match_report.render import render; from tests.report.documents import small_report\n"
        "for name, text in render(small_report()).items(): print(name, hashlib.sha256(text.encode()).hexdigest())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1 and "report.html" in printed.pop()


def test_without_a_twin_only_what_was_modelled_is_shown() -> None:
    report = {**small_report(), "measured": None}
    texts = figures(report)
    assert "twin" not in texts["timeline.svg"] and "modelled: 1,000 cycles" in texts["timeline.svg"]
    assert "modelled cycles" in texts["roofline.svg"]


def test_a_program_without_macs_and_buffers_has_figures() -> None:
    report = {**small_report(), "buffers": [], "swaps": []}
    for layer in report["layers"]:
        layer["macs"] = 0
    texts = figures(report)
    assert "no layer has MACs" in texts["roofline.svg"]
    ET.fromstring(texts["memory.svg"])


@pytest.mark.parametrize("name", [MARKUP, "\x1b[31m\x00\ud800", "a\nb", "&amp;", "]]>", "long" * 2000])
def test_names_stay_text(name: str) -> None:
    for text in figures(renamed(small_report(), lambda _: name)).values():
        root = ET.fromstring(text.encode("utf-8"))
        allowed = {f"{SVG}{tag}" for tag in ("svg", "title", "rect", "line", "circle", "polygon", "text")}
        assert {element.tag for element in root.iter()} <= allowed
        assert len(text) < 40_000


def test_many_events_make_a_figure_of_bounded_size() -> None:
    text = figures(large_report(events=20_000, nodes=10))["timeline.svg"]
    assert len(text) < 400_000
    ET.fromstring(text)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(0, 2), st.booleans())), st.integers(1, 6))
@settings(max_examples=examples(100))
def test_joined_spans_keep_all_of_them(steps: list[tuple[int, int, int, bool]], narrow: int) -> None:
    spans, time = [], 0
    for gap, length, layer, idle in steps:
        spans.append(Span(time + gap, time + gap + length, layer, "", idle))
        time += gap + length
    groups = joined(spans, narrow)
    assert [span for group in groups for span in group] == spans
    for group in groups:
        assert len({(span.layer, span.idle) for span in group}) == 1
        assert len(group) == 1 or all(span.end_cycles - span.start_cycles < narrow for span in group)


@given(st.floats(0, 1e9), st.integers(2, 12))
def test_ticks_are_round_and_few(high: float, count: int) -> None:
    found = ticks(0, high, count)
    assert found[0] == 0 and len(found) <= count + 2 and found[-1] <= high
    if len(found) > 1:
        assert str(found[1]).rstrip("0") in ("1", "2", "5")


def test_logarithmic_ticks() -> None:
    assert log_ticks(1.5, 30) == [2, 5, 10, 20]
    assert log_ticks(0.5, 2000) == [1, 10, 100, 1000]


def test_text_is_cut_to_its_room() -> None:
    assert fitted("convolution", 100) == "convolution"
    assert fitted("convolution", 40) == "convo…"
    assert fitted("convolution", 10) == ""
    assert Svg(10, "a").render().startswith("<svg ")
