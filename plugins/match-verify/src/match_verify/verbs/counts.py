"""Tables of what a run counted, the same for ``run`` and ``verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.cli.results import modelled
from match_core.cli.tables import Table, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_core.cli.terminal import Terminal


def _counter(document: Mapping[str, Any]) -> str:
    return "cycles" if document["cycles"] is not None else "instructions"


def layers_table(document: Mapping[str, Any], preset: str) -> Table:
    """What a run counted for each layer, and the predicted cycles."""
    counter = _counter(document)
    rows = [
        (shortened(node["title"]), node["unit"], f"{node[counter]:,}", f"{node['predicted_cycles']:,}")
        for node in document["nodes"]
    ]
    names = ("ONNX nodes", "unit", counter, "predicted" if counter == "cycles" else "predicted cycles")
    return Table(modelled("layers", preset), names, rows, frozenset(names[2:]))


def counts_table(document: Mapping[str, Any], preset: str) -> Table:
    """What a run counted in one inference, by unit."""
    counter, place = _counter(document), document["place"]
    whole = document[counter]
    rows = [(unit, f"{count:,}") for unit, count in (*whole["units"].items(), ("total", whole["total"]))]
    title = f"{counter} of one inference"
    title = modelled(title, preset) if place == "twin" else f"{title} on {place}"
    return Table(title, ("unit", counter), rows, frozenset({counter}))


def show_sizes(terminal: Terminal, document: Mapping[str, Any]) -> None:
    """A line with the bytes of the built program, where they are known."""
    if document["sizes"]:
        sizes = ", ".join(f"{name} {size:,} bytes" for name, size in document["sizes"].items() if size)
        terminal.paragraph(f"built: {sizes}")
