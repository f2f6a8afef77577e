"""The verbs of the core; packages add theirs through the hook ``match_commands``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from match_core.contract.commands import Command


def core_verbs() -> tuple[Command, ...]:
    """In the order of ``match --help``."""
    return (
        Command("compile", "Compile a model to C for a target.", _compile),
        Command("run", "Run a compiled program on the twin of its target.", _run),
        Command("targets", "List the installed targets.", _targets),
        Command("plugins", "List the installed plugins.", _plugins),
    )


def verb_of(arguments: Sequence[str]) -> str:
    """The verb that a command line names, empty if none. It is the first argument that is no option, because the
    options before a verb take no values."""
    return next((argument for argument in arguments if not argument.startswith("-")), "")


def _compile() -> Callable[..., int]:
    from match_core.cli.compile import compile_command

    return compile_command


def _run() -> Callable[..., int]:
    from match_core.cli.run import run_command

    return run_command


def _targets() -> Callable[..., int]:
    from match_core.cli.targets import targets_command

    return targets_command


def _plugins() -> Callable[..., int]:
    from match_core.cli.plugins import plugins_command

    return plugins_command
