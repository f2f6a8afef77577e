"""The files of a study: ``study.csv``, ``study.parquet``, ``study.html``; with programs, the report of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError
from match_core.io.files import whole_file

from match_explore.results.files import csv_text, write_parquet
from match_explore.results.page import study_page

if TYPE_CHECKING:
    from match_explore.explored import Explored

CSV, PARQUET, PAGE = "study.csv", "study.parquet", "study.html"


def write_results(explored: Explored, folder: Path, keep: Path | None) -> tuple[str, ...]:
    """Write the files to a folder, which is made if necessary; returns their names. ``keep``: the folder of the
    programs. UsageError MATCH-U045 if they cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        help_ = ("choose a folder that you may write to: --output DIR",)
        why = error.strerror or str(error)
        raise UsageError("MATCH-U045", "the results cannot be written", str(folder), why, help_) from error
    reports = _reports(explored, folder, keep) if keep is not None else {}
    for name, text in ((CSV, csv_text(explored.rows)), (PAGE, study_page(explored, reports))):
        with whole_file(folder / name, "the table" if name == CSV else "the page") as file:
            file.write(text.encode("utf-8"))
    facts = {
        "study": explored.study.sha256,
        "versions": dict(explored.provenance.versions),
        "name": explored.study.name,
    }
    write_parquet(explored.rows, folder / PARQUET, facts)
    return (CSV, PARQUET, PAGE)


def _reports(explored: Explored, folder: Path, keep: Path) -> dict[int, str]:
    """Write a report for each program that was kept; its page by point, from ``folder``."""
    from os.path import relpath

    from match_report.read import read_report
    from match_report.render import write_report

    made = {}
    for point in explored.points:
        program = keep / f"point-{point.index}"
        if (program / "report.json").is_file():
            write_report(read_report(program), program / "report")
            made[point.index] = relpath(program / "report" / "report.html", folder)
    return made
