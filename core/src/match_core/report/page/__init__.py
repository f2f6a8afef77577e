"""The self-contained page of a report: ``page.html`` with its style, its script and the data put in."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def html_page(report: Mapping[str, Any]) -> str:
    """One HTML file that needs no network. Names in the report cannot end its data element: ``<`` is written as an
    escape of JSON."""
    folder = files("match_core.report.page")
    parts = {
        "@@STYLE@@": folder.joinpath("page.css").read_text(encoding="utf-8"),
        "@@SCRIPT@@": folder.joinpath("page.js").read_text(encoding="utf-8"),
        "@@REPORT@@": json.dumps(report, sort_keys=True, ensure_ascii=True, separators=(",", ":")).replace(
            "<", "\\u003c"
        ),
    }
    page = folder.joinpath("page.html").read_text(encoding="utf-8")
    for token, text in parts.items():
        head, tail = page.split(token)
        page = f"{head}{text}{tail}"
    return page
