"""``match explore``: a study as one table and one page."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.headline import show_next
from match_core.cli.parameters import JsonOption, QuietOption
from match_core.cli.session import plugin_session
from match_core.cli.tables import Table
from match_core.cli.terminal import Terminal

if TYPE_CHECKING:
    from match_explore.explored import Explored
    from match_explore.results.rows import Row


def explore_command(
    study: Annotated[Path, typer.Argument(metavar="STUDY.toml", help="Study file: docs/explore.md.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder for table and page (default: build/STUDY)."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-w", min=1, metavar="N", help="Workers of the embedded engine (default: by cores)."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="ADDRESS", help="A Dask scheduler that runs already: its address, or its file."
        ),
    ] = None,
    tls_ca: Annotated[
        Path | None, typer.Option("--tls-ca", metavar="FILE", help="TLS: the certificate authority, in PEM.")
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="TLS: the client's certificate, in PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="TLS: the client's key, in PEM.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Use what was computed before, or compute all again.")
    ] = True,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep", metavar="DIR", help="Compile all points again and keep their programs and reports here."
        ),
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="Print only the choice, and the command that compiles it.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Compile a study's models for its targets and choices, on this machine or a cluster, and compare the results.

    Example: match explore examples/study.toml
    """
    with Terminal(as_json=json, quiet=quiet) as terminal:
        with plugin_session(terminal) as plugins:
            from match_explore.document import read_study
            from match_explore.engine.choice import ClusterChoice
            from match_explore.live import Live
            from match_explore.results.write import write_results
            from match_explore.run import explore_study

            asked = read_study(study)
            choice = ClusterChoice(scheduler, workers, tls_ca, tls_cert, tls_key)
            with Live(asked, terminal.note, quiet=quiet or best).shown() as live:
                explored = explore_study(asked, plugins, choice, live, resume=resume, keep=keep)
            folder = output or Path("build") / study.stem
            files = write_results(explored, folder, keep)
        document = _document(explored, folder, files)
        terminal.document(document)
        _show(terminal, explored, document, folder, best=best)
    return 0 if any(row["status"] == "ok" for row in explored.rows) else 1


#: Kinds of incidents in words.
_CAUSES = {
    "died": "whose process ended",
    "late": "over the limit of time",
    "memory": "out of memory",
    "worker": "whose worker was lost",
}


def _document(explored: Explored, folder: Path, files: tuple[str, ...]) -> dict[str, Any]:
    from match_explore.results.summary import compile_command, failures, to_buy

    rows = explored.rows
    ok = [row for row in rows if row["status"] == "ok"]
    bought = to_buy(explored.study, rows)
    points = {point.index: point for point in explored.points}
    chosen = list(bought[0]["points"].values()) if bought else []
    commands = [compile_command(explored.study, points[number]) for number in chosen]
    headline = (
        f"{explored.study.name}: {len(rows):,} of {explored.total:,} points, {len(ok):,} ok, "
        f"{sum(row['meets'] for row in rows):,} meet the constraints; {explored.computed:,} computed now"
    )
    failed = [{"code": f["code"], "count": f["count"], "why": f["why"]} for f in failures(rows)]
    return {
        "schema": "match.explore",
        "ok": bool(ok),
        "headline": headline,
        "study": explored.study.name,
        "output": str(folder),
        "files": list(files),
        "points": len(rows),
        "total": explored.total,
        "computed": explored.computed,
        "retried": [{"kind": each.kind, "worker": each.worker, "why": each.why} for each in explored.retried],
        "what_if": sum(bool(row["what_if"]) for row in rows),
        "failed": failed,
        "best": None
        if not bought
        else {"target": bought[0]["target"], "price": bought[0]["price"], "commands": commands},
        "next": commands[0] if commands else None,
    }


def _show(terminal: Terminal, explored: Explored, document: dict[str, Any], folder: Path, *, best: bool) -> None:
    if best:
        chosen = document["best"]
        if chosen is None:
            terminal.paragraph("no target that exists meets all constraints with every model", style="bold")
            return
        price = "" if chosen["price"] is None else f", price {chosen['price']:g}"
        terminal.paragraph(f"{chosen['target']}{price}", style="bold")
        for command in chosen["commands"]:
            terminal.line(command)
        return
    terminal.paragraph(document["headline"], style="bold")
    terminal.table(_front(explored.rows, explored.study.objectives))
    for entry in document["failed"]:
        terminal.paragraph(f"{entry['count']} failed: {entry['code']}: {entry['why']}")
    if document["retried"]:
        kinds = Counter(entry["kind"] for entry in document["retried"])
        causes = ", ".join(f"{count} {_CAUSES[kind]}" for kind, count in sorted(kinds.items()))
        terminal.paragraph(f"{len(document['retried']):,} tasks were tried again elsewhere: {causes}")
    if document["what_if"]:
        terminal.paragraph(f"{document['what_if']:,} points are what-if hardware that does not exist")
    terminal.line(f"page: {shlex.quote(str(folder / 'study.html'))}")
    show_next(terminal, document["next"])


def _front(rows: list[Row], objectives: tuple[str, ...]) -> Table:
    """The rows on the front."""
    best = [row for row in rows if row["front"]]
    names = ("point", "model", "target", *objectives, "memory", "what_if")
    cells = tuple(tuple("" if row[name] is None else _cell(row[name]) for name in names) for row in best)
    return Table("front", tuple(names), cells)


def _cell(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
