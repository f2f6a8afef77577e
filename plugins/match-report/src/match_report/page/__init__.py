"""The self-contained page of a report: ``page.html`` with its style, scripts and data inserted."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from match_report.page.data import page_data

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The scripts, joined into one in this order.
SCRIPTS = (
    "base.js",
    "plot.js",
    "timeline.js",
    "memory.js",
    "network.js",
    "roofline.js",
    "layers.js",
    "overview.js",
    "details.js",
    "main.js",
)


def html_page(report: Mapping[str, Any]) -> str:
    """One HTML file that requires no network and runs only its own script, identified by its hash. Names in the report
    cannot end its data element: ``<`` is written as a JSON escape."""
    folder = files("match_report.page")
    script = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    data = json.dumps(page_data(report), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    parts = {
        "@@HASH@@": b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        "@@STYLE@@": folder.joinpath("page.css").read_text(encoding="utf-8"),
        "@@SCRIPT@@": script,
        "@@DATA@@": data.replace("<", "\\u003c"),
    }
    page = folder.joinpath("page.html").read_text(encoding="utf-8")
    for token, text in parts.items():  # the data last: it may hold any text
        head, tail = page.split(token)
        page = f"{head}{text}{tail}"
    return page
