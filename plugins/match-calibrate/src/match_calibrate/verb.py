"""``match calibrate``: counters of a board, a simulator or an emulator become a figures file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.headline import command_line, show_next
from match_core.cli.parameters import JsonOption, QuietOption, TargetOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Table, Terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHOWN = 10


def calibrate_command(
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL...", help="The models of the measured programs."),
    ],
    counters: Annotated[
        list[str],
        typer.Option(
            "--counters",
            metavar="DIR=FILE",
            help="Directory that match compile wrote, and measured cycles of its layers; may be repeated.",
        ),
    ],
    target: TargetOption = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The figures file.")] = Path(
        "figures.json"
    ),
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE", help="The page (default: beside the figures file, .html)."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Fit the constants of a target to measured cycles of layers; write a figures file for --figures, and a page.

    Example: match calibrate model.onnx --counters build=counters.csv -t TARGET
    """
    shown = page or output.with_suffix(".html")
    with Terminal(as_json=json, quiet=quiet) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.io.files import whole_file

            from match_calibrate.calibration import calibrated
            from match_calibrate.document import figures_document, figures_text, layer_rows
            from match_calibrate.page import html_page
            from match_calibrate.programs import digests, pair, runs

            pairs = [pair(text) for text in counters]
            measured = runs(pairs, digests(models, plugins), plugins, terminal, target)
            terminal.stage_started("fit")
            made = calibrated(measured, plugins)
            terminal.stage_finished("fit", {"layers": len(made.layers), "constants": len(made.fit.errors)})
            soc = measured[0].planned.soc
            stated = {
                (unit.name, constant.name): constant.value
                for unit in plugins.units_of(soc)
                for constant in unit.constants_of(soc.preset)
            }
            document, layers = figures_document(made, stated), layer_rows(made)
            texts = {output: figures_text(document), shown: html_page(document, layers)}
            for path, text in texts.items():
                with whole_file(path, "the calibration") as file:
                    file.write(text.encode("utf-8"))
        files = [str(path) for path in texts]
        told = _headline(document, soc.name)
        following = command_line("check", models[0], "-t", target or soc.name, "--figures", output)
        summary = {"schema": "match.calibrate", "ok": True, "headline": told, "next": following, "files": files}
        terminal.document({**summary, "figures": document, "layers": layers})
        terminal.paragraph(told, style="bold")
        for table in (_layers(layers), _figures(document), _kernels(document)):
            terminal.table(table)
        for line in _lines(document):
            terminal.line(line)
        terminal.line(f"written: {', '.join(files)}")
        show_next(terminal, following)
    return 0


def _headline(document: Mapping[str, Any], target: str) -> str:
    errors, fitted = document["errors"], len(document["figures"])
    return (
        f"{target}: {fitted} constants fitted to {errors['layers']} layers; mean error {_percent(errors['before'])} "
        f"before, {_percent(errors['after'])} after, {_percent(errors['cross_validated'])} cross-validated"
    )


def _layers(layers: list[dict[str, Any]]) -> Table:
    cells = ("measured", "before", "after")
    rows = [
        (
            *(f"{row['program']}, {row['index']}", row["title"][:40], row["unit"], row["pattern"]),
            *(f"{row[name]:,}" for name in cells),
            *(_percent(row["error_before"]), _percent(row["error_after"])),
        )
        for row in layers[:_SHOWN]
    ]
    headings = ("layer", "ONNX nodes", "unit", "kernel", *cells, "error before", "error after")
    title = f"cycles of the {len(rows)} worst of {len(layers)} layers"
    return Table(title, headings, rows, frozenset(headings[4:]), ("before", "error before", "kernel"))


def _figures(document: Mapping[str, Any]) -> Table:
    rows = [
        (
            f"{row['unit']}.{row['constant']}",
            f"{row['before']:g}",
            str(row["value"]),
            "-" if row["standard_error"] is None else f"{row['standard_error']:.2g}",
            row["in"],
        )
        for row in document["figures"]
    ]
    headings = ("constant", "before", "fitted", "standard error", "in")
    return Table("constants that are replaced", headings, rows, frozenset(headings[1:4]))


def _kernels(document: Mapping[str, Any]) -> Table:
    rows = [
        (row["unit"], row["pattern"], str(row["layers"]), _percent(row["before"]), _percent(row["after"]))
        for row in document["kernels"]
    ]
    headings = ("unit", "kernel", "layers", "error before", "error after")
    return Table("mean errors of kernels", headings, rows, frozenset(headings[2:]))


def _lines(document: Mapping[str, Any]) -> tuple[str, ...]:
    kept = document["kept"]
    return (
        f"the counters do not determine {', '.join(kept['not_determined']) or 'no other constant'}",
        f"no measured layer depends on {len(kept['not_in_any_layer'])} constants; the figures file lists them",
    )


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"
