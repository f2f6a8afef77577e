"""The self-contained page of a report: ``page.html`` with its style, scripts and data inserted."""

from __future__ import annotations

import gzip
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
    "parts.js",
    "plot.js",
    "timeline.js",
    "memory.js",
    "network.js",
    "roofline.js",
    "layers.js",
    "refusals.js",
    "offload.js",
    "overview.js",
    "compare.js",
    "details.js",
    "main.js",
)


def html_page(
    report: Mapping[str, Any], downloads: Mapping[str, str] | None = None, comparison: Mapping[str, Any] | None = None
) -> str:
    """One HTML file that requires no network and runs only its own script, identified by its hash. ``downloads``: texts
    by file name that it offers; ``comparison``: of two programs (``view.comparison``). Data are compressed, which keeps
    large networks small, and in base 64, so that no name in them can end their element."""
    folder = files("match_report.page")
    script = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    parts = {
        "@@HASH@@": b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii"),
        "@@STYLE@@": folder.joinpath("page.css").read_text(encoding="utf-8"),
        "@@SCRIPT@@": script,
        "@@DATA@@": _packed(page_data(report, comparison)),
        "@@DOWNLOADS@@": _packed(dict(downloads or {})),
    }
    page = folder.joinpath("page.html").read_text(encoding="utf-8")
    for token, text in parts.items():
        head, tail = page.split(token)
        page = f"{head}{text}{tail}"
    return page


def _packed(document: Mapping[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return b64encode(gzip.compress(text.encode("ascii"), mtime=0)).decode("ascii")
