"""``explore`` as a Python function: the verb with a typed result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from match_python.session import plugin_session
from match_python.tables import Tabular

if TYPE_CHECKING:
    from match_explore.explored import Explored


@dataclass(frozen=True)
class Exploration(Tabular):
    """A finished study. ``rows()`` is its table; ``computed``: points that were computed now, not before; ``best``: the
    commands that compile the cheapest target that meets the constraints; ``output``: the folder of the files."""

    name: str
    computed: int
    best: tuple[str, ...]
    output: Path | None
    explored: Explored = field(repr=False, compare=False)

    def summary(self) -> str:
        """Points, and how many are on the front."""
        rows = self.explored.rows
        on_front = sum(row["front"] for row in rows)
        return f"{self.name}: {len(rows)} points, {on_front} on the front, {self.computed} computed now"

    def rows(self) -> Sequence[Mapping[str, object]]:
        """One row for each point."""
        return self.explored.rows

    def front(self) -> list[Mapping[str, Any]]:
        """The rows on the front."""
        return [row for row in self.explored.rows if row["front"]]


def explore(
    study: str | PathLike[str],
    output: str | PathLike[str] | None = None,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    tls_ca: str | PathLike[str] | None = None,
    tls_cert: str | PathLike[str] | None = None,
    tls_key: str | PathLike[str] | None = None,
    resume: bool = True,
    keep: str | PathLike[str] | None = None,
) -> Exploration:
    """Evaluate a study.

    Args:
        study: the path of a study file.
        output: the folder for table and page; None to write nothing.
        workers: of the embedded engine; None for as many as cores and memory allow.
        scheduler: the address or the file of a Dask scheduler that runs already; None for the embedded engine.
        tls_ca: the certificate authority of that scheduler.
        tls_cert: the client's certificate.
        tls_key: the client's key.
        resume: use what was computed before.
        keep: a folder for the programs of all points.

    Returns:
        The table, the front, and the commands that compile the choice.

    Raises:
        MatchError: as ``match explore``.
    """
    from match_explore.document import read_study
    from match_explore.engine.choice import ClusterChoice
    from match_explore.results.summary import compile_command, to_buy
    from match_explore.results.write import write_results
    from match_explore.run import explore_study

    files = [None if file is None else Path(file) for file in (tls_ca, tls_cert, tls_key)]
    kept, folder = (None if place is None else Path(place) for place in (keep, output))
    with plugin_session() as plugins:
        choice = ClusterChoice(scheduler, workers, *files)
        explored = explore_study(read_study(Path(study)), plugins, choice, lambda _: None, resume=resume, keep=kept)
        if folder is not None:
            write_results(explored, folder, kept)
    bought = to_buy(explored.study, explored.rows)
    points = {point.index: point for point in explored.points}
    chosen = bought[0]["points"].values() if bought else ()
    best = tuple(compile_command(explored.study, points[number]) for number in chosen)
    return Exploration(explored.study.name, explored.computed, best, folder, explored)
