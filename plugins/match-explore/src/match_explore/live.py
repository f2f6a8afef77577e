"""What is shown while a study runs: a table on a terminal that can be overwritten, lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from match_core.cli.tables import clean

from match_explore.front import dominates
from match_explore.results.rows import figures_of, meets, values_of

if TYPE_CHECKING:
    from rich.live import Live as RichLive

    from match_explore.explored import Progress
    from match_explore.study import Study, Value

#: Rows of the front that are shown; points between two lines in a pipe.
_ROWS, _EACH = 12, 25


class Live:
    """Counts, rate, time left and the front so far. ``line``: prints one line of progress."""

    def __init__(self, study: Study, line: Any, *, quiet: bool) -> None:
        self.study, self._line, self.quiet = study, line, quiet
        self._began = time.monotonic()
        self._failed = 0
        self._best: dict[str, list[tuple[tuple[float, ...], str]]] = {}
        self._live: RichLive | None = None
        self._last: Progress | None = None

    @contextmanager
    def shown(self) -> Iterator[Live]:
        """Show a table while the body runs, if stderr is a terminal."""
        if self.quiet or not sys.stderr.isatty():
            yield self
            return
        from rich.console import Console
        from rich.live import Live as RichLive

        with RichLive(console=Console(stderr=True), refresh_per_second=4, get_renderable=self._table) as self._live:
            yield self
        self._live = None

    def __call__(self, progress: Progress) -> None:
        """The next point is done, or the engine has started."""
        if progress.dashboard and not self.quiet:
            self._line(f"dashboard: {progress.dashboard}")
        self._last = progress
        if progress.point is None or progress.outcome is None:
            return
        self._failed += progress.outcome["status"] == "failed"
        figures = figures_of(self.study, progress.point, progress.outcome)
        values = values_of(self.study, figures)
        if progress.outcome["status"] == "ok" and values is not None and meets(self.study, figures):
            # accuracy compares models: they share one front
            shared = progress.point.model if "accuracy" in self.study.objectives else ""
            group = self._best.setdefault("" if shared else progress.point.model, [])
            if not any(dominates(other, values) for other, _ in group):
                axes = " ".join(f"{name}={_word(value)}" for name, value in progress.point.axes if value is not None)
                group[:] = [e for e in group if not dominates(values, e[0])] + [
                    (values, f"{shared} {progress.point.target} {axes}".strip())
                ]
        if self._live is None and not self.quiet and progress.done % _EACH == 0:
            self._line(self.counts())

    def counts(self) -> str:
        """Points done, failed, per minute, and the time left, by those that were computed now."""
        last = self._last
        if last is None:
            return "0 points"
        seconds = time.monotonic() - self._began
        rate = last.computed / seconds if last.computed else 0.0
        left = f", {(last.total - last.done) / rate / 60:,.1f} min left" if rate else ""
        return f"{last.done:,} of {last.total:,} points, {self._failed:,} failed, {60 * rate:,.1f} per minute{left}"

    def _table(self) -> Any:
        from rich.table import Table

        table = Table(title=self.counts(), title_justify="left")
        for name in ("model", *self.study.objectives, "point"):
            table.add_column(name.replace("_", " "))
        rows = [(model, *entry) for model, group in self._best.items() for entry in sorted(group)]
        for model, values, words in rows[:_ROWS]:
            table.add_row(clean(model), *(f"{abs(value):,.6g}" for value in values), clean(words))
        return table


def _word(value: Value) -> str:
    return "+".join(value) if isinstance(value, tuple) else str(value)
