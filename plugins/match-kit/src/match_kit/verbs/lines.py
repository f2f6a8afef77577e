"""``match lines``: lines of code of installed packages."""

from __future__ import annotations

from typing import Annotated

import typer
from match_core.cli.headline import show_next
from match_core.cli.parameters import JsonOption
from match_core.cli.terminal import Table, Terminal


def lines_command(
    packages: Annotated[
        list[str] | None, typer.Argument(metavar="PACKAGE...", help="Installed packages (default: all with plugins).")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Count the lines of code of installed packages, without blank lines and lines that are only a comment.

    Example: match lines match-dnnl match-gap9
    """
    with Terminal(as_json=json) as terminal:
        from match_core.plugin.discovery import find_plugins

        from match_kit.lines import LANGUAGES, lines_of
        from match_kit.testing.run import unknown_package

        names = packages or sorted({plugin.distribution for plugin in find_plugins()})
        counted = {name: lines_of(name) for name in names}
        for name in (name for name, counts in counted.items() if counts is None and packages):
            raise unknown_package(
                name, f"no installed package {name!r} has modules", "list the installed: match plugins"
            )
        rows = [{"package": name, **counts} for name, counts in counted.items() if counts is not None]
        total = sum(sum(counts.values()) for counts in counted.values() if counts is not None)
        told = f"{total:,} lines of code in {len(rows)} package{'s' * (len(rows) != 1)}"
        then = "match plugins"
        terminal.document({"schema": "match.lines", "packages": rows, "headline": told, "next": then})
        terminal.paragraph(told, style="bold")
        shown = [(str(row["package"]), *(f"{row[language]:,}" for language in LANGUAGES)) for row in rows]
        terminal.table(Table("lines of code", ("package", *LANGUAGES), shown, frozenset(LANGUAGES)))
        show_next(terminal, then)
    return 0
