"""``match export``: a compiled program as a package of another ecosystem."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from match_core.cli.headline import show_next
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

#: The command that takes a package, where {0} is its folder, {1} the same from the root, {2} the program's name.
_TAKES: dict[str, tuple[str, ...]] = {
    "cmake": ("cmake", "-S", "{0}", "-B", "{0}/build"),
    "zephyr": ("west", "build", "--", "-DZEPHYR_EXTRA_MODULES={1}"),
    "arduino": ("cp", "-r", "{0}", "libraries"),
    "platformio": ("pio", "pkg", "install", "--library", "file://{1}"),
    "esp-idf": ("cp", "-r", "{0}", "components/{2}"),
    "cmsis-pack": ("cpackget", "add", "{0}"),
}


def export_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Directory that match compile wrote.")],
    kind: Annotated[Kind, typer.Option("--as", help="The kind of package.")],
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
        headline = f"{directory} as a package of kind {kind.value}: {len(files)} files in {target}"
        following = _next(kind.value, target, files)
        terminal.document(
            {
                "schema": "match.export",
                "ok": True,
                "headline": headline,
                "kind": kind.value,
                "output": str(target),
                "files": list(files),
                "next": following,
            }
        )
        terminal.paragraph(headline, style="bold")
        show_next(terminal, following)
    return 0


def _next(kind: str, target: Path, files: tuple[str, ...]) -> str:
    """The command of the ecosystem that takes the package."""
    there = target / next(name for name in files if name.endswith(".pack")) if kind == "cmsis-pack" else target
    program = next((Path(name).stem for name in files if name.startswith("include/")), "")
    return shlex.join(word.format(there, there.absolute(), program) for word in _TAKES[kind])
