"""The files of a report, made from its document only."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from match_core.emit.manifest import DERIVED
from match_core.emit.manifest import NAME as MANIFEST
from match_core.io.files import whole_file
from match_core.summary.document import NAME, report_text

from match_report.figures import figures
from match_report.page import html_page
from match_report.spreadsheet import layers_csv, memory_csv
from match_report.trace import trace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def render(report: Mapping[str, Any], comparison: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Texts by file name. ``memory.csv`` belongs to the home memory; other memories append their name, made safe
    for a path. The page also offers the other files, and ``report.json``, which stands beside the program."""
    from match_core.ir.naming import c_identifier

    files = {
        **figures(report),
        "layers.csv": layers_csv(report),
        "trace.json": json.dumps(trace(report)) + "\n",
    }
    for memory in report["memories"]:
        name = memory["name"]
        suffix = "" if name == report["target"]["home"] else f"_{c_identifier(name)}"
        files[f"memory{suffix}.csv"] = memory_csv(report, name)
    downloads = {**files, NAME: report_text(report)}
    return {**files, "report.html": html_page(report, downloads, comparison)}


def write_report(
    report: Mapping[str, Any], directory: Path, comparison: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """Write the files to a directory, which is created if necessary; returns their names. A manifest says that they
    were derived: ``match compile`` removes them with the program that they describe. UsageError MATCH-U045."""
    from match_core.contract.errors import UsageError

    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            code="MATCH-U045",
            what="the report cannot be written",
            where=str(directory),
            why=error.strerror or str(error),
            help=("choose a directory that you may write to: --output DIR",),
        ) from error
    files = render(report, comparison)
    digests = {name: sha256(text.encode("utf-8")).hexdigest() for name, text in files.items()}
    files[MANIFEST] = json.dumps({"schema": DERIVED, "schema_version": 1, "files": digests}, indent=1) + "\n"
    for name, text in files.items():
        with whole_file(directory / name, "the report") as file:
            file.write(text.encode("utf-8"))
    return tuple(sorted(files))
