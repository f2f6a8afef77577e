"""Where a program is to run: the twin, or a runner of a package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from match_core.contract.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from match_core.contract.runner import Runner
    from match_core.plugin.facade import Plugins


@dataclass(frozen=True, slots=True)
class Place:
    """``name`` of a runner; ``detail``: its choice, such as a machine; ``options`` of the runner that the user gave."""

    name: str
    detail: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


TWIN = Place("twin")


def place_of(text: str, **options: str | None) -> Place:
    """From ``--on NAME[:DETAIL]`` and the options of runners."""
    name, _, detail = text.partition(":")
    return Place(name, detail, {key: value for key, value in options.items() if value is not None})


def runner_at(place: Place, plugins: Plugins, of_twin: bool) -> Runner | None:
    """The runner, None for the twin. UsageError MATCH-U100 if there is none of that name, MATCH-U101 if it does not
    know an option. ``of_twin``: options were given that only the twin has."""
    runners = {} if place.name == TWIN.name else {runner.name: runner for runner in plugins.runners()}
    runner = runners.get(place.name)
    known = () if runner is None else runner.options
    if runner is None and place.name != TWIN.name:
        names = (TWIN.name, *runners)
        raise UsageError(
            code="MATCH-U100",
            what=f"there is no runner {place.name[:80]!r}",
            where="option --on",
            why=f"the installed runners are {', '.join(names)}",
            help=(*did_you_mean(place.name, names), "pip install match-qemu adds emulators and boards"),
        )
    unknown = [f"--{name}" for name in place.options if name not in known]
    unknown += ["--sanitize or --mode"] if of_twin and runner is not None else []
    if unknown or (runner is None and place.detail):
        raise UsageError(
            code="MATCH-U101",
            what=f"the runner {place.name} has no such choice",
            where=", ".join(unknown) or f"option --on {place.name}:{place.detail[:80]}",
            why=f"its options are {', '.join(f'--{name}' for name in known) or 'none'}",
            help=("leave it out",),
        )
    return runner
