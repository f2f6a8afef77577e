"""Colours of units: light enough for dark text, and as distinct as possible in greyscale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLOURS = ("#8ab4d8", "#f5a65b", "#7fbf7b", "#c6a5cc", "#e8d174", "#80cdc1", "#c9a27e", "#f4a9b8")
#: The colour of copies and swaps, which no unit runs.
OTHER = "#98a2b3"


def unit_colours(report: Mapping[str, Any]) -> dict[str, str]:
    """Colours by unit name, in the target's order; they repeat if there are more units than colours."""
    return {unit["name"]: _COLOURS[place % len(_COLOURS)] for place, unit in enumerate(report["units"])}
