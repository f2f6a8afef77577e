"""The self-contained page of a study, in the style of match-report's pages."""

from __future__ import annotations

import gzip
import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from match_explore.results.rows import FIGURES, Row
from match_explore.results.summary import compile_command, failures, sensitivity, to_buy

if TYPE_CHECKING:
    from match_explore.explored import Explored

_SCRIPTS = ("base.js", "chart.js", "table.js", "views.js")
#: Columns that the page shows elsewhere, or not at all: the CSV has them.
_LEFT_OUT = ("model_sha256", "study_sha256", "seed", "match", "code_sha256", "key")


def study_page(explored: Explored, reports: Mapping[int, str]) -> str:
    """One HTML file that requires no network and runs only its own scripts, identified by their hash. ``reports``: the
    path of a point's report, from the page's folder."""
    folder = files("match_explore.page")
    script = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _SCRIPTS)
    style = files("match_report.page").joinpath("page.css").read_text(encoding="utf-8")
    parts = {
        "@@HASH@@": b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        "@@STYLE@@": style + folder.joinpath("page.css").read_text(encoding="utf-8"),
        "@@SCRIPT@@": script,
        "@@DATA@@": _packed(page_data(explored, reports)),
    }
    page = folder.joinpath("page.html").read_text(encoding="utf-8")
    for token, text in parts.items():
        head, tail = page.split(token)
        page = f"{head}{text}{tail}"
    return page


def page_data(explored: Explored, reports: Mapping[int, str]) -> dict[str, Any]:
    """Everything that the page shows. Columns of many rows are lists of values, texts as places in a list."""
    study, rows = explored.study, explored.rows
    best = {row["point"] for row in rows if row["front"]} | {
        n for e in to_buy(study, rows) for n in e["points"].values()
    }
    commands = {str(p.index): compile_command(study, p) for p in explored.points if p.index in best and not p.what_if}
    return {
        "name": study.name,
        "objectives": list(study.objectives),
        "axes": ["model", "target", *(axis.name for axis in study.axes)],
        "figures": [name for name in FIGURES if any(row[name] is not None for row in rows)],
        "columns": _columns(rows),
        "count": len(rows),
        "total": explored.total,
        "constraints": [
            {"figure": c.figure, "least": c.least, "most": None if c.most == float("inf") else c.most}
            for c in study.constraints
        ],
        "sensitivity": sensitivity(study, rows),
        "buy": to_buy(study, rows),
        "failures": failures(rows),
        "commands": commands,
        "reports": {str(point): path for point, path in reports.items()},
        "strategy": {"kind": study.strategy.kind, "seed": study.strategy.seed},
        "versions": dict(explored.provenance.versions),
        "digests": {"study": study.sha256, "code": explored.provenance.code},
    }


def _columns(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for name in rows[0] if rows else ():
        if name in _LEFT_OUT:
            continue
        values = [row[name] for row in rows]
        if any(isinstance(value, str) for value in values):
            texts: dict[str, int] = {}
            places = [-1 if v is None else texts.setdefault(str(v), len(texts)) for v in values]
            made[name] = {"texts": list(texts), "places": places}
        else:
            made[name] = {"values": values}
    return made


def _packed(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return b64encode(gzip.compress(text.encode("ascii"), mtime=0)).decode("ascii")
