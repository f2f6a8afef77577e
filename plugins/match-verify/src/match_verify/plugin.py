"""The hooks of match-verify: its verb."""

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
    return (Command("verify", "Compile a model, run it on the twin and compare every output.", _verify),)


def _verify() -> Callable[..., int]:
    from match_verify.verbs.verify import verify_command

    return verify_command
