"""Tables and charts of the benchmarks."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from benchmarks import charts, tables
from benchmarks.tables import END, Column, Table

TABLE = Table(
    "layers",
    "*preset engine*",
    (Column("layer"), Column("cycles", ",d"), Column("share", ".1%")),
    (("conv", 12345, 0.25), ("add", 7, None)),
)


@pytest.fixture
def output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (tables, charts):
        monkeypatch.setattr(module, "OUTPUT", tmp_path)
    return tmp_path


def test_markdown_rounds_and_aligns() -> None:
    assert TABLE.markdown().splitlines() == [
        "*preset engine*",
        "",
        "| layer | cycles | share |",
        "| --- | --: | --: |",
        "| conv | 12,345 | 25.0% |",
        "| add | 7 | - |",
    ]


def test_csv_keeps_the_numbers(output: Path) -> None:
    with TABLE.write_csv().open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["layer", "cycles", "share"], ["conv", "12345", "0.25"], ["add", "7", ""]]


def test_put_replaces_what_is_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n<!-- layers -->\nold\n{END}after\n<!-- other -->\nkept\n{END}", encoding="utf-8")
    TABLE.put(page)
    TABLE.put(page)
    assert TABLE.shown(page) == TABLE.markdown()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- layers -->\n*preset") and text.endswith(
        f"{END}after\n<!-- other -->\nkept\n{END}"
    )
    assert "old" not in text


def test_without_leaves_columns_out() -> None:
    slim = TABLE.without("cycles")
    assert [column.heading for column in slim.columns] == ["layer", "share"]
    assert slim.rows == (("conv", 0.25), ("add", None))


def test_charts_repeat_byte_for_byte(output: Path) -> None:
    pytest.importorskip("matplotlib")
    axes = charts.Axes("title", "x", "y")

    def both() -> list[bytes]:
        made = [
            charts.lines("lines", axes, {"one": [(1, 2), (2, 3)], "two": [(1, 5), (2, 1)]}),
            charts.bars("bars", axes, ["a", "b"], {"one": [1, 2], "two": [3, 4]}),
        ]
        return [path.read_bytes() for path in made if path]

    first = both()
    assert len(first) == 2 and b"</svg>" in first[0]
    assert both() == first
