"""``match diff``: the differences between two compiled programs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.headline import command_line, show_next
from match_core.cli.parameters import JsonOption
from match_core.cli.tables import Table, shortened
from match_core.cli.terminal import Terminal, library_output
from match_core.io.sizes import bytes_text

from match_report.markdown import escaped, markdown_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from match_report.diff import Change, Difference
    from match_report.limits import Exceeded

_HEADINGS = ("before", "after", "change")


def diff_command(
    before: Annotated[Path, typer.Argument(metavar="DIR1", help="Directory that match compile wrote.")],
    after: Annotated[Path, typer.Argument(metavar="DIR2", help="Directory to compare it with.")],
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=GROWTH",
            help="Fail if cycles or a memory grow by more, for example cycles=2% or l2=4kB; may be repeated.",
        ),
    ] = None,
    same_units: Annotated[bool, typer.Option("--same-units", help="Fail if a node moved to other units.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a merge request.")] = False,
    json: JsonOption = False,
) -> int:
    """Compare two compiled programs: units, modelled cycles, memory, emitted C.

    The exit code is 1 if a limit is exceeded, else 0.

    Example: match diff build/main build/branch --limit cycles=2% --markdown
    """
    with Terminal(as_json=json) as terminal:
        with library_output():
            from match_report.diff import diff_programs
            from match_report.limits import exceeded, parse_limit
            from match_report.read import mismatches

            limits = [parse_limit(text) for text in limit or ()]
            difference = diff_programs(before, after)
            broken = exceeded(difference, limits)
            changed = (*mismatches(before), *mismatches(after))
        ok = not broken and not (same_units and difference.moved)
        following = command_line("report", after, "--compare", before)
        document = {**_document(difference, broken, ok), "headline": _headline(difference), "next": following}
        terminal.document(document)
        for text in changed:
            terminal.warning(text)
        if markdown and not json:
            typer.echo(f"{escaped(document['headline'])}\n")
        else:
            terminal.paragraph(document["headline"], style="bold")
        for table in _tables(difference):
            if markdown and not json:
                typer.echo(markdown_text(table), nl=False)
            else:
                terminal.table(table)
        for line in _verdict(difference, broken, same_units):
            terminal.line(line)
        if not markdown:
            show_next(terminal, following)
    return 0 if ok else 1


def _headline(difference: Difference) -> str:
    """Both programs, and what changed in time, memory and units."""
    programs = dict.fromkeys(f"{n} on {t}" for n, t in zip(difference.names, difference.targets, strict=True))
    cycles, moved = difference.cycles, len(difference.moved)
    relative = "" if cycles.relative is None else f", {cycles.relative:+.1%}"
    told = [f"{cycles.growth:+,} cycles (modelled{relative})" if cycles.growth else "the same cycles (modelled)"]
    for change in difference.memory:
        if change.growth:
            told.append(f"{change.name} {'+' if change.growth > 0 else ''}{bytes_text(change.growth)}")
    if moved:
        told.append(f"{moved} {'node' if moved == 1 else 'nodes'} on other units")
    return f"{', then '.join(programs)}: {', '.join(told)}"


def _document(difference: Difference, broken: tuple[Exceeded, ...], ok: bool) -> dict[str, Any]:
    return {
        "schema": "match.diff",
        "ok": ok,
        **asdict(difference),
        "exceeded": [{"limit": e.limit.text, "growth": e.growth, "allowed": e.allowed} for e in broken],
    }


def _tables(difference: Difference) -> Iterable[Table]:
    """The tables that have rows."""
    right = frozenset(_HEADINGS)
    yield Table(
        "cycles (modelled) and bytes", ("what", *_HEADINGS), _rows((difference.cycles, *difference.memory)), right
    )
    by_growth = sorted(difference.layers, key=lambda change: (-abs(change.growth), change.name))
    if by_growth:
        yield Table("layers, cycles (modelled)", ("ONNX nodes", *_HEADINGS), _rows(by_growth), right)
    if difference.moved:
        rows = [(shortened(m.node), ", ".join(m.before) or "-", ", ".join(m.after) or "-") for m in difference.moved]
        yield Table("nodes on other units", ("ONNX node", "before", "after"), rows)
    if difference.files:
        rows = [(file.name, f"-{file.removed_lines:,}", f"+{file.added_lines:,}") for file in difference.files]
        yield Table("emitted files, lines", ("file", "removed", "added"), rows, frozenset({"removed", "added"}))


def _rows(changes: Iterable[Change]) -> list[tuple[str, ...]]:
    return [
        (shortened(change.name), _number(change.before), _number(change.after), _growth(change)) for change in changes
    ]


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _growth(change: Change) -> str:
    return f"{change.growth:+,}" if change.relative is None else f"{change.growth:+,} ({change.relative:+.1%})"


def _verdict(difference: Difference, broken: tuple[Exceeded, ...], same_units: bool) -> Iterable[str]:
    for excess in broken:
        yield f"limit {excess.limit.text}: grows by {excess.growth:,}; at most {excess.allowed:,} is allowed"
    if same_units and difference.moved:
        moved = len(difference.moved)
        yield f"{moved} {'node' if moved == 1 else 'nodes'} moved to other units"
    if not (difference.layers or difference.moved or difference.files):
        yield "the programs do not differ"
