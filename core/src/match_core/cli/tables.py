"""Tables as lines of text: as wide as the output allows, and no number is cut or broken over lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

#: Narrower columns of text are left out instead; an estimate of what a reader can still recognise.
_NARROWEST = 24
#: A space at which no line is broken, before it is written.
_GLUE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings.

    Columns whose heading is in ``right`` are aligned to the right. If a table is too wide, long text of its first
    column is cut, that of others continues on further lines; then columns are left out: those of ``least`` first, in
    order, then the others from the last one. The first column stays.
    """

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    right: frozenset[str] = frozenset()
    least: tuple[str, ...] = ()


def clean(text: str) -> str:
    """Text without control characters."""
    return "".join(c if c.isprintable() or c == "\xa0" else "\N{REPLACEMENT CHARACTER}" for c in text)


def shortened(title: str, limit: int = 48) -> str:
    """A task's title, cut to one line of a table."""
    return title if len(title) <= limit else title[: limit - 3] + "..."


def wrapped(text: str, width: int, hanging: str = "") -> list[str]:
    """Lines of at most ``width`` characters if words permit; a number stays with the word after it, and the items of
    lists are whole."""
    short = ", " in text and all(len(item) <= _NARROWEST for item in text.split(", "))
    glued = re.sub(r"(?<!,) " if short else r"(?<=\d) (?=\w)|(?<=\w) (?=[+-]\d)", _GLUE, text)
    lines = textwrap.wrap(
        glued, max(width, 1), subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(_GLUE, " ") for line in lines]


def table_lines(table: Table, width: int) -> tuple[list[str], list[str]]:
    """The rows of a table under their headings, indented by 2, and the headings that were left out."""
    rows = [table.headings, *(tuple(clean(cell) for cell in row) for row in table.rows)]
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    elastic = [index for index, heading in enumerate(table.headings) if heading not in table.right]
    least = [
        widths[index] if index not in elastic else min(widths[index], _NARROWEST) if index == 0 else _longest(column)
        for index, column in enumerate(columns)
    ]
    shown = list(range(len(columns)))
    order = [table.headings.index(heading) for heading in table.least] + shown[:0:-1]
    for index in dict.fromkeys(order):
        if sum(least[column] + 2 for column in shown) > width:
            shown.remove(index)
    while sum(widths[column] + 2 for column in shown) > width:
        wide = [column for column in shown if widths[column] > least[column]]
        if not wide:
            break
        widths[max(wide, key=lambda column: widths[column])] -= 1
    lines = []
    for row in rows:
        cells = [[shortened(row[0], widths[0])] if 0 in elastic else [row[0]]]
        cells += [_folded(row[column], widths[column]) for column in shown[1:]]
        for parts in zip_longest(*cells, fillvalue=""):
            texts = [
                part.rjust(widths[column]) if column not in elastic else part.ljust(widths[column])
                for part, column in zip(parts, shown, strict=True)
            ]
            lines.append(f"  {'  '.join(texts).rstrip()}")
    return lines, [heading for index, heading in enumerate(table.headings) if index not in shown]


def _longest(column: Sequence[str]) -> int:
    """The width at which no word of a column is cut, unless it is very long."""
    return min(_NARROWEST, max(len(line) for cell in column for line in wrapped(cell, 1)))


def _folded(cell: str, width: int) -> list[str]:
    return [cell] if len(cell) <= width else [shortened(line, width) for line in wrapped(cell, width)]
