"""``match offload``: what a compiled program gives to each unit, measured on the development machine."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from match_core.cli.headline import show_next
from match_core.cli.parameters import JsonOption, QuietOption
from match_core.cli.session import plugin_session
from match_core.cli.tables import Table, shortened
from match_core.cli.terminal import Terminal
from match_core.io.sizes import bytes_text

_NUMBERS = frozenset({"operators", "MACs", "in", "out", "constants", "predicted", "cycles", "ms", "bytes"})


def offload_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory that match compile wrote.")],
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Break down what each unit of a compiled program runs: operators, bytes across its border, times, sizes.

    Builds the program, runs it on the twin with random inputs, and times start-up and runs on this machine.

    Example: match offload build/model
    """
    with Terminal(as_json=json, quiet=quiet) as terminal:
        with plugin_session(terminal) as plugins:
            import tempfile

            from match_report.offload import measure_offload
            from match_report.read import mismatches, read_report

            report = read_report(directory)
            for text in mismatches(directory):
                terminal.warning(text)
            terminal.stage_started("run")
            with tempfile.TemporaryDirectory(prefix="match-offload-") as folder:
                found = measure_offload(report, directory, Path(folder), plugins)
            terminal.stage_finished("run", {})
            document = found.as_json()
        operators = sum(row["operators"] for row in document["units"])
        taken = sum(row["operators"] for row in document["regions"])
        told = f"{report['name']} on {report['target']['name']}: {len(document['regions'])} regions with {taken} of "
        told += f"{operators} operators"
        then = f"match report {shlex.quote(str(directory))}"
        terminal.document({"schema": "match.offload", "ok": True, "headline": told, **document, "next": then})
        terminal.paragraph(told, style="bold")
        _show(terminal, document)
        show_next(terminal, then)
    return 0


def _show(terminal: Terminal, document: dict[str, Any]) -> None:
    columns = ("operators", "MACs", "in", "out", "constants", "predicted", "cycles", "ms")
    for name, first in (("regions", "ONNX nodes"), ("units", "unit")):
        rows = [
            (
                shortened(row["title"]) if name == "regions" else row["unit"],
                *((row["unit"],) if name == "regions" else ()),
                str(row["operators"]),
                f"{row['macs']:,}",
                *(bytes_text(row[key]) for key in ("input_bytes", "output_bytes", "constant_bytes")),
                f"{row['predicted_cycles']:,}",
                f"{row['cycles']:,}",
                "-" if row["ms"] is None else f"{row['ms']:.3f}",
            )
            for row in document[name]
        ]
        heads = (first, *(("unit",) if name == "regions" else ()), *columns)
        if rows:
            terminal.table(Table(name, heads, rows, _NUMBERS, ("constants", "MACs")))
    sizes = [(unit, f"{size:,}") for unit, size in document["sizes"].items()]
    if sizes:
        terminal.table(Table("code and data of the compiled parts", ("part", "bytes"), sizes, _NUMBERS))
    times = f"build {document['build_s']:.2f} s, start-up {document['start_ms']:.3f} ms"
    terminal.line(f"{times}, run {document['run_ms']:.3f} ms (on this machine)")
