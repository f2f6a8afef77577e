"""Two programs on one page, the files that it carries, and its fate when the program is compiled again."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from match_core.contract.sources import SourceFile, Sources
from match_core.emit.write import write_sources
from match_report.diff import diff_programs
from match_report.page import html_page
from match_report.read import read_report
from match_report.render import render, write_report
from match_report.view.comparison import comparison

from tests.report.browser import MISSING, Page, has_chromium
from tests.report.documents import deep_report, small_report, write_programs

needs_browser = pytest.mark.skipif(not has_chromium(), reason=MISSING)


def test_what_changed(tmp_path: Path) -> None:
    before, after = write_programs(tmp_path)
    found = comparison(read_report(before), read_report(after), diff_programs(before, after))
    assert [side["cycles"] for side in found["programs"]] == [1600, 1000] and found["same_model"]
    assert found["programs"][0]["bottleneck"]["unit"] == "host"
    assert found["layers"][0] == {"title": "dense", "before": 1000, "after": 400, "units": [["host"], ["array"]]}
    assert [row["title"] for row in found["layers"]] == ["dense", "quantise", "conv"], "equal ones too, shares added"
    assert found["options"] == [{"name": "without_units", "before": ["array"], "after": []}]
    busy = {row["unit"]: (row["before"], row["after"]) for row in found["busy"]}
    assert busy["host"] == (pytest.approx(0.75), pytest.approx(0.2)) and busy["array"] == (0.25, 0.8)
    assert found["moved"] == [{"node": "dense", "before": ("host",), "after": ("array",)}]
    assert found["files"] == [{"name": "small.c", "removed_lines": 1, "added_lines": 1}]


@needs_browser
def test_the_page_shows_both_programs(browser: Page, tmp_path: Path) -> None:
    from match_report.verbs.report import report_command

    before, after = write_programs(tmp_path)
    assert report_command(after, compare=before, quiet=True) == 0
    browser.open(after / "report" / "report.html", "#compare")
    headline = "small is 1.60 times as fast as before: 0.010 ms instead of 0.016 ms, modelled"
    assert browser.texts("#view-compare h2")[0] == headline
    rows = [row.text for row in browser.all("#compare-programs tbody tr")]
    assert "cycles, modelled 1,600 1,000 −600 (−37.5 %)" in rows
    assert "memory l3 0 bytes of 1.0 MiB 4.0 KiB of 1.0 MiB +4.0 KiB" in rows
    assert browser.texts("#compare-layers td.title") == ["densehost → array"]
    browser.click("compare-all")
    assert len(browser.all("#compare-layers tbody tr")) == 3
    assert browser.texts("#compare-moved td") == ["dense", "host", "array"]
    assert browser.texts("#compare-options td") == ["without_units", '["array"]', "[]"]
    assert browser.logged() == []


@needs_browser
def test_files_are_downloaded_without_a_network(browser: Page, tmp_path: Path) -> None:
    report = small_report()
    (tmp_path / "report.html").write_text(render(report)["report.html"], encoding="utf-8")
    browser.open(tmp_path / "report.html")
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.one("#download-list a[download='report.json']")
    links = browser.all("#download-list a")
    names = [link.text for link in links]
    assert {"report.json", "layers.csv", "memory.csv", "timeline.svg", "trace.json"} <= set(names)
    for name in ("report.json", "layers.csv"):
        links[names.index(name)].click()
        expected = report if name == "report.json" else render(report)[name]
        deadline = time.monotonic() + 10
        while not (tmp_path / name).exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert (json.loads(text) if name == "report.json" else text) == expected
    assert browser.logged() == [] and browser.requests()[0].startswith("file:")


def test_the_page_of_200_layers_is_small() -> None:
    """With the twin's 4,000 events and all files to download; python -m tests.report.speed measures its time."""
    size = len(render(deep_report())["report.html"])
    assert 100_000 < size < 2_000_000


def test_the_same_report_gives_the_same_page() -> None:
    assert html_page(small_report()) == html_page(small_report())


def program(text: str) -> Sources:
    source = SourceFile("net.c", text.encode("ascii"))
    manifest = {"schema": "match.lock", "files": {"net.c": source.sha256}}
    return Sources((SourceFile("match.lock.json", json.dumps(manifest).encode("ascii")), source))


def test_a_report_goes_with_its_program(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_sources(program("old"), out)
    write_report(small_report(), out / "report")
    assert (out / "report" / "report.html").exists()
    assert write_sources(program("new"), out) == ()
    assert sorted(path.name for path in out.iterdir()) == ["match.lock.json", "net.c"]


@pytest.mark.parametrize("touched", ["layers.csv", "notes.txt"])
def test_a_report_that_somebody_changed_stays(touched: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_sources(program("old"), out)
    files = write_report(small_report(), out / "report")
    (out / "report" / touched).write_text("mine", encoding="utf-8")
    write_sources(program("new"), out)
    assert {path.name for path in (out / "report").iterdir()} == {*files, touched}
