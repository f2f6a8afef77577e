"""``match compile``: from an ONNX file to a directory of C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from match_core.cli.choices import MEMORY, PROGRAM, SEQUENTIAL, Choices, with_choices
from match_core.cli.headline import command_line, headline, show_headline, show_next
from match_core.cli.parameters import JsonOption, ModelArgument, QuietOption, TargetOption
from match_core.cli.results import energy_line, memory_table, modelled, show_fallbacks, side_by_side_lines
from match_core.cli.session import plugin_session
from match_core.cli.stored import StoredProgram, read_program, request_key, write_program
from match_core.cli.tables import Table, shortened
from match_core.cli.terminal import COMPILE_STAGES, Terminal
from match_core.emit.write import check_output_directory, write_sources

if TYPE_CHECKING:
    from match_core.contract.compilation import Compilation

#: What a document states of each step.
_LAYER = ("title", "onnx_names", "unit", "pattern", "predicted_cycles", "schedule")


@with_choices(MEMORY, SEQUENTIAL, *PROGRAM)
def compile_command(
    model: ModelArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Directory for the program.")],
    target: TargetOption = None,
    samples: Annotated[
        Path | None, typer.Option("--samples", metavar="X.npz", help="Inputs for --max-loss; default: random.")
    ] = None,
    *,
    choices: Choices,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Compile an ONNX model to C for a target.

    An existing output directory is replaced only if it holds a program that this command wrote.

    Example: match compile model.onnx -t TARGET -o build
    """
    with Terminal(as_json=json, quiet=quiet, stages=COMPILE_STAGES) as terminal:
        check_output_directory(output)
        key = request_key(model, target, samples, choices)
        program = None if key is None else read_program(key)
        if program is None:
            with plugin_session(terminal) as plugins:
                from match_core.pipeline import CompileRequest, build_program

                request = CompileRequest(model=model, target=target, output=output, **choices, samples=samples)
                compilation = build_program(request, plugins, terminal)
                program = StoredProgram(_document(compilation, target), tuple(terminal.notes), compilation.sources)
                if key is not None and key == request_key(model, target, samples, choices):  # no file has changed
                    write_program(key, program, plugins)
        else:
            terminal.note("the program of an earlier compilation: model, options and packages are the same")
            for note in program.notes:
                terminal.note(note)
        for name in write_sources(program.sources, output):
            terminal.note(f"{name} in {output} was changed after match wrote it: the changed file is now {name}.kept")
        document = {**program.document, "output": str(output), "next": command_line("report", output, "--twin")}
        terminal.document(document)
        show_headline(terminal, document["headline"])
        terminal.table(_nodes_table(document))
        show_fallbacks(terminal, document, model)
        for line in side_by_side_lines(document):
            terminal.line(line)
        for row in document["regions"]:
            terminal.line(_region_line(row))
        terminal.line(energy_line(document["energy"]))
        terminal.table(memory_table(document["memory"]))
        terminal.line(f"{len(document['files'])} files written to {output}")
        show_next(terminal, document["next"])
    return 0


def _document(compilation: Compilation, target: str | None) -> dict[str, Any]:
    from match_core.summary.document import report_document
    from match_core.summary.program_json import memory_json, side_by_side_json

    report = report_document(compilation, {})
    return {
        "schema": "match.compile",
        "ok": True,
        "headline": headline(report, target),
        "target": report["target"]["name"],
        "preset": report["target"]["preset"],
        "objective": compilation.objective,
        "max_loss": None if compilation.choice is None else dict(compilation.choice.document),
        "files": [file.name for file in compilation.sources.files],
        **side_by_side_json(compilation),
        "nodes": [{key: layer[key] for key in _LAYER} for layer in report["layers"]],
        "memory": memory_json(compilation.program),
        **{key: report[key] for key in ("name", "predicted_cycles", "energy", "regions", "fallbacks", "all_on_host")},
    }


def _region_line(row: dict[str, Any]) -> str:
    """The regions found and chosen for a unit, with their share of the operators and multiply-accumulates."""
    nodes = f"{row['nodes']:,} of {row['nodes_total']:,} operators"
    macs = f"{row['macs']:,} of {row['macs_total']:,} multiply-accumulates"
    return f"regions on {row['unit']}: {row['chosen']} of {row['found']} found, {nodes}, {macs}"


def _nodes_table(document: dict[str, Any]) -> Table:
    rows = []
    for node in document["nodes"]:
        counts = (f"{node['schedule']['steps']:,}", f"{node['predicted_cycles']:,}")
        rows.append((shortened(node["title"]), node["unit"], node["pattern"], *counts))
    title, headings = modelled("layers", document["preset"]), ("ONNX nodes", "unit", "pattern", "tiles", "predicted")
    return Table(title, headings, rows, frozenset({"tiles", "predicted"}), ("tiles", "pattern"))
