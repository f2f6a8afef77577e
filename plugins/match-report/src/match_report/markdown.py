"""Tables for merge requests."""

from __future__ import annotations

from match_core.cli.tables import Table, clean


def markdown_text(table: Table) -> str:
    """A title in bold and a table with pipes; names of nodes cannot break out of their cells."""
    rules = ("---:" if heading in table.right else "---" for heading in table.headings)
    lines = [table.headings, tuple(rules), *(tuple(escaped(cell) for cell in row) for row in table.rows)]
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"**{escaped(table.title)}**\n\n{body}\n"


def escaped(cell: str) -> str:
    """Text in which Markdown has no meaning."""
    special = "\\`*_{}[]<>|#!&"
    return "".join(f"\\{character}" if character in special else character for character in clean(cell))
