"""The facade's reports about plugins: faults, answers and one row per plugin. Plain data, no pluggy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from match_core.contract.errors import PluginError
from match_core.plugin.discovery import UNKNOWN

#: ``active``: in use; ``faulty``: in use, but a hook failed; ``refused``: not in use because of a fault;
#: ``disabled``: disabled by the user.
Status = Literal["active", "faulty", "refused", "disabled"]

#: The stage in which a fault was found, and the code of its error if the plugin is required (H: hooks).
STAGE_CODES = {
    "import": "MATCH-H001",
    "contract": "MATCH-H002",
    "hooks": "MATCH-H003",
    "register": "MATCH-H004",
    "names": "MATCH-H007",
    "discovery": "MATCH-H008",
}
HOOK_RAISED = "MATCH-H005"
WRONG_ANSWER = "MATCH-H006"
FALSE_CLAIM = "MATCH-H011"
#: Help for whoever maintains the plugin.
_TRACE = ("to print the traceback, set MATCH_TRACEBACK=1",)


@dataclass(frozen=True, slots=True)
class PluginFault:
    """Why a plugin, or one of its hooks, is not used. ``stage`` is a key of STAGE_CODES or the name of a hook."""

    distribution: str
    version: str
    entry_point: str
    stage: str
    cause: str
    how_to_disable: str
    code: str

    def __str__(self) -> str:
        return self.line(())

    def line(self, others: Sequence[PluginFault]) -> str:
        """The fault in one line, with the places of ``others`` of the same package."""
        places = [
            fault.stage if fault.entry_point == self.entry_point else f"plugin {fault.entry_point}, {fault.stage}"
            for fault in others
        ]
        also = f"; also in {', '.join(places)}" if places else ""
        return (
            f"plugin {self.entry_point} ({self.distribution} {self.version}), {self.stage}: {self.cause}{also}"
            f" [{self.code}; {self.how_to_disable}]"
        )

    def as_json(self) -> dict[str, str]:
        """The fields as a JSON object."""
        return {
            "distribution": self.distribution,
            "version": self.version,
            "entry_point": self.entry_point,
            "stage": self.stage,
            "cause": self.cause,
            "how_to_disable": self.how_to_disable,
            "code": self.code,
        }

    def as_error(self, what: str, about: str = "", why: str = "") -> PluginError:
        """The error for a user who requires this plugin; ``what`` failed because of it. ``about``: the layer, with a
        comma before it; ``why``: the cause if ``what`` need not be repeated."""
        return PluginError(
            code=self.code,
            what=what,
            where=f"plugin {self.entry_point} of {self.distribution} {self.version}, stage: {self.stage}{about}",
            why=why or self.cause,
            help=(
                f"install another version of {self.distribution}",
                self.how_to_disable,
                *_TRACE[self.code != HOOK_RAISED :],
            ),
        )


def by_package(faults: Iterable[PluginFault]) -> tuple[tuple[PluginFault, ...], ...]:
    """The faults of each package, in the order of their first faults. Each plugin of an unknown package is separate."""
    packages: dict[tuple[str, str], list[PluginFault]] = {}
    for fault in faults:
        own = fault.entry_point if fault.distribution == UNKNOWN else ""
        packages.setdefault((fault.distribution, own), []).append(fault)
    return tuple(map(tuple, packages.values()))


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """``plugin`` (its entry point) gave an accepted answer to ``hook`` for ``argument``
    ("chip/array/conv2d")."""

    hook: str
    argument: str
    plugin: str


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """One row of ``match plugins``. ``hooks``, ``targets`` and ``units`` are empty if the plugin is not active."""

    name: str
    distribution: str
    version: str
    status: Status
    hooks: tuple[str, ...]
    targets: tuple[str, ...]
    units: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """The fields as a JSON object."""
        return {
            "name": self.name,
            "distribution": self.distribution,
            "version": self.version,
            "status": self.status,
            "hooks": list(self.hooks),
            "targets": list(self.targets),
            "units": list(self.units),
        }
