"""The page of the papers: every row has its provenance, and a sentence wherever it differs by more than 20 %."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from match_core.plugin.facade import Plugins

from benchmarks import paper_byoc, paper_ita
from benchmarks.paper_rows import LARGEST_DIFFERENCE, Provenance, Row, Section, faults, page
from benchmarks.papers import INTRODUCTION, PAGE, SECTIONS
from tests.conftest import ROOT

ROW = Row("resnet8, ms", 2.0, "on the twin", 2.15, "silicon", "table III", below="It is faster.", above="It is slower.")


def test_a_row_that_is_near_needs_no_sentence() -> None:
    for ours in (1.73, 2.15, 2.57):
        row = replace(ROW, ours=ours, below="", above="")
        assert not row.differs and row.fault is None and row.sentence == ""


@pytest.mark.parametrize(("ours", "sentence"), [(1.71, "It is faster."), (2.59, "It is slower.")])
def test_a_row_that_differs_has_the_sentence_of_its_direction(ours: float, sentence: str) -> None:
    row = replace(ROW, ours=ours)
    assert row.sentence == sentence and row.fault is None
    silent = replace(row, below="" if ours < 2 else "It is faster.", above="" if ours > 2 else "It is slower.")
    assert silent.fault is not None and "no sentence says why" in silent.fault


def test_a_published_zero_is_a_difference() -> None:
    row = replace(ROW, published=0.0)
    assert row.differs and row.ratio is None and row.sentence == "It is slower."


def test_a_row_without_provenance_is_a_fault() -> None:
    assert replace(ROW, platform="").fault and replace(ROW, source="").fault
    assert faults([Section("A", "command", (ROW, replace(ROW, source="")))]) == [
        "FAILURE: , resnet8, ms: no provenance"
    ]


def test_equal_sentences_have_one_number() -> None:
    rows = (replace(ROW, ours=1.0), replace(ROW, ours=0.5), replace(ROW, ours=9.0), ROW)
    text = Section("Networks", "python -m x", rows, ("the curves.",), "About them.").markdown()
    assert [line.split(" | ")[-1].strip(" |") for line in text.splitlines() if "silicon" in line] == ["1", "1", "2", ""]
    assert "1. It is faster.\n2. It is slower." in text
    assert "- Left out: the curves." in text and text.startswith("## Networks\n\nAbout them.")
    assert page("# Page\n", [Section("Networks", "python -m x", ())]) == "# Page\n\n## Networks\n"


def _shown() -> list[list[str]]:
    """The cells of all rows of the page."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0] not in ("what", "---")]


def test_the_page_keeps_the_rule() -> None:
    """The stored page, read as a reader does: a ratio that is far from 1 has a note, and each note exists."""
    rows = _shown()
    assert len(rows) > 80
    for row in rows:
        assert row[2] in get_args(Provenance), row
        assert row[4] and row[5], row
        far = row[6] != "-" and abs(float(row[6]) - 1) > LARGEST_DIFFERENCE + 0.005
        zero = row[6] == "-" and re.fullmatch(r"[0.]+%?", row[3]) is not None
        assert not (far or zero) or row[7], row
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    for section in sections:
        notes = set(re.findall(r"^(\d+)\. ", section, flags=re.MULTILINE))
        used = {line.split(" | ")[-1].strip(" |") for line in section.splitlines() if line.startswith("| ")}
        assert notes == {cell for cell in used if cell.isdigit()}, section[:40]


def test_the_page_has_every_section_and_is_made_by_make() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(INTRODUCTION)
    assert text.count("\n## ") == len(SECTIONS)
    assert "\npaper: $(STAMP)\n\t$(BIN)/python -m benchmarks.papers\n" in (ROOT / "Makefile").read_text("utf-8")


def test_lines_of_code_are_those_that_say_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = tmp_path / "plugins" / "match-x" / "src"
    sources.mkdir(parents=True)
    (sources / "a.py").write_text("# comment\n\nx = 1  # why\n", encoding="utf-8")
    (sources / "b.c.mako").write_text("## comment\nint x;\n", encoding="utf-8")
    (sources / "c.c").write_text("int y;\n", encoding="utf-8")
    monkeypatch.setattr(paper_byoc, "ROOT", tmp_path)
    assert paper_byoc.lines_of_code("match-x") == 2


def test_a_section_by_running(plugins: Plugins) -> None:
    """ITA's tests of the paper: a few seconds, and all within the rule."""
    section = paper_ita.peaks(plugins)
    assert faults([section]) == []
    assert {row.source for row in section.rows} == {"section V-A"}
    assert section.rows[0].published == 741.0
