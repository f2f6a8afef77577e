"""Figures of a report for papers: SVG as plain text, readable in print, with the same bytes for the same report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_report.figures.memory import memory_figure
from match_report.figures.roofline import roofline_figure
from match_report.figures.timeline import timeline_figure

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["figures"]


def figures(report: Mapping[str, Any]) -> dict[str, str]:
    """Texts by file name: ``timeline.svg`` (with the twin's lanes if it was run), ``memory.svg`` (the home memory) and
    ``roofline.svg``."""
    return {
        "memory.svg": memory_figure(report),
        "roofline.svg": roofline_figure(report),
        "timeline.svg": timeline_figure(report),
    }
