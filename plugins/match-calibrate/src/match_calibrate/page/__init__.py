"""The page of a calibration: one HTML file without scripts that needs no network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from match_core.lower.templates import Templates

_HERE = Path(__file__).resolve().parent


def html_page(document: Mapping[str, Any], layers: list[dict[str, Any]]) -> str:
    """The page of a figures file with its layers, the worst first. All texts are escaped."""
    longest = max(max(row["measured"], row["before"], row["after"]) for row in layers)
    view = {"document": document, "layers": layers, "longest": longest, "percent": _percent}
    return Templates((_HERE,)).render("calibration.html.mako", view)


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"
