"""A verb that a package adds to the command ``match``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """``name`` as typed; ``help``: one line for ``match --help``; ``load`` imports and returns the function that typer
    turns into the verb: its parameters are options, and it returns an exit code. Nothing heavy is imported before."""

    name: str
    help: str
    load: Callable[[], Callable[..., int]]
