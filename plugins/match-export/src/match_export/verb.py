"""``match export``: a compiled program as a package of another ecosystem."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from match_core.cli.parameters import JsonOption, QuietOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Terminal

#: Values of ``--as``; the names are those of match_export.export.KINDS.
Kind = Enum(
    "Kind",
    [
        ("CMAKE", "cmake"),
        ("ZEPHYR", "zephyr"),
        ("ARDUINO", "arduino"),
        ("PLATFORMIO", "platformio"),
        ("ESP_IDF", "esp-idf"),
        ("CMSIS_PACK", "cmsis-pack"),
    ],
    type=str,
)


def export_command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Directory that match compile wrote.", show_default=False)
    ],
    kind: Annotated[Kind, typer.Option("--as", help="The kind of package.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="OUT", help="Directory for the package (default: DIR-KIND)."),
    ] = None,
    release: Annotated[
        str, typer.Option("--release", metavar="VERSION", help="Version of the package: three numbers.")
    ] = "1.0.0",
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Make a package of an ecosystem from a compiled program: its sources, a description, an example.

    Example: match export build --as zephyr -o modules/model
    """
    with Terminal(as_json=json, quiet=quiet) as terminal:
        with plugin_session(terminal):
            from match_export.export import export_program

            target = output or directory.with_name(f"{directory.absolute().name}-{kind.value}")
            files = export_program(directory, kind.value, target, release)
        terminal.document(
            {"schema": "match.export", "ok": True, "kind": kind.value, "output": str(target), "files": list(files)}
        )
        terminal.line(f"{len(files)} files written to {target}")
    return 0
