"""Runs all cases of an installed package in a separate process, isolated from this one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from match_core.contract.errors import ToolError, UsageError
from match_core.plugin.discovery import find_plugins, normalised

from match_kit.testing.findings import Outcome


def package_named(text: str) -> tuple[str, str, str]:
    """(distribution, version, plugin) for the name of a distribution, the name of a plugin, or the folder of a project.
    UsageError MATCH-U052 if no such package is installed."""
    name = text
    if Path(text).is_dir():
        build = Path(text) / "pyproject.toml"
        found = re.search(r'^name = "([^"]+)"', build.read_text("utf-8"), re.MULTILINE) if build.is_file() else None
        if found is None:
            raise unknown_package(
                text, "the folder has no pyproject.toml that names a package", "name an installed package"
            )
        name = found[1]
    for plugin in sorted(find_plugins(), key=lambda plugin: plugin.name):
        if normalised(name) in (normalised(plugin.distribution), normalised(plugin.name)):
            return plugin.distribution, plugin.version, plugin.name
    raise unknown_package(
        text,
        f"no installed package {name!r} has an entry point in the group match.plugins",
        f"install it: pip install {f'-e {text}' if Path(text).is_dir() else name}",
    )


def unknown_package(text: str, why: str, help_line: str) -> UsageError:
    """MATCH-U052."""
    return UsageError(
        code="MATCH-U052",
        what="there is no such target package",
        where=f"argument PACKAGE, {text!r}",
        why=why,
        help=(help_line, "list the installed packages: match plugins"),
    )


def outcomes_of(package: str, project: Path | None, report: Callable[[Outcome], None]) -> tuple[Outcome, ...]:
    """Run every case; ``report`` is called with each outcome at once. ToolError MATCH-T004 if the process dies."""
    command = [sys.executable, "-m", "match_kit.testing", package, *([str(project.resolve())] if project else [])]
    outcomes = []
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        for outcome in _read(process.stdout or ()):
            outcomes.append(outcome)
            report(outcome)
        status = process.wait()
        errors.seek(0)
        lines = [line for line in errors.read().splitlines() if line.strip()]
    if status != 0:
        last = f"after case {outcomes[-1].case}" if outcomes else "before the first case"
        raise ToolError(
            code="MATCH-T004",
            what="the conformance tests ended before all had run",
            where=f"package {package}, {last}",
            why=lines[-1] if lines else f"exit status {status}",
            help=(f"run them directly: python -m match_kit.testing {package}",),
        )
    return tuple(outcomes)


def _read(lines: object) -> Iterator[Outcome]:
    for line in lines:  # type: ignore[attr-defined]  # a text stream
        document = json.loads(line)
        yield Outcome(
            document["case"],
            document["level"],
            document["target"],
            document["status"],
            tuple(document["findings"]),
        )
