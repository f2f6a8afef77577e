"""The hook of match-export: one verb."""

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
    return (Command("export", "Make a package of an ecosystem from a compiled program.", _export),)


def _export() -> Callable[..., int]:
    from match_export.verb import export_command

    return export_command
