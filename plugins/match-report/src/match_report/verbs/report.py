"""``match report``: a readable report of a compiled program."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.headline import command_line, headline, show_headline, show_next
from match_core.cli.parameters import JsonOption, QuietOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from match_core.plugin.facade import Plugins


def report_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory that match compile wrote.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="OUT", help="Directory for the report (default: DIR/report)."),
    ] = None,
    twin: Annotated[
        bool, typer.Option("--twin", help="First run the program on the twin, with generated inputs.")
    ] = False,
    inputs: Annotated[
        Path | None,
        typer.Option("--inputs", metavar="X.npz", help="First run the program on the twin, with these inputs."),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="DIR0", help="Also show what changed since this earlier program."),
    ] = None,
    code: Annotated[
        bool, typer.Option("--code", help="Compile the C for the target's processor, and report the bytes of code.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Write the report of a compiled program: a page, figures, tables, a trace for Perfetto.

    Example: match report build --twin
    """
    with Terminal(as_json=json, quiet=quiet) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.run.compiled_program import input_specs, read_manifest

            from match_report.npz import read_arrays
            from match_report.read import mismatches, read_report
            from match_report.render import write_report
            from match_report.twin_run import with_measured
            from match_report.view.offload import offloaded

            report = read_report(directory)
            for text in (*mismatches(directory), *(() if compare is None else mismatches(compare))):
                terminal.warning(text)
            if twin or inputs is not None:
                arrays = None if inputs is None else read_arrays(inputs, input_specs(read_manifest(directory)))
                terminal.stage_started("run")
                report = with_measured(report, directory, arrays, plugins)
                terminal.stage_finished("run", {"cycles": report["measured"]["cycles"]})
            size = _code(directory, report, plugins) if code else None
            target = output or directory / "report"
            files = write_report(report, target, None if compare is None else _compared(compare, directory))
            taken = offloaded(report)
        earlier = () if compare is None else ("--compare", compare)
        document = {
            "schema": "match.report",
            "ok": True,
            "headline": headline(report, report["target"]["name"]),
            "output": str(target),
            "files": list(files),
            "predicted_cycles": report["predicted_cycles"],
            "cycles": None if report["measured"] is None else report["measured"]["cycles"],
            "offload": None if taken is None else asdict(taken),
            "code": None if size is None else size[0],
            "next": command_line("report", directory, *earlier, "--twin") if report["measured"] is None else None,
        }
        terminal.document(document)
        show_headline(terminal, document["headline"])
        if size is not None:
            terminal.paragraph(size[1])
        terminal.line(f"{len(files)} files written to {target}: {', '.join(files)}")
        terminal.line(f"open {target / 'report.html'} in a browser")
        show_next(terminal, document["next"])
    return 0


def _code(directory: Path, report: Mapping[str, Any], plugins: Plugins) -> tuple[dict[str, object], str]:
    """The code of the program, beside the constants in its memory: for the document, and in words."""
    from match_core.emit.code_size import code_memory, code_size
    from match_core.run.compiled_program import read_manifest, soc_of_program

    document = read_manifest(directory)
    soc = soc_of_program(document, plugins)
    place = code_memory(soc)
    constants = next(use["constant_bytes"] for use in report["memories"] if use["name"] == place.name)
    size = code_size(directory, document["name"], soc)
    used, have = size.linked_bytes + constants, place.size_bytes
    room = "" if used <= have else f"; {used - have:,} bytes too many"
    text = f"code: {size.linked_bytes:,} bytes ({size.compiler}), with constants {used:,} of {have:,} bytes of "
    found = {"code_bytes": sum(size.files.values()), **asdict(size), "memory": place.name}
    return {**found, "constant_bytes": constants, "available_bytes": have}, f"{text}{place.name}{room}"


def _compared(before: Path, after: Path) -> dict[str, Any]:
    """Both programs side by side."""
    from match_report.diff import diff_programs
    from match_report.read import read_report
    from match_report.view.comparison import comparison

    return comparison(read_report(before), read_report(after), diff_programs(before, after))
