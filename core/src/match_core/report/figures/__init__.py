"""Figures of a report for papers: SVG of plain text, readable in print, the same bytes for the same report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.report.figures.memory import memory_figure
from match_core.report.figures.roofline import roofline_figure
from match_core.report.figures.timeline import timeline_figure

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["figures"]


def figures(report: Mapping[str, Any]) -> dict[str, str]:
    """Texts by file name: ``timeline.svg`` (of the twin too where it was run), ``memory.svg`` (the home memory) and
    ``roofline.svg``."""
    return {
        "memory.svg": memory_figure(report),
        "roofline.svg": roofline_figure(report),
        "timeline.svg": timeline_figure(report),
    }
