"""Counter files: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from match_calibrate.counters import read_counters
from match_core.contract.errors import UsageError


def _read(tmp_path: Path, content: str | bytes):
    path = tmp_path / "counters.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return read_counters(path)


def test_a_table(tmp_path: Path) -> None:
    text = '# units: cycles\nNode,Tiles,cycles,unit,remark\n"a, b",3,1200,ne16,x\n\n7,,12.5,,\ntotal,,1300,,\n'
    found = _read(tmp_path, text)
    assert found.total == 1300
    first, second = found.rows
    assert (first.title, first.index, first.cycles, first.unit, first.tiles) == ("a, b", None, 1200, "ne16", 3)
    assert (second.index, second.cycles, second.unit, second.tiles) == (7, 12.5, "", None)


def test_what_an_application_prints(tmp_path: Path) -> None:
    lines = ("     84151  ne16: conv0, conv0_relu", "       120  host: softmax", "     84300  total", "status 0", "")
    text = "\n".join(lines)
    found = _read(tmp_path, text)
    assert [(row.cycles, row.unit, row.title) for row in found.rows] == [
        (84151, "ne16", "conv0, conv0_relu"),
        (120, "host", "softmax"),
    ]
    assert found.total == 84300


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "0 layers"),
        ("hello\nworld\n", "0 layers"),
        ("layer,cycles\ntotal,3\n", "0 layers"),
        ("layer,cycles\na,1\ntotal,3\ntotal,4\n", "2 totals"),
        ("cycles,unit\n3,ne16\n", "needs one of"),
        ("layer,cycles,cycles\na,1,2\n", "no column twice"),
        ("layer,cycles\na,nan\n", "'nan'"),
        ("layer,cycles\na,-3\n", "'-3'"),
        ("layer,cycles\na,0\n", "'0'"),
        ("layer,cycles\na,inf\n", "'inf'"),
        ("layer,cycles\na,1e400\n", "positive number"),
        ("layer,cycles\na,\n", "''"),
        ("layer,cycles\na,１２\n", "positive number"),
        ("layer,cycles\na,1,2\n", "3 cells"),
        ("layer,cycles\n,3\n", "names no layer"),
        ('layer,cycles\n"a,3\n', "CSV"),
        ("index,cycles\n-1,3\n", "whole number"),
        ("index,cycles\n99999999999999999999,3\n", "whole number"),
        ("layer,tiles,cycles\na,x,3\n", "whole number"),
        (b"layer,cycles\n\xff,3\n", "UTF-8"),
        ("layer,cycles\n" + "a,1\n" * 10_001, "10,000 lines"),
        (b"#" * 1_000_001, "1,000,000 bytes"),
        ("layer,cycles\n" + "a" * 200_000 + ",1\n", ""),
    ],
)
def test_hostile_files(content: str | bytes, why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        _read(tmp_path, content)
    assert caught.value.code == "MATCH-U073"
    assert why in caught.value.why
    assert len(str(caught.value)) < 1000


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read") as caught:
        read_counters(tmp_path / "none.csv")
    assert caught.value.code == "MATCH-U073"
