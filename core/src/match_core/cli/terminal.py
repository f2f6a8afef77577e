"""The one terminal layer and the only user of rich.

Progress, notes and errors go to stderr; results go to stdout. If a stream is not a terminal, if NO_COLOR is set, or
on a dumb terminal, text is plain and rich is not even imported. Control characters in text from model files or
plugins are replaced.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.status import Status

    from match_core.contract.errors import MatchError
    from match_core.contract.observe import Facts

_STAGE_WIDTH = 10
#: A line that changes more often is unreadable.
_REFRESH_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under headings; columns whose heading is in ``right`` are aligned to the right."""

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    right: frozenset[str] = frozenset()


class Terminal:
    """Shows progress and results; also the observer of the stages. Use it as a context manager."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self._status: Status | None = None
        self._started = 0.0
        self._shown = 0.0
        self._stage = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_status()

    # Progress on stderr
    # ------------------------------------------------------------------------------------------

    def stage_started(self, name: str) -> None:
        """Show the running stage if the terminal can be overwritten."""
        self._started = time.perf_counter()
        if not self.quiet and _styled(sys.stderr):
            from rich.console import Console

            self._stage = _clean(name)
            self._status = Console(stderr=True, highlight=False).status(self._stage)
            self._status.start()

    def progress(self, facts: Facts) -> None:
        """Show how far the stage got, if the terminal can be overwritten: a solver's best value, bound and gap, or the
        layer that is searched."""
        now = time.perf_counter()
        if self._status is None or now - self._shown < _REFRESH_SECONDS:
            return
        self._shown = now
        shown = ", ".join(f"{key.replace('_', ' ')} {_number(value)}" for key, value in facts.items())
        self._status.update(_escaped(f"{self._stage} {now - self._started:.0f} s  {shown}"))

    def stage_finished(self, name: str, facts: Facts) -> None:
        """One line: name, elapsed time, counts."""
        self._stop_status()
        elapsed = time.perf_counter() - self._started
        counts = ", ".join(f"{key.replace('_', ' ')} {_number(value)}" for key, value in facts.items())
        self._progress(f"{name:<{_STAGE_WIDTH}} {elapsed:7.2f} s  {counts}", "green")

    def note(self, text: str) -> None:
        """One line of advice."""
        self._progress(f"note: {text}", "cyan")

    def warning(self, text: str) -> None:
        """One line that is shown even when quiet."""
        self._stop_status()
        _write(sys.stderr, f"warning: {text}", "yellow")

    def _progress(self, text: str, style: str) -> None:
        if not self.quiet:
            _write(sys.stderr, text, style)

    def _stop_status(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    # Results on stdout
    # -------------------------------------------------------------------------------------------

    def line(self, text: str, style: str = "") -> None:
        """One line of the result (nothing with ``--json``)."""
        if not self.as_json:
            _write(sys.stdout, text, style)

    def paragraph(self, text: str, advice: Iterable[str] = (), *, warning: bool = False) -> None:
        """Lines of 80 columns, and a line for each command or change that helps; a warning goes to stderr, also when
        quiet."""
        indent = "" if warning else "  "
        lines = textwrap.wrap(text, 80, initial_indent=indent, subsequent_indent="    ", break_on_hyphens=False)
        for line in (*lines, *(f"    help: {line}" for line in advice)):
            if warning:
                _write(sys.stderr, line, "yellow")
            else:
                self.line(line)

    def table(self, table: Table, *, markdown: bool = False) -> None:
        """A table of the result (nothing with ``--json``)."""
        if self.as_json:
            return
        if markdown:
            _markdown_table(table)
        elif _styled(sys.stdout):
            _rich_table(table)
        else:
            _plain_table(table)

    def document(self, document: Mapping[str, object] | Sequence[object]) -> None:
        """The command's only JSON document (nothing without ``--json``). Numbers that are not finite become null,
        because JSON cannot express them."""
        if self.as_json:
            sys.stdout.write(json.dumps(_finite(document), indent=1, allow_nan=False) + "\n")

    def error(self, error: MatchError) -> None:
        """The error in four parts: text on stderr, or as the JSON document."""
        self._stop_status()
        if self.as_json:
            document = {"schema": "match.error", "schema_version": 1, "ok": False, "error": error.as_json()}
            self.document(document)
            return
        head, *parts = str(error).split("\n")
        _write(sys.stderr, f"error: {head}", "bold red")
        for part in parts:
            _write(sys.stderr, part)


@contextlib.contextmanager
def library_output() -> Iterator[None]:
    """Redirect to stderr whatever the library or its dependencies print: stdout is for results."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def prepare_streams() -> None:
    """Print characters that the locale cannot encode as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _styled(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("", "dumb")


def _write(stream: TextIO, text: str, style: str = "") -> None:
    text = _clean(text)
    if style and _styled(stream):
        from rich.console import Console
        from rich.text import Text

        Console(file=stream, highlight=False, soft_wrap=True).print(Text(text, style=style))
    else:
        stream.write(text + "\n")


def _plain_table(table: Table) -> None:
    rows = [table.headings, *(tuple(_clean(cell) for cell in row) for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.headings))]
    sys.stdout.write(f"{_clean(table.title)}\n")
    for row in rows:
        cells = [
            cell.rjust(width) if heading in table.right else cell.ljust(width)
            for cell, width, heading in zip(row, widths, table.headings, strict=True)
        ]
        sys.stdout.write(f"  {'  '.join(cells).rstrip()}\n")


def _markdown_table(table: Table) -> None:
    """A title in bold and a table with pipes; names of nodes cannot break out of their cells."""
    rules = ("---:" if heading in table.right else "---" for heading in table.headings)
    lines = [table.headings, tuple(rules), *(tuple(_markdown(cell) for cell in row) for row in table.rows)]
    sys.stdout.write(f"**{_markdown(table.title)}**\n\n")
    for line in lines:
        sys.stdout.write(f"| {' | '.join(line)} |\n")
    sys.stdout.write("\n")


def _markdown(cell: str) -> str:
    special = "\\`*_{}[]<>|#!&"
    return "".join(f"\\{character}" if character in special else character for character in _clean(cell))


def _rich_table(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(title=Text(_clean(table.title)), title_justify="left", box=box.SIMPLE_HEAD)
    for heading in table.headings:
        shown.add_column(Text(heading), justify="right" if heading in table.right else "left", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(_clean(cell)) for cell in row))
    Console(file=sys.stdout, highlight=False).print(shown)


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"


def _escaped(text: str) -> str:
    """Text with rich's markup escaped."""
    from rich.markup import escape

    return escape(_clean(text))


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _clean(text: str) -> str:
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
