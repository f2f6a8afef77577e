"""The hooks of match-kit: its verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.commands import Command
from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

match_contract = 1


@hookimpl
def match_commands() -> tuple[Command, ...]:
    """The verbs of this package."""
    return (
        Command("new-target", "Write a package for a new target that is ready to install.", _new_target),
        Command("lines", "Count the lines of code of installed packages.", _lines),
        Command("test-target", "Run every conformance test on a target package.", _test_target),
    )


def _new_target() -> Callable[..., int]:
    from match_kit.verbs.new_target import new_target_command

    return new_target_command


def _lines() -> Callable[..., int]:
    from match_kit.verbs.lines import lines_command

    return lines_command


def _test_target() -> Callable[..., int]:
    from match_kit.verbs.test_target import test_target_command

    return test_target_command
