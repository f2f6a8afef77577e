"""The document and the text of ``match explain`` without a node: the costliest layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.cli.headline import headline
from match_core.cli.results import modelled
from match_core.cli.tables import Table, shortened
from match_core.cli.terminal import Terminal

from match_report.verbs.recommended import show_recommendations
from match_report.view.estimates import footnote_lines, footnotes

if TYPE_CHECKING:
    from match_core.pipeline import CompileRequest

    from match_report.advice.costliest import CostlyLayer, NetworkExplanation


def network_document(found: NetworkExplanation, request: CompileRequest) -> dict[str, Any]:
    """The document of docs/cli.md; the next command explains the costliest layer, or quantises the network."""
    from match_report.advice.commands import command_of

    following = [entry.command for entry in found.recommendations if entry.kind == "quantise"]
    following += [command_of("explain", request, layer.node) for layer in found.layers]
    return {
        "schema": "match.explain",
        "ok": True,
        "headline": headline(found.report, request.target),
        "name": found.report["name"],
        "target": found.report["target"]["name"],
        "preset": found.report["target"]["preset"],
        "layers": [_layer_json(layer) for layer in found.layers],
        "recommendations": [entry.as_json() for entry in found.recommendations],
        "next": next(iter(following), None),
    }


def show_network(terminal: Terminal, document: dict[str, Any]) -> None:
    """A table of the layers, what would help each, and the recommendations."""
    rows, marks = [], footnotes(layer["estimate"] for layer in document["layers"])
    for layer in document["layers"]:
        limit = f"{layer['limit']} {layer['limit_cycles'] / max(1, layer['cycles']):.0%}"
        cells = (
            layer["unit"],
            f"{layer['cycles']:,}",
            f"{layer['share']:.1%}",
            limit,
            marks.get(layer["estimate"], ""),
        )
        rows.append((shortened(layer["title"], 34), *cells))
    headings = ("ONNX nodes", "unit", "cycles", "share", "limited by", "")
    right = frozenset(("cycles", "share"))
    terminal.table(Table(modelled("the costliest layers", document["preset"]), headings, rows, right))
    for line in footnote_lines(marks):
        terminal.paragraph(line)
    terminal.line("what would help each (modelled)")
    for layer in document["layers"]:
        helped = "nothing that was tried makes it faster"
        if layer["help"] is not None:
            helped = f"{layer['help']['change']}, {layer['saves_cycles']:,} cycles fewer"
        terminal.paragraph(f"{shortened(layer['node'], 34)}: {helped}")
    show_recommendations(terminal, document["recommendations"])


def _layer_json(layer: CostlyLayer) -> dict[str, Any]:
    fields = ("title", "node", "unit", "pattern", "macs", "cycles", "share", "limit", "limit_cycles")
    more = ("estimate", "saves_cycles")
    return {
        **{name: getattr(layer, name) for name in (*fields, *more)},
        "help": layer.help.as_json() if layer.help else None,
    }
