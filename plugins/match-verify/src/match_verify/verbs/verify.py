"""``match verify``: compile, run on the twin, and compare with the integer graph and the original model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.choices import MEMORY, PROGRAM, SEQUENTIAL, Choices, with_choices
from match_core.cli.headline import headline, show_headline, show_next
from match_core.cli.parameters import JsonOption, ModelArgument, QuietOption, TargetOption
from match_core.cli.results import (
    energy_line,
    memory_table,
    show_fallbacks,
    side_by_side_lines,
)
from match_core.cli.session import plugin_session
from match_core.cli.tables import Table, shortened
from match_core.cli.terminal import STAGES, Terminal

from match_verify.verbs.counts import counts_table, layers_table, show_sizes
from match_verify.verbs.labels import show_labels
from match_verify.verbs.options import (
    BaudOption,
    FlashOption,
    LabelsOption,
    MeanOption,
    OnOption,
    PortOption,
    SanitizeOption,
    StdOption,
)

if TYPE_CHECKING:
    from match_verify.first_difference import FirstDifference

EXIT_FAILED = 1


@with_choices(MEMORY, SEQUENTIAL, *PROGRAM)
def verify_command(
    model: ModelArgument,
    target: TargetOption = None,
    inputs: Annotated[
        Path | None,
        typer.Option(
            "--inputs",
            metavar="PATH",
            help="Samples to run: .npz, .npy, images or a folder of them; default: random values.",
        ),
    ] = None,
    mean: MeanOption = None,
    std: StdOption = None,
    expected: Annotated[
        Path | None,
        typer.Option("--expected", metavar="Y.npz", help="Outputs that the program must compute."),
    ] = None,
    labels: LabelsOption = None,
    *,
    choices: Choices,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Succeed however far the program is from the original model.")
    ] = False,
    layers: Annotated[
        bool, typer.Option("--layers", help="Measure the noise of each layer against the original model.")
    ] = False,
    on: OnOption = "twin",
    port: PortOption = None,
    baud: BaudOption = None,
    flash: FlashOption = None,
    sanitize: SanitizeOption = False,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="How the twin runs: eager, lazy, lazy:QUEUE, threads or threads:SEED; results are the same in all.",
        ),
    ] = "eager",
    timeline: Annotated[
        Path | None,
        typer.Option("--timeline", metavar="FILE", help="Write a trace of the run on the twin, for Perfetto."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Check that the compiled program computes the model.

    The program runs on the twin, or where --on says. Its outputs must equal those of the integer graph, and their
    distance to the outputs of the original model is measured.

    Example: match verify model.onnx -t TARGET --inputs inputs.npz
    """
    if timeline is not None and (mode.startswith("threads") or on != "twin"):
        raise typer.BadParameter("only the twin has virtual time, in other modes than threads", param_hint="--timeline")
    with Terminal(as_json=json, quiet=quiet, stages=tuple(STAGES)) as terminal:
        with plugin_session(terminal) as plugins:
            from match_report.advice.commands import command_of
            from match_report.trace import write_trace

            from match_verify.images import normalisation
            from match_verify.places import place_at
            from match_verify.verify import VerifyRequest, verify_model

            request = VerifyRequest(
                model=model,
                target=target,
                inputs=inputs,
                expected=expected,
                **choices,
                sanitize=sanitize,
                mode=mode,
                accept_loss=accept_loss,
                layers=layers,
                normalisation=normalisation(mean, std),
                labels=tuple(labels or ()),
                place=place_at(on, {"port": port, "baud": baud, "flash": flash}, plugins, sanitize or mode != "eager"),
            )
            result = verify_model(request, plugins, terminal)
            if timeline is not None:
                write_trace(timeline, result.report)
            document: dict[str, Any] = {**result.as_json(), "headline": headline(result.report, target), "next": None}
            if document["ok"]:
                more = ("--samples", inputs) if inputs is not None and request.max_loss is not None else ()
                output = f"build/{document['model']}"
                document["next"] = command_of("compile", request.compile_request(Path()), "-o", output, *more)
        terminal.document(document)
        asked = layers or not result.labels or result.accuracy.error is not None
        show_headline(terminal, document["headline"])
        _show(terminal, document if asked else {**document, "layers": None}, model, result.computed, result.first)
        if result.labels:
            show_labels(terminal, result.labels, result.accuracy.fall)
        show_next(terminal, document["next"])
        if result.accuracy.error is not None and not json:
            terminal.error(result.accuracy.error)
    return 0 if document["ok"] else EXIT_FAILED


def _show(
    terminal: Terminal, document: dict[str, Any], model: Path, computed: bool, first: FirstDifference | None
) -> None:
    terminal.table(layers_table(document, document["preset"]))
    show_fallbacks(terminal, document, model)
    terminal.table(counts_table(document, document["preset"]))
    show_sizes(terminal, document)
    terminal.line(f"predicted total {document['predicted_cycles']:,} cycles{_within(document['uncertainty'])}")
    for line in side_by_side_lines(document):
        terminal.line(line)
    terminal.line(energy_line(document["energy"]))
    terminal.table(memory_table(document["memory"]))
    losses = document["loss"]["outputs"]
    distances = [
        (
            name,
            f"{document['max_abs_lsb'][name]:g}",
            f"{document['mean_abs_lsb'][name]:.4g}",
            _db(losses[name]["sqnr_db"]),
            "-" if losses[name]["agreement"] is None else f"{losses[name]['agreement']:.1%}",
        )
        for name in document["max_abs_lsb"]
    ]
    columns = frozenset({"max", "mean", "SQNR", "agreement"})
    terminal.table(
        Table(
            "distance to the original model (steps of integer outputs, absolute for float)",
            ("output", "max", "mean", "SQNR", "agreement"),
            distances,
            columns,
        )
    )
    if document["layers"] is not None:
        noises = [
            (shortened(", ".join(layer["nodes"])), _db(layer["sqnr_db"]), _db(layer["drop_db"]))
            for layer in document["layers"]
        ]
        title = "signal to quantisation noise of the layers"
        terminal.table(Table(title, ("ONNX nodes", "SQNR", "drop"), noises, frozenset({"SQNR", "drop"})))
    for warning in document["warnings"]:
        terminal.line(f"warning: {warning}", "yellow")
    for name, check in document["expected"].items():
        terminal.line(
            f"expected output {name}: {check['different']} of {check['values']} values differ, by {check['max_abs']:g}",
            "green" if check["ok"] else "red",
        )
    if not all(check["ok"] for check in document["expected"].values()):
        verdict = "different from the expected outputs"
    elif document["bit_exact"]:
        verdict = "bit exact against the integer graph"
    elif computed:
        verdict = "within its bound of the integer graph: " + "; ".join(
            f"{name} {bound}" for name, bound in document["bound"].items()
        )
    else:
        verdict = "not equal to the integer graph"
    if document["loss"]["accepted"]:
        verdict += "; its distance to the original model is accepted"
    if first is not None:
        terminal.line(str(first), "red")
    if document["ok"]:
        terminal.line(f"ok: the program is {verdict}", "green")
    elif computed:
        terminal.line(f"FAILED: the program is {verdict}, but too far from the original model", "red")
    else:
        terminal.line(f"FAILED: the program is {verdict}", "red")


def _db(ratio: float | None) -> str:
    return "-" if ratio is None else "exact" if ratio == float("inf") else f"{ratio:.1f} dB"


def _within(uncertainty: float) -> str:
    """The uncertainty behind a number of cycles; nothing where none is known."""
    return f" (± {uncertainty:.0%})" if uncertainty else ""
