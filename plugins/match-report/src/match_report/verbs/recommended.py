"""Recommendations as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from match_core.cli.terminal import Terminal


def show_recommendations(terminal: Terminal, recommendations: Sequence[Mapping[str, Any]]) -> None:
    """A paragraph for each, with its command below; nothing if there are none."""
    if recommendations:
        terminal.line("what would help (modelled)")
    for entry in recommendations:
        terminal.paragraph(f"{entry['change']}{_saved(entry)}; {entry['cause']}")
        terminal.line(f"    {entry['command']}")


def _saved(entry: Mapping[str, Any]) -> str:
    if entry["saves_cycles"] is None:
        return f": concerns {entry['stake_cycles']:,} cycles" if entry["stake_cycles"] else ""
    return f": {entry['saves_cycles']:,} cycles fewer ({entry['saves_percent']:.1f}%)"
