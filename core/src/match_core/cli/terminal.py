"""The one terminal layer and the only user of rich.

Progress, notes and errors go to stderr; results go to stdout. If a stream is not a terminal, if NO_COLOR is set, or
on a dumb terminal, text is plain and rich is not even imported. Control characters in text from model files or
plugins are replaced. Text is as wide as the terminal or COLUMNS say. Into a pipe, tables have 120 columns and
sentences are not broken.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from match_core.cli.envelope import envelope
from match_core.cli.tables import Table as Table
from match_core.cli.tables import clean, table_lines, wrapped
from match_core.contract.errors import MatchError

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text

    from match_core.contract.observe import Facts

_STAGE_WIDTH = 10
#: Columns of tables in a pipe, of sentences at most, and of what no terminal is narrower than.
_PIPE_WIDTH, _SENTENCE_WIDTH, _WIDTH_MIN = 120, 80, 20
#: The stages of ``match verify`` in order, and what each of them is about to do.
STAGES = {
    "load": "read the model",
    "transform": "make its arithmetic that of the chip",
    "match": "find what each unit can run",
    "schedule": "choose tiles and loop orders",
    "map": "choose the unit of each layer",
    "plan": "choose the place of each tensor",
    "emit": "write C",
    "build": "build for the twin",
    "run": "run on the twin",
    "compare": "compare with the model",
}
COMPILE_STAGES, PLAN_STAGES = tuple(STAGES)[:7], tuple(STAGES)[:6]


class Terminal:
    """Shows progress and results; also the observer of the ``stages`` of a verb. Use it as a context manager: the JSON
    document is printed at its end."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, stages: Sequence[str] = ()) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.stages = tuple(stages)
        self._status: Status | None = None
        self._began = self._started = time.perf_counter()
        self._stage = self._facts = ""
        self._document: Mapping[str, object] | None = None
        self.notes: list[str] = []
        self._warnings: list[str] = []

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stop_status()
        if kind is None and self._document is not None:
            self._print(envelope(self._document, self._warnings, self.notes))

    def stage_started(self, name: str) -> None:
        """Show the running stage if the terminal can be overwritten."""
        self._started, self._stage, self._facts = time.perf_counter(), name, ""
        if not self.quiet and _styled(sys.stderr):
            from rich.console import Console

            self._status = Console(stderr=True, highlight=False).status(self)
            self._status.start()

    def progress(self, facts: Facts) -> None:
        """Show how far the stage got, if the terminal can be overwritten: a solver's best value, bound and gap, or the
        layer that is searched."""
        self._facts = _counts(facts)

    def __rich__(self) -> Text:
        """The line that changes, cut at the end of the terminal: rich asks for it several times in a second."""
        from rich.text import Text

        return Text(clean(self.running()), no_wrap=True, overflow="ellipsis")

    def running(self) -> str:
        """The running stage: which of how many, what it decides, seconds of the stage and of the verb, progress."""
        now = time.perf_counter()
        places = {name: f"{number} of {len(self.stages)}  " for number, name in enumerate(self.stages, 1)}
        purpose = f": {STAGES[self._stage]}" if self._stage in STAGES else ""
        times = f"{now - self._started:.0f} s (total {now - self._began:.0f} s)"
        return f"{places.get(self._stage, '')}{self._stage}{purpose}  {times}  {self._facts}".rstrip()

    def stage_finished(self, name: str, facts: Facts) -> None:
        """One line: name, elapsed time, counts."""
        self._stop_status()
        elapsed = time.perf_counter() - self._started
        self._progress(f"{name:<{_STAGE_WIDTH}} {elapsed:7.2f} s  {_counts(facts)}", "green")

    def note(self, text: str) -> None:
        """One line of advice."""
        self.notes.append(text)
        self._progress(f"note: {text}", "cyan")

    def warning(self, text: str) -> None:
        """One line that is shown even when quiet."""
        self._warnings.append(text)
        self._stop_status()
        _write(sys.stderr, f"warning: {text}", "yellow")

    def _progress(self, text: str, style: str) -> None:
        if not self.quiet:
            _write(sys.stderr, text, style)

    def _stop_status(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def line(self, text: str, style: str = "") -> None:
        """One line of the result (nothing with ``--json``)."""
        if not self.as_json:
            _write(sys.stdout, text, style)

    def paragraph(self, text: str, advice: Iterable[str] = (), *, warning: bool = False, style: str = "") -> None:
        """Lines of at most 80 columns, indented unless they have a style, and a line for each command or change that
        helps; a warning goes to stderr, also when quiet."""
        width = min(_SENTENCE_WIDTH, _width(sys.stderr if warning else sys.stdout) or _SENTENCE_WIDTH)
        text = text if warning or style else f"  {text}"
        hanging = "  " if style else "    "
        for line in (*wrapped(text, width, hanging), *(f"    help: {line}" for line in advice)):
            if warning:
                _write(sys.stderr, line, "yellow")
            else:
                self.line(line, style)
        if warning:
            self._warnings.append(text.removeprefix("warning: "))

    def table(self, table: Table) -> None:
        """A table of the result (nothing with ``--json`` or without rows)."""
        if self.as_json or not table.rows:
            return
        width = _width(sys.stdout)
        lines, omitted = table_lines(table, width or _PIPE_WIDTH)
        self.line(table.title, "bold")
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        if omitted:
            self.line(f"  (no room for {', '.join(filter(None, omitted))}: see --json, or set COLUMNS)")

    def document(self, document: Mapping[str, object]) -> None:
        """The result of the command for its only JSON document, which is printed at the end (nothing without
        ``--json``). The envelope takes ``ok``, ``error``, ``warnings`` and ``notes`` from it; ``schema`` is the verb
        after ``match.``."""
        if self.as_json:
            self._document = document

    def error(self, error: MatchError, verb: str = "") -> None:
        """The error in four parts: text on stderr, or as the JSON document."""
        self._stop_status()
        if self.as_json:
            document = {"schema": f"match.{verb}", "error": error.as_json(), "ok": False}
            self._print(envelope(document, self._warnings, self.notes) | {"result": None})
            return
        head, *parts = str(error).split("\n")
        _write(sys.stderr, f"error: {head}", "bold red")
        for part in parts:
            _write(sys.stderr, part)

    def _print(self, document: Mapping[str, object]) -> None:
        sys.stdout.write(json.dumps(document, indent=1, allow_nan=False) + "\n")


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


def _width(stream: TextIO) -> int | None:
    """Columns of what shows the stream; None if nothing says so."""
    stated = os.environ.get("COLUMNS", "")
    if re.fullmatch(r"[1-9][0-9]{0,4}", stated):
        return max(int(stated), _WIDTH_MIN)
    if not stream.isatty():
        return None
    with contextlib.suppress(OSError):
        return max(os.get_terminal_size(stream.fileno()).columns or _SENTENCE_WIDTH, _WIDTH_MIN)
    return _SENTENCE_WIDTH


def _write(stream: TextIO, text: str, style: str = "") -> None:
    """Lines of whole words: those after the first begin where its text does. A command stays one line, to be copied."""
    text = clean(text)
    width = None if re.match(r"(?:[^:]*: )* *(match|pip|apt|python|unzip) ", text) else _width(stream)
    indent = len(text) - len(re.sub(r"^ *(\w{3,5}: +)?", "", text))
    lines = [text] if width is None else wrapped(text, width, " " * max(2, indent)) or [""]
    lines = [line.replace("\xa0", " ") for line in lines]
    if style and _styled(stream):
        from rich.console import Console
        from rich.text import Text

        Console(file=stream, highlight=False, soft_wrap=True).print(Text("\n".join(lines), style=style))
    else:
        stream.write("".join(f"{line}\n" for line in lines))


def _counts(facts: Facts) -> str:
    """Names with numbers: ``layer 5 of 54, unit npu``."""
    shown = ", ".join(f"{key.replace('_', ' ')} {_number(value)}" for key, value in facts.items())
    return shown.replace(", of ", " of ")


def _number(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3g}"
