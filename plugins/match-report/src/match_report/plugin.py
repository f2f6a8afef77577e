"""The hooks of match-report: reports and advice as verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.commands import Command
from match_core.contract.front_end import FrontEnd
from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

match_contract = 1


@hookimpl
def match_commands() -> tuple[Command, ...]:
    """The verbs of this package."""
    return (
        Command("check", "Check whether a model can run on a target, and which unit runs what.", _check),
        Command("explain", "Explain why a unit runs a node, and what would change that.", _explain),
        Command("fit", "Check whether a model fits budgets of memory and time, and suggest changes if not.", _fit),
        Command("diff", "Compare two compiled programs.", _diff),
        Command("report", "Write the report of a compiled program.", _report),
        Command("offload", "Break down what each unit of a compiled program runs.", _offload),
        Command("operators", "Show which units of all targets can run a model's operators.", _operators),
        Command("doctor", "Check that this machine has everything that match requires.", _doctor),
    )


@hookimpl(trylast=True)
def match_load() -> tuple[FrontEnd, ...]:
    """Behind all front ends that convert: files of other kinds are refused with advice."""
    from match_report.advice.foreign import is_foreign, refuse

    return (FrontEnd("other kinds of files", is_foreign, refuse),)


def _check() -> Callable[..., int]:
    from match_report.verbs.check import check_command

    return check_command


def _explain() -> Callable[..., int]:
    from match_report.verbs.explain import explain_command

    return explain_command


def _fit() -> Callable[..., int]:
    from match_report.verbs.fit import fit_command

    return fit_command


def _diff() -> Callable[..., int]:
    from match_report.verbs.diff import diff_command

    return diff_command


def _report() -> Callable[..., int]:
    from match_report.verbs.report import report_command

    return report_command


def _offload() -> Callable[..., int]:
    from match_report.verbs.offload import offload_command

    return offload_command


def _operators() -> Callable[..., int]:
    from match_report.verbs.operators import operators_command

    return operators_command


def _doctor() -> Callable[..., int]:
    from match_report.verbs.doctor import doctor_command

    return doctor_command
