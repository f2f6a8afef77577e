"""The page of a study in a browser; with 10,000 points it stays usable."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from match_explore.explored import Explored
from match_explore.points import Point
from match_explore.results.page import study_page
from match_explore.results.rows import Provenance, rows_of
from match_explore.study import Axis, Constraint, Limits, ModelFile, Strategy, Study

from tests.report.browser import MISSING, Page, chromium, has_chromium

pytestmark = pytest.mark.skipif(not has_chromium(), reason=MISSING)
MODEL = ModelFile("<b>net</b>", Path("net.onnx"), "0" * 64)
STUDY = Study(
    file=Path("s.toml"),
    sha256="1" * 64,
    name="a <study>",
    models=(MODEL,),
    targets=("one", "two"),
    axes=(Axis("memory.l1", tuple(range(1, 5001))),),
    objectives=("cycles", "near_bytes"),
    constraints=(Constraint("cycles", 0.0, 9e9),),
    strategy=Strategy(),
    limits=Limits(),
)


def explored(count: int) -> Explored:
    """Points with made-up figures, the tenth of which failed, the eleventh of which is what-if."""
    points, outcomes = [], {}
    for index in range(count):
        size = 1 + index // 2
        axes = (("memory.l1", size),)
        point = Point(
            index, MODEL.name, "net.onnx", MODEL.sha256, STUDY.targets[index % 2], axes, (("memory", {"l1": size}),)
        )
        points.append(replace(point, what_if=(("clock_hz", 2e8),)) if index == 11 else point)
        outcomes[index] = {
            "status": "ok",
            "cycles": 10_000_000 // size + index % 7,
            "near_bytes": size,
            "peak_bytes": 9,
        }
    outcomes[10] = {"status": "failed", "code": "MATCH-M001", "what": "no room", "where": "l1", "why": "9 > 8"}
    made = Provenance("2" * 64, {"match-core": "0.1.0"})
    rows = rows_of(STUDY, points, outcomes, made)
    return Explored(STUDY, tuple(points), outcomes, rows, made, count, count, 1.0)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium() as opened:
        yield opened


def written(folder: Path, count: int) -> Path:
    file = folder / "study.html"
    file.write_text(study_page(explored(count), {0: "point-0/report/report.html"}), encoding="utf-8")
    return file


def test_the_views_show_the_study(page: Page, tmp_path: Path) -> None:
    page.open(written(tmp_path, 40))
    assert page.texts("#title") == ["a <study>"] and page.logged() == []
    assert page.data("#chart", "dots") == ["39"]
    page.click("tab-table")
    page.write("words", "target=two")
    assert page.texts("#counted")[0].startswith("20 of 40")
    page.write("words", "cycles<1000000")
    assert 0 < len(page.all("#rows tbody tr")) < 40
    page.write("words", "")
    page.choose("status", "failed")
    assert len(page.all("#rows tbody tr")) == 1
    page.click("tab-failures")
    assert "MATCH-M001" in page.texts("#view-failures td")
    page.click("tab-buy")
    assert "one" in page.texts("#view-buy td")
    page.click("tab-sensitivity")
    assert page.texts("#view-sensitivity td")
    page.click("tab-front")
    assert all(address.startswith(("file:", "data:")) or address == "about:blank" for address in page.requests())


def test_ten_thousand_points_stay_usable(page: Page, tmp_path: Path) -> None:
    file = written(tmp_path, 10_000)
    assert file.stat().st_size < 3_000_000
    began = time.monotonic()
    page.open(file)
    opened = time.monotonic() - began
    page.click("tab-table")
    page.write("words", "target=two cycles<5000")
    assert " of 10,000 points" in page.texts("#counted")[0]
    took = page.run(
        "const t = performance.now(); document.querySelector('#rows th button').click(); return performance.now() - t"
    )
    assert opened < 20 and took < 2000, (opened, took)
