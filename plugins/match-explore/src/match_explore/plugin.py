"""The hook of match-explore: one verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.commands import Command
from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

match_contract = 1


@hookimpl
def match_commands() -> tuple[Command, ...]:
    """The verb of this package."""
    return (Command("explore", "Compile a study's models for its targets and choices, and compare.", _explore),)


def _explore() -> Callable[..., int]:
    from match_explore.verb import explore_command

    return explore_command
