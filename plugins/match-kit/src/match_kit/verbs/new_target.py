"""``match new-target``: a template package for a chip."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from match_core.cli.headline import show_next
from match_core.cli.parameters import JsonOption
from match_core.cli.terminal import Table, Terminal


def new_target_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the chip.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The package's folder (default: match-NAME)."),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="What the chip has: tiles, regions or library.")
    ] = "tiles",
    json: JsonOption = False,
) -> int:
    """Write a package with one unit. It can be installed and passes the conformance tests.

    Kinds: tiles (an accelerator with a scratchpad and a DMA), regions (an engine that runs parts of networks), library.

    Example: match new-target sprout --kind tiles
    """
    with Terminal(as_json=json) as terminal:
        from match_kit.scaffold import target_name, write_package

        folder = write_package(name, output, kind)
        files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        counts = [len((folder / file).read_text("utf-8").splitlines()) for file in files]
        told = f"package for the target {target_name(name)}: {len(files)} files in {folder}"
        following = f"pip install -e {quote(str(folder))} && match test-target {quote(str(folder))}"
        terminal.document(
            {
                "schema": "match.new-target",
                "name": target_name(name),
                "kind": kind,
                "folder": str(folder),
                "files": files,
                "headline": told,
                "next": following,
            }
        )
        terminal.paragraph(told, style="bold")
        rows = [(file, str(count)) for file, count in zip(files, counts, strict=True)]
        terminal.table(Table("files", ("file", "lines"), rows, frozenset({"lines"})))
        show_next(terminal, following)
    return 0
