"""A study from file to table and page, on the embedded engine."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import match_core as match
import pytest
from match_core.plugin.facade import Plugins
from match_explore.document import read_study
from match_explore.engine.choice import ClusterChoice
from match_explore.explored import Explored, Progress, Watch
from match_explore.results.files import csv_text
from match_explore.results.write import write_results
from match_explore.run import explore_study

MakeStudy = Callable[..., Path]
TEXT = """
[options]
execution = "sequential"
[axes]
memory.l1 = ["16%", "100%"]
[what_if]
figure.cluster.core_count = [4, 8]
[constraints]
cycles = 100000000
[targets.gap9]
price = 9.5
source = "made up by this test"
"""


def explored(path: Path, workers: int = 2, watch: Watch = lambda _: None) -> Explored:
    return explore_study(read_study(path), Plugins.load(), ClusterChoice(workers=workers), watch)


@pytest.mark.usefixtures("cache")
def test_a_study_becomes_a_table_and_a_page(make_study: MakeStudy, tmp_path: Path) -> None:
    answers: list[int] = []

    def watch(progress: Progress) -> None:
        if progress.dashboard:  # the page that is printed is there
            with urlopen(progress.dashboard.replace("/status", "/health")) as answer:
                answers.append(answer.status)

    found = explored(make_study(TEXT), watch=watch)
    assert answers == [200]
    assert [row["status"] for row in found.rows] == ["ok"] * 4 and found.computed == 4
    assert [row["what_if"] for row in found.rows] == ["figure.cluster.core_count=4", ""] * 2
    slow, fast = (row["cycles"] for row in found.rows[2:])
    assert slow > fast  # half of the cores
    assert {row["price"] for row in found.rows} == {9.5}
    files = write_results(found, tmp_path / "out", None)
    assert files == ("study.csv", "study.parquet", "study.html")
    with (tmp_path / "out" / "study.csv").open(encoding="utf-8") as file:
        assert [int(row["cycles"]) for row in csv.DictReader(file)] == [row["cycles"] for row in found.rows]
    from pyarrow import parquet

    table = parquet.read_table(tmp_path / "out" / "study.parquet")
    assert table.column("cycles").to_pylist() == [row["cycles"] for row in found.rows]
    assert json.loads(table.schema.metadata[b"match"])["study"] == found.study.sha256
    again = explored(make_study(TEXT))  # nothing is computed twice, and the table is the same
    assert again.computed == 0 and csv_text(again.rows) == csv_text(found.rows)
    more = explored(make_study(TEXT.replace('"16%",', '"16%", "50%",')))
    assert more.computed == 2 and len(more.rows) == 6


def test_other_verbs_do_not_import_the_engine() -> None:
    code = (
        "import sys; from match_core.cli.main import application; application(['explore', '--help']);"
        "sys.exit(any(name in sys.modules for name in ('dask', 'distributed', 'optuna', 'pyarrow', 'psutil')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_python_call_reports_a_bad_study(tmp_path: Path) -> None:
    with pytest.raises(match.MatchError, match="the study cannot be used"):
        match.explore(tmp_path / "none.toml")
