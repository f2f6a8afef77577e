"""``match fit``: whether a model fits budgets of memory and time, and what would make it fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from match_core.cli.choices import SEQUENTIAL, Choices, with_choices
from match_core.cli.parameters import JsonOption, ModelArgument, QuietOption, TargetOption
from match_core.cli.session import plugin_session
from match_core.cli.terminal import PLAN_STAGES, Table, Terminal

if TYPE_CHECKING:
    from match_report.advice.fit import Fit, Need


@with_choices(SEQUENTIAL)
def fit_command(
    model: ModelArgument,
    budget: Annotated[
        list[str],
        typer.Option(
            "--budget",
            metavar="NAME=AMOUNT",
            help="A memory, cycles or latency, for example l2=512k or latency=10ms; may be repeated.",
            show_default=False,
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

            from match_report.advice.budget import parse_budget
            from match_report.advice.fit import Fitting

            request = CompileRequest(
                model=model,
                target=target,
                **choices,
            )
            soc = adapted_soc(plugins.soc(target), request.preset, ())
            budgets = [parse_budget(text, soc) for text in budget]
            answer = Fitting(request, soc, plugins, terminal).fit(budgets)
        terminal.document(_document(answer))
        terminal.table(_table(answer))
        for line in _lines(answer):
            terminal.line(line)
    return 0 if answer.ok else 1


def _document(answer: Fit) -> dict[str, Any]:
    return {
        "schema": "match.fit",
        "ok": answer.ok,
        "name": answer.name,
        "target": answer.target,
        "needs": [_need_json(need) for need in answer.needs],
        "changes": [
            {"options": list(change.options), "needs": [_need_json(need) for need in change.needs]}
            for change in answer.changes
        ],
        "error": None if answer.error is None else answer.error.as_json(),
    }


def _need_json(need: Need) -> dict[str, Any]:
    kind = "bytes" if need.budget.kind == "memory" else "cycles"
    return {
        "budget": need.budget.name,
        "unit": kind,
        "limit": need.budget.limit,
        "amount": need.amount,
        "ok": need.ok,
    }


def _table(answer: Fit) -> Table:
    rows = []
    for need in answer.needs:
        amount = "-" if need.amount is None else need.budget.told(need.amount)
        rows.append((need.budget.name, need.budget.told(need.budget.limit), amount, "yes" if need.ok else "no"))
    return Table(
        "budgets (times are modelled)", ("budget", "limit", "required", "holds"), rows, frozenset(("limit", "required"))
    )


def _lines(answer: Fit) -> list[str]:
    if answer.ok:
        return [f"{answer.name} fits on {answer.target}"]
    lines = [f"{answer.name} does not fit on {answer.target}"]
    if answer.error is not None:
        lines.append(f"reason: {answer.error.what}: {answer.error.why} [{answer.error.code}]")
    for change in answer.changes:
        needs = ", ".join(f"{n.budget.name} {n.budget.told(n.amount)}" for n in change.needs if n.amount is not None)
        lines.append(f"it would fit with {' '.join(change.options)}: {needs}")
    return lines if answer.changes else [*lines, "none of the changes tried makes it fit"]
