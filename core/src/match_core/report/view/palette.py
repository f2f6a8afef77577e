"""Colours of units: light enough for dark text on them, and apart in grey as well as they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLOURS = ("#8ab4d8", "#f5a65b", "#7fbf7b", "#c6a5cc", "#e8d174", "#80cdc1", "#c9a27e", "#f4a9b8")
#: What no unit runs: copies, swaps.
OTHER = "#98a2b3"


def unit_colours(report: Mapping[str, Any]) -> dict[str, str]:
    """By unit name, in the target's order; they repeat where there are more units than colours."""
    return {unit["name"]: _COLOURS[place % len(_COLOURS)] for place, unit in enumerate(report["units"])}
