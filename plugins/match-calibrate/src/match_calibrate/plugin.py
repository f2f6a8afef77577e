"""The hook of match-calibrate: one verb."""

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
    return (Command("calibrate", "Fit the constants of a target to measured cycles.", _calibrate),)


def _calibrate() -> Callable[..., int]:
    from match_calibrate.verb import calibrate_command

    return calibrate_command
