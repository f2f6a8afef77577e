"""``match check``: whether a model can run on a target, which unit runs what, and why units refuse nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from match_core.cli.choices import MEMORY, Choices, with_choices
from match_core.cli.headline import headline, show_headline, show_next
from match_core.cli.parameters import JsonOption, ModelArgument, QuietOption, TargetOption
from match_core.cli.results import memory_table, modelled, show_fallbacks
from match_core.cli.session import plugin_session
from match_core.cli.tables import Table, shortened
from match_core.cli.terminal import PLAN_STAGES, Terminal

from match_report.verbs.recommended import show_recommendations

if TYPE_CHECKING:
    from match_core.pipeline import CompileRequest

    from match_report.advice.check import Check


@with_choices(MEMORY)
def check_command(
    model: ModelArgument,
    target: TargetOption = None,
    *,
    choices: Choices,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Check whether a model can run on a target, and which unit runs what; write nothing.

    The exit code is 0 if the model can run, else 1.

    Example: match check model.onnx -t TARGET
    """
    with Terminal(as_json=json, quiet=quiet, stages=PLAN_STAGES) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.pipeline import CompileRequest

            from match_report.advice.check import check_model

            request = CompileRequest(
                model=model,
                target=target,
                **choices,
            )
            found = check_model(request, plugins, terminal)
        document = _document(found, request)
        terminal.document(document)
        if document["layers"]:
            show_headline(terminal, document["headline"])
            terminal.table(_layers_table(document))
            show_fallbacks(terminal, document, model)
            terminal.table(memory_table(document["memory"]))
        terminal.table(_refusals_table(document))
        show_recommendations(terminal, document["recommendations"])
        terminal.line(_verdict(document))
        show_next(terminal, document["next"])
        if found.error is not None and not json:
            terminal.error(found.error)
    return 0 if found.error is None else 1


def _document(found: Check, request: CompileRequest) -> dict[str, Any]:
    from match_report.advice.commands import command_of
    from match_report.advice.nearest import told

    empty: dict[str, Any] = {"layers": [], "memories": [], "predicted_cycles": None, "target": {"preset": ""}}
    report = found.report or {**empty, "fallbacks": [], "all_on_host": False}
    return {
        "schema": "match.check",
        "ok": found.error is None,
        "headline": None if found.report is None else headline(found.report, request.target),
        "name": found.name,
        "target": found.target,
        "preset": report["target"]["preset"],
        "predicted_cycles": report["predicted_cycles"],
        "layers": [
            {key: layer[key] for key in ("title", "onnx_names", "operators", "unit", "pattern", "predicted_cycles")}
            for layer in report["layers"]
        ],
        "memory": {
            memory["name"]: {
                "used": memory["used_bytes"],
                "available": memory["available_bytes"],
                "caller": memory["caller_bytes"],
            }
            for memory in report["memories"]
        },
        "refused": told(found.obstacles),
        **{key: report[key] for key in ("fallbacks", "all_on_host")},
        "quantised_cycles": found.quantised_cycles,
        "recommendations": [entry.as_json() for entry in found.recommendations],
        "next": _next(found, command_of("verify", request)),
        "error": None if found.error is None else found.error.as_json(),
    }


def _next(found: Check, verify: str | None) -> str | None:
    """Quantise first where that is what the network lacks."""
    verify = None if found.error is not None else verify
    return next((entry.command for entry in found.recommendations if entry.kind == "quantise"), verify)


def _layers_table(document: dict[str, Any]) -> Table:
    rows = [
        (shortened(layer["title"]), layer["unit"], layer["pattern"], f"{layer['predicted_cycles']:,}")
        for layer in document["layers"]
    ]
    headings = ("ONNX nodes", "unit", "pattern", "predicted")
    title = modelled("units of the layers", document["preset"])
    return Table(title, headings, rows, frozenset({"predicted"}), ("pattern",))


def _refusals_table(document: dict[str, Any]) -> Table:
    """The host runs most nodes that other units refuse, so its own obstacles matter only if the model cannot run."""
    rows = [
        (shortened(", ".join(place["onnx_names"])), place["unit"], place["pattern"], f"{rule['rule']}: {rule['value']}")
        for place in document["refused"]
        for rule in place["rules"]
    ]
    title = "nodes that units cannot run, and the rules that they break"
    return Table(title, ("ONNX nodes", "unit", "pattern", "rule"), rows, least=("pattern",))


def _verdict(document: dict[str, Any]) -> str:
    if not document["ok"]:
        return f"{document['name']} cannot run on {document['target']}"
    cycles = document["predicted_cycles"]
    return f"{document['name']} can run on {document['target']}: {cycles:,} cycles one task after another (modelled)"
