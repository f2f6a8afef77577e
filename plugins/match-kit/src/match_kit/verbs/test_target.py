"""``match test-target``: run the conformance tests on an installed package."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from match_core.cli.headline import command_line, show_next
from match_core.cli.parameters import JsonOption, QuietOption
from match_core.cli.terminal import Table, Terminal

if TYPE_CHECKING:
    from match_kit.testing.findings import Outcome

EXIT_FAILED = 1


def test_target_command(
    package: Annotated[
        str,
        typer.Argument(metavar="PACKAGE", help="An installed package, its plugin's name, or its project's folder."),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File for the badge (default: a file in the package)."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Run every conformance test on a target package, and write the result as a badge that it can ship.

    Example: match test-target match-sprout
    """
    with Terminal(as_json=json, quiet=quiet) as terminal:
        from match_core.plugin.badge import FILE_NAME
        from match_core.plugin.places import import_folder

        from match_kit.testing.levels import badge_from
        from match_kit.testing.run import outcomes_of, package_named

        name, version, plugin = package_named(package)
        project = Path(package) if Path(package).is_dir() else None
        outcomes = outcomes_of(name, project, lambda outcome: _report(terminal, outcome))
        badge = badge_from(name, version, outcomes)
        folder = import_folder(name, plugin)
        path = output or (folder / FILE_NAME if folder is not None else Path(FILE_NAME))
        badge.write(path)
        complete = len(badge.levels) == badge.of
        counts = Counter(outcome.status for outcome in outcomes)
        told = f"{name} {version}: {len(badge.levels)} of {badge.of} levels; {counts['passed']} cases passed, "
        told += f"{counts['failed']} failed, {counts['skipped']} skipped"
        following = "match targets" if complete else command_line("test-target", package, "--json")
        terminal.document(
            {
                "schema": "match.test-target",
                "ok": complete,
                "package": name,
                "version": version,
                "levels": list(badge.levels),
                "cases": [outcome.as_json() for outcome in outcomes],
                "badge": str(path),
                "headline": told,
                "next": following,
            }
        )
        terminal.paragraph(told, style="bold")
        _show(terminal, outcomes)
        passed = f"{name} {version}: {len(badge.levels)} of {badge.of} levels"
        terminal.line(f"{'ok' if complete else 'FAILED'}: {passed}", "green" if complete else "red")
        show_next(terminal, following)
    return 0 if complete else EXIT_FAILED


test_target_command.__test__ = False  # type: ignore[attr-defined]  # the name is the verb's, pytest must not collect it


def _report(terminal: Terminal, outcome: Outcome) -> None:
    if outcome.status == "failed":
        terminal.note(f"{outcome.case} {outcome.target}".rstrip() + " failed")


def _show(terminal: Terminal, outcomes: tuple[Outcome, ...]) -> None:
    from match_kit.testing.levels import LEVELS

    rows = []
    for level in LEVELS:
        of_level = [outcome.status for outcome in outcomes if outcome.level == level]
        rows.append((level, *(str(of_level.count(status)) for status in ("passed", "failed", "skipped"))))
    columns = ("level", "passed", "failed", "skipped")
    terminal.table(Table("conformance", columns, rows, frozenset(columns[1:])))
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    first = failed[0].level if failed else ""
    for (target, status, finding), cases in _grouped(outcomes, first).items():
        where = " ".join(filter(None, (target, ", ".join(cases))))
        style = {"failed": "red", "skipped": "yellow"}.get(status, "")
        terminal.line(f"{where} {'note' if status == 'passed' else status}: {finding}", style)
    later = len({outcome.case for outcome in failed if outcome.level != first})
    if later:
        told = f"{later} case{'s' * (later > 1)}"
        terminal.line(f"{told} of later levels failed too, perhaps for the same reason; --json lists them")


def _grouped(outcomes: tuple[Outcome, ...], first: str) -> dict[tuple[str, str, str], list[str]]:
    """(target, status, finding) -> cases, so that each cause is printed once. Failures only of the level ``first``:
    later ones often have the same cause."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for outcome in outcomes:
        for finding in outcome.findings if outcome.status != "failed" or outcome.level == first else ():
            grouped.setdefault((outcome.target, outcome.status, finding), []).append(outcome.case)
    return grouped
