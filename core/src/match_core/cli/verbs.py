"""The verbs of the core; packages add theirs through the hook ``match_commands``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module

from match_core.contract.commands import Command


def core_verbs() -> tuple[Command, ...]:
    """In the order of ``match --help``."""
    return (
        Command("compile", "Compile a model to C for a target.", partial(_load, "compile")),
        Command("targets", "List the installed targets.", partial(_load, "targets")),
        Command("plugins", "List the installed plugins.", partial(_load, "plugins")),
    )


def verb_of(arguments: Sequence[str]) -> str:
    """The verb that a command line names, empty if none. It is the first argument that is no option, because the
    options before a verb take no values."""
    return next((argument for argument in arguments if not argument.startswith("-")), "")


def _load(name: str) -> Callable[..., int]:
    command: Callable[..., int] = getattr(import_module(f"match_core.cli.{name}"), f"{name}_command")
    return command
