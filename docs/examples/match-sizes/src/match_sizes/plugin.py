"""The hook of match-sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core import hookimpl
from match_core.contract.commands import Command

if TYPE_CHECKING:
    from collections.abc import Callable

match_contract = 1


@hookimpl
def match_commands() -> tuple[Command, ...]:
    """The one verb of this package."""
    return (Command("sizes", "List the bytes of every file of a compiled program.", _sizes),)


def _sizes() -> Callable[..., int]:
    from match_sizes.sizes import sizes_command

    return sizes_command
