"""Tables of a report: every layer, every buffer, and no cell that a spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io

import pytest
from match_report.spreadsheet import layers_csv, memory_csv

from tests.report.documents import renamed, small_report


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_layers_have_modelled_and_twin_cycles() -> None:
    found = rows(layers_csv(small_report()))
    assert [row["title"] for row in found] == ["quantise", "conv", "conv", "flatten", "dense"]
    assert [row["predicted_cycles"] for row in found] == ["200", "400", "300", "0", "400"]
    assert [row["twin_cycles"] for row in found] == ["210", "400", "300", "", "480"]
    assert {row["twin_cycles"] for row in rows(layers_csv({**small_report(), "measured": None}))} == {""}


def test_buffers_are_those_of_the_arena() -> None:
    assert memory_csv(small_report(), "l2").splitlines() == [
        "id,lower,upper,size,offset",
        "image,0,3,2048,0",
        "features,1,5,2048,2048",
        "staging,4,5,1024,4096",
    ]
    assert memory_csv(small_report(), "l1").splitlines()[1:] == [
        "1:input,1,2,512,0",
        "1:output,1,2,512,1024",
        "1:scratch,1,2,128,1536",
        "4:weight,4,5,1024,0",
        "4:input,4,5,64,1024",
    ]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_name_is_no_formula(name: str) -> None:
    for row in rows(layers_csv(renamed(small_report(), lambda _: name))):
        assert row["title"].startswith("'")
