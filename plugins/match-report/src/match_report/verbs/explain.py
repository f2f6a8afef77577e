"""``match explain``: why a unit runs a node, and what would change that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.choices import MEMORY, Choices, with_choices
from match_core.cli.headline import headline, show_headline, show_next
from match_core.cli.parameters import JsonOption, ModelArgument, QuietOption, TargetOption
from match_core.cli.results import modelled
from match_core.cli.session import plugin_session
from match_core.cli.terminal import PLAN_STAGES, Table, Terminal

from match_report.verbs.explain_network import network_document, show_network
from match_report.view.estimates import footnote_lines, footnotes

if TYPE_CHECKING:
    from match_core.pipeline import CompileRequest

    from match_report.advice.explain import Explanation

_COSTS = ("compute", "transfer", "launch", "sync", "overlapped")


@with_choices(MEMORY)
def explain_command(
    model: ModelArgument,
    node: Annotated[
        str | None,
        typer.Argument(metavar="[NODE]", help="Name of a node of the ONNX file; default: the costliest ones."),
    ] = None,
    target: TargetOption = None,
    *,
    choices: Choices,
    apply: Annotated[
        Path | None,
        typer.Option(
            "--apply", metavar="FILE", help="Write the layer as an ONNX file, changed so that another unit runs it."
        ),
    ] = None,
    no_flip: Annotated[
        bool, typer.Option("--no-flip", help="Do not search for a change that moves the layer to another unit.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Explain why a unit runs a node: alternatives, refusals, the margin of the choice, and what would change it.

    Without NODE: the five costliest layers of the network, what limits each, and what would help.

    Example: match explain model.onnx /stage1/conv1/Conv -t TARGET
    """
    with Terminal(as_json=json, quiet=quiet, stages=PLAN_STAGES) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.pipeline import CompileRequest

            request = CompileRequest(model=model, target=target, **choices)
            if node is None:
                from match_report.advice.costliest import explain_network

                found = explain_network(request, plugins, terminal, flips=not no_flip)
                document, show = network_document(found, request), show_network
            else:
                from match_report.advice.explain import explain_node

                explained = explain_node(request, node, plugins, terminal, flips=not no_flip)
                _write_change(explained, apply)
                document, show = _document(explained, request, apply), _show
        terminal.document(document)
        show_headline(terminal, document["headline"])
        show(terminal, document)
        show_next(terminal, document["next"])
    return 0


def _write_change(found: Explanation, apply: Path | None) -> None:
    """The changed layer, if a change moves it."""
    from match_core.io.files import whole_file

    if apply is not None and found.flips is not None and found.flips.flip is not None:
        with whole_file(apply, "the model") as file:
            file.write(found.flips.flip.model.SerializeToString(deterministic=True))


def _show(terminal: Terminal, document: dict[str, Any]) -> None:
    terminal.table(_considered_table(document))
    for line in footnote_lines(_marks(document)):
        terminal.paragraph(line)
    terminal.table(_tilings_table(document))
    terminal.table(_refused_table(document))
    for line in _lines(document):
        terminal.line(line)


def _document(found: Explanation, request: CompileRequest, apply: Path | None) -> dict[str, Any]:
    from match_report.advice.commands import command_of
    from match_report.advice.nearest import told

    return {
        "schema": "match.explain",
        "ok": True,
        "headline": headline(found.report, request.target),
        "node": found.node,
        "operator": found.operator,
        "target": found.target,
        "preset": found.preset,
        "folded": found.folded,
        "considered": [
            {
                "unit": entry.unit,
                "pattern": entry.pattern,
                "onnx_names": list(entry.onnx_names),
                "chosen": entry.chosen,
                "macs": entry.macs,
                "predicted_cycles": entry.schedule.cost.total_cycles,
                "cost": {f"{part}_cycles": getattr(entry.schedule.cost, f"{part}_cycles") for part in _COSTS},
                "estimate": entry.schedule.cost.estimate,
                "tile": dict(entry.schedule.tile),
                "steps": entry.schedule.steps,
                "tilings": entry.tilings,
            }
            for entry in found.considered
        ],
        "refused": told(found.refused),
        "without_pattern": list(found.without_pattern),
        "tilings": [
            {"dim": t.dim, "tile": t.tile, "predicted_cycles": t.cycles, "chosen": t.chosen} for t in found.tilings
        ],
        "margin": None
        if found.margin is None
        else {
            "unit": found.margin.unit,
            "cycles": found.margin.cycles,
            "cycles_without": found.margin.cycles_without,
        },
        "flip": _flip_json(found),
        "next": command_of("explain", request, found.node, "--apply", "layer.onnx")
        if apply is None and found.flips is not None and found.flips.flip is not None
        else command_of("verify", request),
    }


def _flip_json(found: Explanation) -> dict[str, Any] | None:
    if found.flips is None:
        return None
    flip = found.flips.flip
    document: dict[str, Any] = {"unit": found.flips.unit, "tried": found.flips.tried, "change": None}
    if flip is not None:
        document["change"] = {
            "parameter": flip.parameter,
            "before": flip.before,
            "after": flip.after,
            "unit_before": flip.unit_before,
            "unit_after": flip.unit_after,
            "cycles_before": flip.cycles_before,
            "cycles_after": flip.cycles_after,
        }
    return document


def _considered_table(document: dict[str, Any]) -> Table:
    rows, marks = [], _marks(document)
    for entry in document["considered"]:
        cost = (f"{entry['cost'][f'{part}_cycles']:,}" for part in _COSTS)
        sign = f"{'chosen' if entry['chosen'] else ''} {marks.get(entry['estimate'], '')}".strip()
        counts = (f"{entry['steps']:,}", f"{entry['tilings']:,}", f"{entry['predicted_cycles']:,}")
        rows.append((entry["unit"], entry["pattern"], f"{entry['macs']:,}", *cost, *counts, sign))
    headings = ("unit", "pattern", "MACs", *_COSTS, "tiles", "tilings", "predicted", "")
    title = modelled(f"{document['node']} ({document['operator']}): cycles of the alternatives", document["preset"])
    least = ("tilings", "overlapped", "sync", "launch", "tiles", "MACs", "transfer", "compute", "pattern")
    return Table(title, headings, rows, frozenset(("MACs", *_COSTS, "tiles", "tilings", "predicted")), least)


def _marks(document: dict[str, Any]) -> dict[str, str]:
    return footnotes(entry["estimate"] for entry in document["considered"])


def _tilings_table(document: dict[str, Any]) -> Table:
    rows = []
    for entry in document["tilings"]:
        cycles = "does not fit" if entry["predicted_cycles"] is None else f"{entry['predicted_cycles']:,}"
        rows.append((entry["dim"], f"{entry['tile']:,}", cycles, "chosen" if entry["chosen"] else ""))
    title = "cycles on the chosen unit with other tile sizes"
    return Table(title, ("dimension", "tile", "predicted", ""), rows, frozenset({"tile", "predicted"}))


def _refused_table(document: dict[str, Any]) -> Table:
    rows = [
        (place["unit"], place["pattern"], rule["rule"], rule["value"])
        for place in document["refused"]
        for rule in place["rules"]
    ]
    return Table("refused", ("unit", "pattern", "rule", "found"), rows)


def _lines(document: dict[str, Any]) -> list[str]:
    if document["folded"]:
        return [f"{document['node']} is computed at compile time: no step of the program runs it"]
    lines = (
        [f"units without a pattern for it: {', '.join(document['without_pattern'])}"]
        if document["without_pattern"]
        else []
    )
    margin, flip = document["margin"], document["flip"]
    if margin is None:
        lines.append("margin: no other unit runs it")
    else:
        more = margin["cycles_without"] - margin["cycles"]
        share = more / margin["cycles"] if margin["cycles"] else 0.0
        lines.append(f"margin: on {margin['unit']} the network would take {more:,} more cycles ({share:+.1%})")
    if flip is not None:
        lines.append(_flip_line(flip))
    return lines


def _flip_line(flip: dict[str, Any]) -> str:
    change = flip["change"]
    if change is None:
        return f"change: none of {flip['tried']} changes of the layer moves it to another unit"
    return (
        f"change: with {change['parameter']} {change['before']} -> {change['after']} the layer moves from "
        f"{change['unit_before']} ({change['cycles_before']:,} cycles) to {change['unit_after']} "
        f"({change['cycles_after']:,})"
    )
