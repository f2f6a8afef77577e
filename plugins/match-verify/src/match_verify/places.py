"""Where a program is to run: ``--on NAME[:DETAIL]`` and the options of runners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError, did_you_mean
from match_core.contract.runner import Place

if TYPE_CHECKING:
    from match_core.plugin.facade import Plugins

#: The place of programs if the user names none.
TWIN = "twin"


def place_at(on: str, options: Mapping[str, str | None], plugins: Plugins, of_twin: bool = False) -> Place | None:
    """The place that ``on`` names, None for the twin. ``options``: those that the user gave are not None; ``of_twin``:
    the user gave options that only the twin has. UsageError MATCH-U100 if there is no such runner, MATCH-U101 if it
    does not know an option."""
    name, _, detail = on.partition(":")
    given = {key: value for key, value in options.items() if value is not None}
    runner = None
    if name != TWIN:
        runners = {runner.name: runner for runner in plugins.runners()}
        runner = runners.get(name)
        if runner is None:
            raise _no_runner(name, (TWIN, *runners))
    known = () if runner is None else runner.options
    if unknown := [f"--{key}" for key in given if key not in known]:
        raise _no_choice(name, ", ".join(unknown), f"its options are {', '.join(f'--{k}' for k in known) or 'none'}")
    if of_twin and runner is not None:
        raise _no_choice(name, "--sanitize or --mode", "only the twin has them")
    if runner is None:
        if detail:
            raise _no_choice(name, f"option --on {on[:80]}", "there is one twin for each target")
        return None
    return Place(runner, detail, given)


def _no_runner(name: str, known: tuple[str, ...]) -> UsageError:
    return UsageError(
        code="MATCH-U100",
        what=f"there is no runner {name[:80]!r}",
        where="option --on",
        why=f"the installed runners are {', '.join(known)}",
        help=(*did_you_mean(name, known), "emulators and boards: pip install match-qemu"),
    )


def _no_choice(name: str, where: str, why: str) -> UsageError:
    return UsageError(
        code="MATCH-U101",
        what=f"the runner {name} has no such choice",
        where=where,
        why=why,
        help=("leave it out", "docs/runners.md lists the options of each runner"),
    )
