"""The hooks of match-verify: its verbs, and the choice of exact layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from match_core.contract.commands import Command
from match_core.plugin.markers import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable

    from match_core.contract.exactness import ExactChoice, ExactRequest

match_contract = 1


@hookimpl
def match_commands() -> tuple[Command, ...]:
    """The verbs of this package."""
    return (
        Command("run", "Run a compiled program on the twin of its target, or with a runner.", _run),
        Command("verify", "Compile a model, run it on the twin and compare every output.", _verify),
    )


@hookimpl(trylast=True)
def match_exact(request: ExactRequest) -> ExactChoice | None:
    """The choice by measured noise and modelled cycles."""
    from match_verify.choose import choose

    return choose(request)


def _run() -> Callable[..., int]:
    from match_verify.verbs.run import run_command

    return run_command


def _verify() -> Callable[..., int]:
    from match_verify.verbs.verify import verify_command

    return verify_command
