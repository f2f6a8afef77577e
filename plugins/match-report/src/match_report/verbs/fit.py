"""``match fit``: whether a model fits budgets of memory and time, and what would make it fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.choices import SEQUENTIAL, Choices, with_choices
from match_core.cli.headline import headline, show_headline, show_next
from match_core.cli.parameters import JsonOption, ModelArgument, QuietOption, TargetOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import PLAN_STAGES, Table, Terminal

if TYPE_CHECKING:
    from match_core.pipeline import CompileRequest

    from match_report.advice.budget import Budget
    from match_report.advice.fit import Change, Fit, Need


@with_choices(SEQUENTIAL)
def fit_command(
    model: ModelArgument,
    budget: Annotated[
        list[str],
        typer.Option(
            "--budget",
            metavar="NAME=AMOUNT",
            help="A memory, cycles or latency, for example l2=512k or latency=10ms; may be repeated.",
        ),
    ],
    target: TargetOption = None,
    *,
    choices: Choices,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Check whether a model fits budgets of memory and modelled time; if not, suggest the smallest changes that help.

    The exit code is 0 if it fits, else 1, for gates in continuous integration.

    Example: match fit model.onnx -t TARGET --budget l2=512k --budget latency=10ms
    """
    with Terminal(as_json=json, quiet=quiet, stages=PLAN_STAGES) as terminal:
        with plugin_session(terminal) as plugins:
            from match_core.deploy.compile_options import adapted_soc
            from match_core.pipeline import CompileRequest

            from match_report.advice.budget import parse_budgets
            from match_report.advice.fit import Fitting

            request = CompileRequest(
                model=model,
                target=target,
                **choices,
            )
            soc = adapted_soc(plugins.soc(target), request.preset, ())
            budgets = parse_budgets(budget, soc)
            answer = Fitting(request, soc, plugins, terminal).fit(budgets)
        document = _document(answer, request, budgets)
        terminal.document(document)
        if document["headline"] is not None:
            show_headline(terminal, document["headline"])
        terminal.table(_table(answer))
        for line in _lines(answer):
            terminal.line(line)
        show_next(terminal, document["next"])
    return 0 if answer.ok else 1


def _document(answer: Fit, request: CompileRequest, budgets: list[Budget]) -> dict[str, Any]:
    return {
        "schema": "match.fit",
        "ok": answer.ok,
        "headline": None if answer.report is None else headline(answer.report, request.target),
        "name": answer.name,
        "target": answer.target,
        "needs": [_need_json(need) for need in answer.needs],
        "changes": [_change_json(change) for change in answer.changes],
        "smallest": [_change_json(change) for change in answer.smallest],
        "next": _next(answer, request, budgets),
        "error": None if answer.error is None else answer.error.as_json(),
    }


def _next(answer: Fit, request: CompileRequest, budgets: list[Budget]) -> str:
    """Compile within the budgets, or try the smallest change, or see what costs the cycles."""
    from match_report.advice.commands import command_of

    memory = tuple((budget.name, budget.limit) for budget in budgets if budget.kind == "memory")
    if answer.ok:
        return command_of("compile", replace(request, memory=memory), "-o", f"build/{answer.name}")
    tried = (*answer.changes, *answer.smallest)
    return tried[0].command if tried else command_of("explain", request)


def _change_json(change: Change) -> dict[str, Any]:
    needs = [_need_json(need) for need in change.needs]
    return {"options": list(change.options), "needs": needs, "command": change.command}


def _need_json(need: Need) -> dict[str, Any]:
    kind = "bytes" if need.budget.kind == "memory" else "cycles"
    return {
        "budget": need.budget.name,
        "unit": kind,
        "limit": need.budget.limit,
        "amount": need.amount,
        "slack": need.slack,
        "ok": need.ok,
    }


def _table(answer: Fit) -> Table:
    rows = []
    for need in answer.needs:
        amount, slack = ("-" if n is None else need.budget.told(n) for n in (need.amount, need.slack))
        rows.append((need.budget.name, need.budget.told(need.budget.limit), amount, slack, "yes" if need.ok else "no"))
    headings = ("budget", "limit", "required", "slack", "holds")
    return Table("budgets (times are modelled)", headings, rows, frozenset(("limit", "required", "slack")))


def _lines(answer: Fit) -> list[str]:
    if answer.ok:
        return [f"{answer.name} fits on {answer.target}"]
    lines = [f"{answer.name} does not fit on {answer.target}"]
    if answer.error is not None:
        lines.append(f"reason: {answer.error.what}: {answer.error.why} [{answer.error.code}]")
    for change in answer.changes:
        needs = ", ".join(f"{n.budget.name} {n.budget.told(n.amount)}" for n in change.needs if n.amount is not None)
        lines.append(f"it would fit with {' '.join(change.options)}: {needs}")
    for change in answer.smallest:
        options = " ".join(change.options)
        lines.append(f"the smallest {change.needs[0].budget.name} that would fit on its own: {options}")
    return lines if answer.changes or answer.smallest else [*lines, "none of the changes tried makes it fit"]
