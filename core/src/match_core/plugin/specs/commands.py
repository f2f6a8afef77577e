# mypy: disable-error-code="empty-body"
"""Which verbs a package adds to the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.plugin.markers import hookspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from match_core.contract.commands import Command


@hookspec
def match_commands() -> Sequence[Command]:
    """Give the verbs that this package adds to the command ``match``.

    Called: once per command line, before it is parsed.

    Arguments: none.

    Returns: a tuple of Command. None and () mean no verbs.

    Several answers: all are collected. A verb that two packages define, or that the core has, is a fault of the
        packages and is left out.

    Nobody answers: the command has the verbs of the core.

    May be changed: nothing.

    Example::

        @hookimpl
        def match_commands() -> Sequence[Command]:
            return (Command("hello", "Say hello.", lambda: hello_command),)
    """
