"""``match doctor``: whether this machine has everything that match requires."""

from __future__ import annotations

from match_core.cli.headline import show_next
from match_core.cli.parameters import JsonOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import Table, Terminal


def doctor_command(json: JsonOption = False) -> int:
    """Check the compiler, its sanitizers, the cache, the libraries and every target.

    The exit code is 1 if something is missing that compiling and verifying a model requires, else 0.

    Example: match doctor
    """
    with Terminal(as_json=json) as terminal:
        with plugin_session(terminal) as plugins:
            from match_report.advice.doctor import examine

            findings = examine(plugins)
        wrong = [finding for finding in findings if finding.status != "ok"]
        ok = not any(finding.needed for finding in wrong)
        told = "everything required is installed" if ok else "something required is missing"
        told += f": {len(findings) - len(wrong)} of {len(findings)} checks are ok"
        following = "match targets" if ok else None
        terminal.document(
            {
                "schema": "match.doctor",
                "ok": ok,
                "findings": [
                    {
                        "name": finding.name,
                        "status": finding.status,
                        "needed": finding.needed,
                        "detail": finding.detail,
                        "help": finding.help,
                    }
                    for finding in findings
                ],
                "headline": told,
                "next": following,
            }
        )
        terminal.paragraph(told, style="bold")
        rows = [(finding.name, finding.status, finding.detail) for finding in findings]
        terminal.table(Table("this machine", ("check", "status", "detail"), rows))
        for finding in wrong:
            if finding.help:
                terminal.line(f"{finding.name}: {finding.help}", "yellow")
        show_next(terminal, following)
    return 0 if ok else 1
